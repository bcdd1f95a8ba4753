"""Text, buttons and tables that dialogs share."""

import re
from collections.abc import Iterable

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QDialogButtonBox,
    QFormLayout,
    QHeaderView,
    QLabel,
    QLayout,
    QPushButton,
    QTableView,
    QWidget,
)

from app.look.icons import icon
from engine.files import bytes_text

_SPARE = 2  # pixels
_ENDS = (".", "!", "?", "…")
_SEPARATORS = re.compile(r"[/\\]")
_WORD = re.compile(r"[^\W\d_]+(?:[’']\w+)?[,:;]?(?=\s|$)")


def as_sentence(message: str) -> str:
    """Return a message with a capital letter and a full stop; a name at its start stays."""
    starts_with_word = _WORD.match(message) is not None
    text = message[:1].upper() + message[1:] if starts_with_word else message
    return text if not text or text.endswith(_ENDS) else f"{text}."


def breakable(text: str) -> str:
    """Let long paths in a text break at their separators."""
    return _SEPARATORS.sub("\\g<0>\u200b", text)


def size_text(n_bytes: float) -> str:
    """Write a size like ``bytes_text``, with the decimal point of the user's country."""
    return bytes_text(n_bytes).replace(".", QLocale().decimalPoint())


def paragraph(text: str = "") -> QLabel:
    """Make a label of plain text that wraps."""
    label = QLabel(text, wordWrap=True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def quiet(text: str = "") -> QLabel:
    label = paragraph(text)
    label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return label


def close_button() -> QDialogButtonBox:
    """Make a row with a Close button, which Enter in a field does not press.

    Its icon is removed, since it is black on dark desktops.
    """
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    close = box.button(QDialogButtonBox.StandardButton.Close)
    close.setIcon(QIcon())
    close.setAutoDefault(False)
    return box


def add_action(box: QDialogButtonBox, text: str, act: object) -> QPushButton:
    """Add a button that calls ``act`` and is never the default button."""
    button = box.addButton(text, QDialogButtonBox.ButtonRole.ActionRole)
    button.clicked.connect(act)
    button.setAutoDefault(False)
    return button


def list_of(choices: Iterable[tuple[str, object]]) -> QComboBox:
    """Make a list of texts, each with its value."""
    combo = QComboBox()
    for text, value in choices:
        combo.addItem(text, value)
    return combo


def push_button(text: str = "", picture: str = "") -> QPushButton:
    """Make a button, with an icon or without one, that Enter in a field does not press."""
    button = QPushButton(icon(picture, before_text=True), text) if picture else QPushButton(text)
    button.setAutoDefault(False)
    return button


def exchange(gone: QWidget, there: QWidget) -> None:
    """Show a widget in the place of another, which leaves it the keyboard."""
    has_focus = gone.hasFocus()
    there.show()
    if has_focus:
        there.setFocus()
    gone.hide()


def bring_up(window: QWidget) -> None:
    window.show()
    window.raise_()
    window.activateWindow()


def add_row(form: QFormLayout, label: str, field: QWidget | QLayout, buddy: QWidget) -> None:
    """Append a field with its label in the middle beside it, or beside the first of several.

    Screen readers read the label, too, unless the buddy has a name or a text of its own.

    Args:
        label: with its Alt key.
        field: a widget, or a row of some.
        buddy: the widget that the Alt key goes to.
    """
    name = QLabel(label)
    name.setBuddy(buddy)
    if not buddy.accessibleName() and not isinstance(buddy, QAbstractButton):
        buddy.setAccessibleName(label.replace("&", "").rstrip(":"))
    name.ensurePolished()
    name.setMinimumWidth(name.sizeHint().width() + _SPARE)  # Qt rounds the width of letters down
    buddy.ensurePolished()
    # Qt gives a label beside several lines more height than the first of them has.
    name.setFixedHeight(max(name.sizeHint().height(), buddy.sizeHint().height()))
    form.addRow(name, field)


def dress_table(table: QTableView) -> None:
    """Make a table select one whole row at a time, read-only and without a grid."""
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.verticalHeader().hide()
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setStretchLastSection(True)
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)
