"""The controls above the transcript; they only emit signals."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QStyle, QWidget

from app.widgets.flow_layout import FlowLayout
from app.widgets.language_names import language_name
from app.widgets.policy_names import policy_names


class ControlPanel(QWidget):
    """One row of controls.

    Signals:
        language_chosen(str): the code of a target language.
        policy_chosen(str): a policy as the engine writes it.

    Attributes:
        pause: button, checked while captions are paused.
        clear: button that empties the overlay.
        overlay: button, checked while the overlay is shown.
        adapter: button that opens the adapters; its text is the adapter in use.
        lock: button, checked while clicks go through the overlay.
    """

    language_chosen = Signal(str)
    policy_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.language = QComboBox()
        self.language.setAccessibleName(self.tr("Target language"))
        self.policy = QComboBox()
        self.policy.setAccessibleName(self.tr("Timing of the captions"))
        self.pause = _button(
            self.tr("Pause"), "Ctrl+P", self.tr("Pause the captions; typed text is kept")
        )
        self.clear = _button(
            self.tr("Clear"),
            "Ctrl+L",
            self.tr("Clear the overlay; the transcript keeps everything"),
        )
        self.overlay = _button(
            self.tr("Overlay"), "Ctrl+O", self.tr("Show the captions above all other windows")
        )
        self.lock = _button(self.tr("Lock"), "Ctrl+K", self.tr("Let clicks go through the overlay"))
        self.adapter = _button("", "Ctrl+D", self.tr("The adapter in use; show all adapters"))
        self.show_adapter(None)
        for button in (self.pause, self.overlay, self.lock):
            button.setCheckable(True)
            button.toggled.connect(self._show_ticks)
            button.setMinimumHeight(_ticked_height(button))
        for written, name, explanation in policy_names():
            self._add_policy(written, name, explanation)
        self._lay_out()
        self.language.activated.connect(
            lambda: self.language_chosen.emit(self.language.currentData())
        )
        self.policy.activated.connect(lambda: self.policy_chosen.emit(self.policy.currentData()))
        self.policy.currentIndexChanged.connect(self._explain_policy)
        self._explain_policy()

    def show_languages(self, languages: Mapping[str, str], chosen: str) -> None:
        """Offer these target languages, names by code."""
        self.language.clear()
        for code, name in languages.items():
            self.language.addItem(language_name(code, name), code)
        self.language.setCurrentIndex(max(0, self.language.findData(chosen)))
        self.language.setToolTip(
            "" if len(languages) > 1 else self.tr("This model knows one language only")
        )

    def show_choice(self, language: str, policy: str) -> None:
        """Select a language and a policy; an unknown language changes nothing."""
        index = self.language.findData(language)
        if index >= 0:
            self.language.setCurrentIndex(index)
        self.show_policy(policy)

    def show_policy(self, written: str) -> None:
        """Select a policy; one that is not in the list is added as the engine writes it."""
        if self.policy.findData(written) < 0:
            self._add_policy(written, written, "")
        self.policy.setCurrentIndex(self.policy.findData(written))

    def show_adapter(self, name: str | None) -> None:
        """Show the name of the adapter in use; None is the bare model."""
        self.adapter.setText(name or self.tr("No adapter"))

    def _add_policy(self, written: str, name: str, explanation: str) -> None:
        self.policy.addItem(name, written)
        self.policy.setItemData(self.policy.count() - 1, explanation, Qt.ItemDataRole.ToolTipRole)

    def _lay_out(self) -> None:
        row = FlowLayout(self)
        pairs = ((self.tr("Tra&nslate to"), self.language), (self.tr("T&iming"), self.policy))
        for text, combo in pairs:
            row.addWidget(_named(text, combo))
        row.addWidget(self.adapter)
        row.add_gap()
        for button in (self.pause, self.clear, self.overlay, self.lock):
            row.addWidget(button)

    @Slot()
    def _explain_policy(self) -> None:
        explanation = self.policy.currentData(Qt.ItemDataRole.ToolTipRole)
        self.policy.setToolTip(explanation)
        self.policy.setAccessibleDescription(explanation)

    @Slot()
    def _show_ticks(self) -> None:
        """Tick the checked buttons: the colour alone is hard to see on dark desktops."""
        tick = self.style().standardIcon(QStyle.StandardPixmap.SP_DialogApplyButton)
        for button in (self.pause, self.overlay, self.lock):
            button.setIcon(tick if button.isChecked() else QIcon())


def _named(text: str, combo: QComboBox) -> QWidget:
    """Put a label before a list; both stay in one line when the row wraps."""
    both, label = QWidget(), QLabel(text)
    label.setBuddy(combo)
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 12, 0)
    row.addWidget(label)
    row.addWidget(combo)
    return both


def _ticked_height(button: QPushButton) -> int:
    """Return the height of a button with a tick, so that ticking does not move the row."""
    ticked = QPushButton(button.text())
    ticked.setIcon(button.style().standardIcon(QStyle.StandardPixmap.SP_DialogApplyButton))
    return ticked.sizeHint().height()


def _button(text: str, shortcut: str, tip: str) -> QPushButton:
    """Make a button that does not take the focus from the input line when clicked."""
    button = QPushButton(text)
    button.setToolTip(f"{tip} ({shortcut})")
    button.setAccessibleDescription(tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
