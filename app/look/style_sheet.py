"""The style sheet of the windows: shapes and spacing over the Fusion style.

Lengths of controls are in em, so that they grow with the letters; gaps are on a grid of 4 pixels.
Tool buttons have no such length: Qt asks for three pixels more, but takes the length as enough.
A border of two pixels in the colour of the letters marks the focus everywhere, the accent what is
on. The padding shrinks by as much, so that nothing moves. Tool buttons with ``autoRaise`` keep
Fusion's shape: those of the overlay have colours of their own.
"""

from string import Template

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QPushButton, QSpinBox, QStyleFactory

from app.look.palette import DARK, LIGHT, Colours, high_contrast, is_dark, palette_of
from engine.files import ASSETS

GAP = 4
"""Pixels between parts are multiples of this."""

_TEXT_MARGIN = 5  # pixels
_PRIMARY = "primary"  # dynamic property of buttons

_SHEET = Template("""
QPushButton, QToolButton[autoRaise="false"] {
  min-height: 1.5em; padding: 4px 11px; border: 1px solid $edge; border-radius: 6px;
  background: $surface; color: $text; outline: 0;
}
QToolButton[autoRaise="false"] { min-height: 0; padding: 5px 11px; }
QDialogButtonBox, QPushButton { dialogbuttonbox-buttons-have-icons: 0; }
QToolButton { icon-size: 1.15em; }
QPushButton, QToolButton[toolButtonStyle="2"] { icon-size: 1.4em; }
QPushButton:hover, QToolButton[autoRaise="false"]:hover { background: $hover; }
QPushButton:pressed, QToolButton[autoRaise="false"]:pressed { background: $line; }
QPushButton:checked, QToolButton[autoRaise="false"]:checked {
  padding: 3px 10px; border: 2px solid $accent; background: $tint;
}
QToolButton[autoRaise="false"]:checked { padding: 4px 10px; }
QPushButton[primary="true"] {
  background: $accent; border-color: $accent; color: $on_accent;
}
QPushButton:focus { border: 2px solid $text; padding: 3px 10px; }
QToolButton[autoRaise="false"]:focus { border: 2px solid $text; padding: 4px 10px; }
QPushButton[primary="true"]:hover { background: $accent; border-color: $text; }
QPushButton:disabled, QPushButton[primary="true"]:disabled,
QToolButton[autoRaise="false"]:disabled {
  background: $background; border-color: $line; color: $disabled;
}
QToolButton[popupMode="1"][autoRaise="false"] { padding-right: 27px; }
QToolButton[popupMode="1"][autoRaise="false"]:focus,
QToolButton[popupMode="1"][autoRaise="false"]:checked { padding-right: 26px; }
QToolButton[popupMode="2"][autoRaise="true"] {
  padding: 4px 20px 4px 8px; border: 1px solid transparent;
  border-radius: 6px; background: transparent; color: $text;
}
QToolButton[popupMode="2"][autoRaise="true"]:hover { background: $hover; }
QToolButton[popupMode="2"][autoRaise="true"]:focus {
  padding: 3px 19px 3px 7px; border: 2px solid $text;
}
QToolButton::menu-indicator {
  image: url("$down"); width: 12px; height: 12px;
  subcontrol-origin: border; subcontrol-position: center right; right: 5px;
}
QToolButton::menu-button {
  width: 24px; border-left: 1px solid $edge;
  border-top-right-radius: 6px; border-bottom-right-radius: 6px;
}
QToolButton::menu-arrow { image: url("$down"); width: 12px; height: 12px; }

QLineEdit, QComboBox, QAbstractSpinBox {
  min-height: 1.5em; padding: 4px 7px; border: 1px solid $edge; border-radius: 6px;
  background: $surface; color: $text; placeholder-text-color: $quiet;
  selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit:read-only, QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled {
  background: $background; border-color: $line;
}
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus {
  border: 2px solid $text; padding: 3px 6px;
}
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled { color: $disabled; }
QComboBox QLineEdit, QAbstractSpinBox QLineEdit {
  min-height: 0; padding: 0; border: none; border-radius: 0; background: transparent;
}
QAbstractSpinBox { padding-top: 2px; padding-bottom: 2px; }
QAbstractSpinBox:focus { padding-top: 1px; padding-bottom: 1px; }
QComboBox { combobox-popup: 0; }
QComboBox::drop-down { width: 24px; border: none; }
QComboBox::down-arrow { image: url("$down"); width: 14px; height: 14px; }
QComboBox QAbstractItemView {
  border: 1px solid $line; border-radius: 0; padding: 0; background: $surface;
}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
  subcontrol-origin: border; width: 20px; border: none; background: transparent;
}
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QAbstractSpinBox::up-arrow { image: url("$up"); width: 12px; height: 12px; }
QAbstractSpinBox::down-arrow { image: url("$down"); width: 12px; height: 12px; }

QCheckBox, QRadioButton {
  spacing: 8px; padding: 2px; border: 2px solid transparent; border-radius: 6px;
}
QCheckBox:focus, QRadioButton:focus { border-color: $text; }
QCheckBox:disabled, QRadioButton:disabled { color: $disabled; }
QCheckBox::indicator, QRadioButton::indicator {
  width: 1.05em; height: 1.05em; border: 1px solid $edge; background: $surface;
}
QCheckBox::indicator { border-radius: 4px; }
QRadioButton::indicator { border-radius: 0.55em; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url("$tick"); }
QRadioButton::indicator:checked {
  border-color: $accent;
  background: qradialgradient(cx: 0.5, cy: 0.5, radius: 0.5, fx: 0.5, fy: 0.5,
    stop: 0 $accent, stop: 0.55 $accent, stop: 0.65 $surface, stop: 1 $surface);
}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {
  border-color: $line; background: $background;
}
QRadioButton::indicator:checked:disabled {
  background: qradialgradient(cx: 0.5, cy: 0.5, radius: 0.5, fx: 0.5, fy: 0.5,
    stop: 0 $disabled, stop: 0.55 $disabled, stop: 0.65 $background, stop: 1 $background);
}
QCheckBox::indicator:checked:disabled { background: $disabled; border-color: $disabled; }

QTableView, QListView, QTreeView, QPlainTextEdit, QTextEdit {
  padding: 1px; border: 1px solid $line; border-radius: 6px; background: $surface; color: $text;
  placeholder-text-color: $quiet; gridline-color: $line; outline: 0;
  selection-background-color: $accent; selection-color: $on_accent;
}
QTableView:focus, QListView:focus, QTreeView:focus, QPlainTextEdit:focus, QTextEdit:focus {
  padding: 0; border: 2px solid $text;
}
QScrollArea { border: none; background: transparent; }
QScrollArea > QWidget > QWidget { background: transparent; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section {
  padding: 4px; border: none; border-bottom: 1px solid $line;
  background: $surface; color: $quiet;
}
Transcript QHeaderView::section { padding: 4px 7px; }
QTableCornerButton::section { border: none; background: $surface; }

OfferList, OfferList:focus { padding: 0; border: none; background: $background; }
QListView::item { padding: 4px; }
QListView::item:selected { background: $accent; color: $on_accent; }
QComboBox QAbstractItemView::item { padding: 4px 8px; min-height: 1.4em; }

QProgressBar { border: 1px solid $edge; border-radius: 6px; background: $surface; }
QProgressBar::chunk { border-radius: 5px; background: $accent; }

Banner, DownloadBar { border: 1px solid $line; border-radius: 6px; background: $surface; }

ExampleCaption { border: none; border-radius: 6px; background: #1b1f24; }
ExampleCaption QLabel { color: #ffffff; }

QTabWidget::pane { border: none; border-top: 1px solid $line; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab {
  padding: 6px 8px; border: none; border-bottom: 2px solid transparent; color: $quiet;
}
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { border-bottom-color: $accent; color: $text; }
QTabBar::tab:focus { border: 2px solid $text; border-radius: 6px; padding: 4px 6px 6px 6px; }

QMenuBar { background: $background; border-bottom: 1px solid $line; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: $tint; color: $text; }
QMenu { padding: 4px; border: 1px solid $line; background: $surface; }
QMenu::item { padding: 4px 24px 4px 8px; border-radius: 4px; }
QMenu::item:selected { background: $tint; color: $text; }
QMenu::item:disabled { background: transparent; color: $disabled; }
QMenu::separator { height: 1px; margin: 4px 8px; background: $line; }
QToolTip { padding: 4px; border: 1px solid $edge; background: $surface; color: $text; }

QScrollBar { border: none; background: transparent; }
QScrollBar:vertical { width: 12px; }
QScrollBar:horizontal { height: 12px; }
QScrollBar::handle { margin: 2px; border-radius: 4px; background: $edge; }
QScrollBar::handle:hover { background: $quiet; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
""")


def style_sheet(colours: Colours) -> str:
    folder = ASSETS / "icons" / "controls"
    tick = "tick-dark" if is_dark(colours.on_accent) else "tick-light"
    images = {"down": "down", "up": "up", "tick": tick}
    paths = {name: (folder / f"{file}.svg").as_posix() for name, file in images.items()}
    named = {name: getattr(colours, name) for name in Colours.__slots__}
    return _SHEET.substitute(named, **paths)


def make_spin(bounds: tuple[int, int], suffix: str = "") -> QSpinBox:
    """Make a field for a number; style sheets cannot move its text off the border."""
    spin = QSpinBox(minimum=bounds[0], maximum=bounds[1], suffix=suffix)
    spin.lineEdit().setTextMargins(_TEXT_MARGIN, 0, _TEXT_MARGIN, 0)
    return spin


def make_primary(button: QPushButton, *, primary: bool = True) -> None:
    """Fill a button with the accent: the one that most people want now; or take that back."""
    if bool(button.property(_PRIMARY)) != primary:
        button.setProperty(_PRIMARY, primary)
        button.style().unpolish(button)  # else the sheet is applied as it was before
        button.style().polish(button)


_SCHEMES = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}


class Look(QObject):
    """Fusion with our colours, or with those of a system in high contrast; our shapes in both."""

    def __init__(self, application: QApplication, appearance: str, parent: QObject | None) -> None:
        """Apply the look.

        Args:
            appearance: ``light``, ``dark`` or ``system``.
        """
        super().__init__(parent)
        self._application = application
        self._appearance = appearance
        if application.style().name() != "fusion":
            application.setStyle(QStyleFactory.create("Fusion"))
        self._hints = application.styleHints()
        self._accessibility = self._hints.accessibility()  # kept: gone with its last reference
        self.use(appearance)
        self._hints.colorSchemeChanged.connect(self.refresh)
        self._accessibility.contrastPreferenceChanged.connect(self.refresh)

    def use(self, appearance: str) -> None:
        self._appearance = appearance
        if appearance in _SCHEMES:
            self._hints.setColorScheme(
                _SCHEMES[appearance]
            )  # frames and dialogs of the system, too
        else:
            self._hints.unsetColorScheme()
        self.refresh()

    @property
    def is_dark(self) -> bool:
        if self._appearance in _SCHEMES:
            return self._appearance == "dark"
        return self._hints.colorScheme() == Qt.ColorScheme.Dark

    @Slot()
    def refresh(self) -> None:
        """Set palette and style sheet for the current state of the system."""
        contrast = self._accessibility.contrastPreference()
        if contrast == Qt.ContrastPreference.HighContrast:
            self._application.setPalette(QPalette())  # that of the system
            colours = high_contrast(self._application.palette())
            strong = QPalette()
            strong.setColor(QPalette.ColorRole.PlaceholderText, QColor(colours.quiet))
            self._application.setPalette(strong)
        else:
            colours = DARK if self.is_dark else LIGHT
            self._application.setPalette(palette_of(colours))
        self._application.setStyleSheet(style_sheet(colours))
