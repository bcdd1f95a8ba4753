"""The pages of the settings window: each edits some fields of the preferences.

A page holds the preferences it was shown and replaces its own fields; all others stay.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, SignalInstance, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.captions.doubt import DOUBT_MARKS
from app.config.preferences import INTERFACE_LANGUAGES, PRESETS, SHOWN, Preferences
from app.system.screen_share import can_hide
from app.system.wayland import is_wayland
from app.widgets.dialog_text import paragraph
from app.widgets.file_dialogs import ask_save


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A widget that edits one field of the preferences.

    Attributes:
        table: name of the field of ``Preferences`` that has the field.
        name: of the field.
        show: puts a value into the widget.
        read: returns the value in the widget.
    """

    table: str
    name: str
    show: Callable[[object], object]
    read: Callable[[], object]

    def value_in(self, preferences: Preferences) -> object:
        """Return the value of the field."""
        value: object = getattr(getattr(preferences, self.table), self.name)
        return value

    def put_into(self, preferences: Preferences, value: object) -> Preferences:
        """Return the preferences with another value of the field."""
        table = replace(getattr(preferences, self.table), **{self.name: value})
        return replace(preferences, **{self.table: table})


class SettingsPage(QWidget):
    """A form over some fields of the preferences.

    Signals:
        edited(Preferences): all preferences after an edit by the user.
    """

    edited = Signal(object)

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.form = QFormLayout(self)
        self._bindings = list[Binding]()
        self._shown = Preferences()
        self._is_filling = False

    def show_preferences(self, preferences: Preferences) -> None:
        """Fill the form without emitting ``edited``."""
        self._shown = preferences
        self._is_filling = True
        self.fill(preferences)
        self._is_filling = False

    def fill(self, preferences: Preferences) -> None:
        """Show the preferences in the widgets."""
        for binding in self._bindings:
            binding.show(binding.value_in(preferences))

    def read(self, preferences: Preferences) -> Preferences:
        """Return the preferences with the values of the widgets."""
        for binding in self._bindings:
            preferences = binding.put_into(preferences, binding.read())
        return preferences

    def defaults(self, preferences: Preferences) -> Preferences:
        """Return the preferences with the fields of this page reset."""
        for binding in self._bindings:
            preferences = binding.put_into(preferences, binding.value_in(Preferences()))
        return preferences

    def add_field(self, label: str, widget: QWidget, explanation: str = "") -> None:
        """Append a field; screen readers read its label, too."""
        if isinstance(widget, QCheckBox):
            widget.setText(label)
            self.form.addRow(widget)
        else:
            self.form.addRow(label, widget)
            widget.setAccessibleName(label.replace("&", ""))
        widget.setToolTip(explanation)
        widget.setAccessibleDescription(explanation)

    def bind(
        self,
        field: str,
        show: Callable[[object], object],
        read: Callable[[], object],
        *changed: SignalInstance,
    ) -> None:
        """Let a widget edit a field of the preferences, written ``table.name``."""
        table, name = field.split(".")
        self._bindings.append(Binding(table=table, name=name, show=show, read=read))
        for signal in changed:
            signal.connect(self.take_edit)

    def add_check(self, field: str, label: str, explanation: str = "") -> QCheckBox:
        """Append a check box that edits a field of the preferences."""
        box = QCheckBox()
        self.add_field(label, box, explanation)
        self.bind(field, partial(box.setProperty, "checked"), box.isChecked, box.toggled)
        return box

    def add_spin(
        self,
        field: str,
        label: str,
        bounds: tuple[int, int],
        suffix: str = "",
        explanation: str = "",
    ) -> QSpinBox:
        """Append a number that edits a field of the preferences."""
        spin = QSpinBox(minimum=bounds[0], maximum=bounds[1], suffix=suffix)
        self.add_field(label, spin, explanation)
        self.bind(field, partial(spin.setProperty, "value"), spin.value, spin.valueChanged)
        return spin

    def add_combo(
        self, field: str, label: str, choices: Sequence[tuple[str, str]], explanation: str = ""
    ) -> QComboBox:
        """Append a list of (text, value) that edits a field; other values are their own text."""
        combo = QComboBox()
        for text, value in choices:
            combo.addItem(text, value)

        def show(value: object) -> None:
            if combo.findData(value) < 0:
                combo.addItem(str(value), value)
            combo.setCurrentIndex(combo.findData(value))

        self.add_field(label, combo, explanation)
        self.bind(field, show, combo.currentData, combo.currentIndexChanged)
        return combo

    @Slot()
    def take_edit(self) -> None:
        """Emit the preferences with the values of the widgets."""
        if not self._is_filling:
            self._shown = self.read(self._shown)
            self.edited.emit(self._shown)


class CaptionsPage(SettingsPage):
    """How captions look."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Captions")
        presets = (
            self.tr("White on black"),
            self.tr("Yellow on black"),
            self.tr("Black on white"),
            self.tr("High contrast"),
        )
        shown = (self.tr("Captions"), self.tr("Source"), self.tr("Source above captions"))
        self.preset = self.add_combo(
            "captions.preset", self.tr("&Colours"), list(zip(presets, PRESETS, strict=True))
        )
        self.letters = self.add_spin(
            "captions.point_size", self.tr("Letter &size"), (14, 96), self.tr(" pt")
        )
        self.outline = self.add_check("captions.outline", self.tr("&Outline around letters"))
        self.shows = self.add_combo(
            "captions.shows", self.tr("S&how"), list(zip(shown, SHOWN, strict=True))
        )
        marks = (self.tr("Paler letters"), self.tr("The sign (?) after them"), self.tr("Nothing"))
        self.doubt = self.add_combo(
            "captions.doubt",
            self.tr("&Doubtful captions"),
            list(zip(marks, DOUBT_MARKS, strict=True)),
            self.tr(
                "Captions that the model is not sure of, if it was calibrated for that. In high "
                "contrast the sign stands in for paler letters."
            ),
        )
        self.smooth = self.add_check(
            "captions.smooth",
            self.tr("&Glide when lines move up"),
            self.tr("If your system is set to reduce motion, lines jump instead."),
        )


class OverlayPage(SettingsPage):
    """How large the overlay is and how it behaves."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Overlay")
        self.lines = self.add_spin("captions.lines", self.tr("&Lines"), (1, 4))
        self.characters = self.add_spin(
            "captions.characters",
            self.tr("&Characters in a line"),
            (20, 68),
            explanation=self.tr("Subtitles have 42; the window fits the screen in any case."),
        )
        self.locked = self.add_check(
            "overlay.locked",
            self.tr("Loc&ked: clicks go through to the window below"),
            self.tr("Ctrl+K in the main window, or the tray, unlocks it again."),
        )
        self.hide_from_share = self.add_check(
            "overlay.hide_from_share",
            self.tr("&Hide from screen sharing"),
            self.tr("Others do not see the overlay when you share or record your screen."),
        )
        self.hide_from_share.setEnabled(can_hide())
        self.cannot_hide = paragraph(
            self.tr("Windows and macOS can do that; on Linux no window can ask for it.")
        )
        self.cannot_hide.setVisible(not can_hide())
        self.form.addRow(self.cannot_hide)
        self.through_xwayland = self.add_check(
            "overlay.through_xwayland",
            self.tr("On &Wayland, go through XWayland"),
            self.tr(
                "Then the overlay stays above other windows, where you put it; on some scaled "
                "screens letters are less sharp. Takes effect when Surtitle is started again."
            ),
        )

    def fill(self, preferences: Preferences) -> None:
        """Show the preferences; the row about Wayland only where it matters."""
        super().fill(preferences)
        wayland = is_wayland() or preferences.overlay.through_xwayland
        self.form.setRowVisible(self.through_xwayland, wayland)


class PolicyPage(SettingsPage):
    """When captions are written, and the language of the windows."""

    def __init__(self, policies: Sequence[tuple[str, str, str]]) -> None:
        """Offer policies: as the engine writes them, name, explanation."""
        super().__init__("")
        self.title = self.tr("Translation")
        self.policy = self.add_combo(
            "translation.policy",
            self.tr("&Timing"),
            [(name, written) for written, name, _ in policies],
        )
        self._explanations = {written: text for written, _, text in policies}
        self.explanation = paragraph()
        self.form.addRow("", self.explanation)
        languages = (self.tr("As the system"), "English", "Deutsch")
        self.language = self.add_combo(
            "interface.language",
            self.tr("Language of the &windows"),
            list(zip(languages, INTERFACE_LANGUAGES, strict=True)),
            self.tr("Takes effect when Surtitle is started again."),
        )
        self.policy.currentIndexChanged.connect(self._explain)
        self._explain()

    @Slot()
    def _explain(self) -> None:
        self.explanation.setText(self._explanations.get(self.policy.currentData(), ""))


class PrivacyPage(SettingsPage):
    """Text written to disk or shown to other programs. Nothing leaves this computer."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Privacy and files")
        self.form.addRow(
            paragraph(
                self.tr(
                    "Surtitle sends nothing to anybody: no text, no sound, no figures. "
                    "It asks no server whether there is a newer version."
                )
            )
        )
        self.journal = self.add_check(
            "privacy.journal", self.tr("Keep a &journal, so that a crash loses nothing")
        )
        self.days = self.add_spin(
            "privacy.journal_days", self.tr("&Delete journals after"), (1, 3650), self.tr(" days")
        )
        self.live_text = self.add_check(
            "privacy.live_text",
            self.tr("&Append captions to a text file"),
            self.tr("For programs that show the text of a file, such as OBS."),
        )
        self.live_text_file = QLineEdit(readOnly=True)
        self.live_text_file.setPlaceholderText(self.tr("captions.txt in Surtitle's data folder"))
        self.add_field(self.tr("Text file"), self.live_text_file)
        self.bind(
            "privacy.live_text_file",
            lambda path: self.live_text_file.setText(str(path or "")),
            lambda: Path(text) if (text := self.live_text_file.text()) else None,
        )
        self.choose_file = QPushButton(self.tr("Choose &file…"))
        self.choose_file.clicked.connect(self._choose_file)
        self.form.addRow("", self.choose_file)
        self.page = self.add_check(
            "privacy.page",
            self.tr("Show captions on a &page for this computer alone"),
            self.tr("A browser source for OBS; its address holds a secret."),
        )
        self.port = self.add_spin("privacy.page_port", self.tr("P&ort of the page"), (1024, 65535))

    @Slot()
    def _choose_file(self) -> None:
        path = ask_save(self, self.tr("Text file for captions"), "captions.txt")
        if path:
            self.live_text_file.setText(str(path))
            self.take_edit()
