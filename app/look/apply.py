"""Gives the look to the application, and follows the system where the user wants that."""

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from app.look.palette import DARK, LIGHT, high_contrast, palette_of
from app.look.style_sheet import style_sheet

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
