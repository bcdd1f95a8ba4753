"""A page of the settings window: a form that edits some fields of the preferences.

A page holds the preferences it was shown and replaces its own fields; all others stay.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal, SignalInstance, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from app.config.preferences import Preferences
from app.look.style_sheet import make_spin
from app.look.widgets.dialog_text import add_row, list_of

_NUMBER, _CHOICE = 96, 240  # pixels: the least width of a number and of a list
_INDENT = 28  # pixels: below the text of a check box
_HEADING_GAP = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A widget that edits one field of the preferences.

    Attributes:
        table: name of the field of ``Preferences`` that has the field.
        show: puts a value into the widget.
        read: returns the value in the widget.
    """

    table: str
    name: str
    show: Callable[[object], object]
    read: Callable[[], object]

    def value_in(self, preferences: Preferences) -> object:
        value: object = getattr(getattr(preferences, self.table), self.name)
        return value

    def put_into(self, preferences: Preferences, value: object) -> Preferences:
        table = replace(getattr(preferences, self.table), **{self.name: value})
        return replace(preferences, **{self.table: table})


class SettingsPage(QWidget):
    """A form over some fields of the preferences.

    Signals:
        edited(Preferences): all preferences after an edit by the user.
        noticed(str): a sentence for the user.
        models_wanted(): choose another model, where the page names one.

    Attributes:
        above: stays above the page while that is scrolled, if there is anything.
    """

    edited = Signal(object)
    noticed = Signal(str)
    models_wanted = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.above: QWidget | None = None
        self.form = _form(self)
        self._indent = 0  # of the next fields
        self._labels = list[tuple[QLabel, int, int]]()  # each with its indent, and with its width
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
        for binding in self._bindings:
            binding.show(binding.value_in(preferences))

    def read(self, preferences: Preferences) -> Preferences:
        for binding in self._bindings:
            preferences = binding.put_into(preferences, binding.read())
        return preferences

    def defaults(self, preferences: Preferences) -> Preferences:
        for binding in self._bindings:
            preferences = binding.put_into(preferences, binding.value_in(Preferences()))
        return preferences

    def add_heading(self, text: str) -> None:
        heading = QLabel(text)
        font = heading.font()
        font.setBold(True)
        heading.setFont(font)
        if self.form.rowCount():
            heading.setContentsMargins(0, _HEADING_GAP, 0, 0)
        self.form.addRow(heading)

    @contextmanager
    def below(self, box: QCheckBox) -> Iterator[None]:
        """Append the next fields indented; they can only be used while a box is ticked."""
        group = QWidget()
        outer, self.form = self.form, _form(group)
        self.form.setContentsMargins(_INDENT, 0, 0, 0)
        self._indent = _INDENT
        outer.addRow(group)
        try:
            yield
        finally:
            self.form, self._indent = outer, 0
        box.toggled.connect(group.setEnabled)
        group.setEnabled(box.isChecked())

    def add_buttons(self, *buttons: QPushButton) -> None:
        row = QHBoxLayout()
        for button in buttons:
            button.setAutoDefault(False)  # Enter belongs to the fields
            row.addWidget(button)
        row.addStretch(1)
        self.form.addRow("", row)

    def add_model(self, label: str, *others: QPushButton) -> None:
        """Append the name of a model, which is chosen in a window of its own, and buttons."""
        self.model = QLabel(wordWrap=True)
        self.form.addRow(label, self.model)
        self.choose_model = QPushButton(self.tr("Choose another &model…"))
        self.choose_model.clicked.connect(self.models_wanted)
        self.add_buttons(self.choose_model, *others)

    def show_model(self, name: str, tip: str) -> None:
        self.model.setText(name)
        self.model.setToolTip(tip)

    def add_field(self, label: str, widget: QWidget, explanation: str = "") -> None:
        """Append a field; screen readers read its label, too."""
        if isinstance(widget, QCheckBox):
            widget.setText(label)
            self.form.addRow(widget)
        else:
            if widget.focusPolicy() == Qt.FocusPolicy.WheelFocus:
                widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                widget.installEventFilter(self)
            if isinstance(widget, (QComboBox, QSpinBox)):
                widget.setMinimumWidth(_NUMBER if isinstance(widget, QSpinBox) else _CHOICE)
                widget.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            add_row(self.form, label, widget, widget)
            self._align(widget)
        widget.setToolTip(explanation)
        widget.setAccessibleDescription(explanation)

    def _align(self, field: QWidget) -> None:
        """Let a new field begin where the others do, also where it is indented."""
        label = self.form.labelForField(field)
        assert isinstance(label, QLabel)
        self._labels.append((label, self._indent, label.minimumWidth()))
        end = max(indent + width for _, indent, width in self._labels)
        for one, indent, _ in self._labels:
            one.setMinimumWidth(end - indent)

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
        spin = make_spin(bounds, suffix)
        self.add_field(label, spin, explanation)
        self.bind(field, partial(spin.setProperty, "value"), spin.value, spin.valueChanged)
        return spin

    def add_combo(
        self, field: str, label: str, choices: Iterable[tuple[str, str]], explanation: str = ""
    ) -> QComboBox:
        """Append a list of (text, value) that edits a field; other values are their own text."""
        combo = list_of(choices)

        def show(value: object) -> None:
            if combo.findData(value) < 0:
                combo.addItem(str(value), value)
            combo.setCurrentIndex(combo.findData(value))

        self.add_field(label, combo, explanation)
        self.bind(field, show, combo.currentData, combo.currentIndexChanged)
        return combo

    def offer(self, combo: QComboBox, choices: Sequence[tuple[str, str]]) -> None:
        """Offer other choices (text, value); the chosen one stays, and nothing is edited."""
        text, value = combo.currentText(), combo.currentData()
        with QSignalBlocker(combo):
            combo.clear()
            for one in choices:
                combo.addItem(*one)
            if combo.findData(value) < 0:
                combo.addItem(text, value)
            combo.setCurrentIndex(combo.findData(value))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the wheel scroll the page; it changes only the field that has the focus."""
        is_wheel = event.type() == QEvent.Type.Wheel
        if is_wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    @Slot()
    def take_edit(self) -> None:
        if not self._is_filling:
            self._shown = self.read(self._shown)
            self.edited.emit(self._shown)


def _form(parent: QWidget) -> QFormLayout:
    """Make a form whose texts are as wide as the page; numbers and lists have their own width."""
    form = QFormLayout(parent)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
    return form
