"""What is chosen now: the one owner of the preferences while the program runs."""

from PySide6.QtCore import QObject, Signal

from app.config.preferences import Preferences
from app.config.preferences_file import PreferencesFile


class Chosen(QObject):
    """Hold the preferences; write each change down and tell it.

    Signals:
        changed(Preferences, Preferences): the preferences before, and those of now.
        failed(str): they could not be stored; they hold all the same.
    """

    changed = Signal(object, object)
    failed = Signal(str)

    def __init__(self, file: PreferencesFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file
        self._now, self.notice = file.read()

    @property
    def now(self) -> Preferences:
        """The preferences of now."""
        return self._now

    def keep(self) -> None:
        """Write the preferences down as they are, so that they are there at the next start."""
        failure = self._file.write(self._now)
        if failure is not None:
            self.failed.emit(failure)

    def choose(self, preferences: Preferences) -> None:
        """Take other preferences."""
        before = self._now
        if preferences == before:
            return
        self._now = preferences
        failure = self._file.write(preferences)
        self.changed.emit(before, preferences)
        if failure is not None:
            self.failed.emit(failure)
