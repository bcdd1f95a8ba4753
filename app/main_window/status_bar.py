"""The status bar: one quiet line about what the program does, and what the captions are."""

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QSizePolicy, QWidget

from app.look.widgets.buttons import open_with
from app.main_window.caption_choices import CaptionChoices

_GAP = 12
_CATCHING_UP_WORDS = 20
"""Fewer words that wait are ordinary: captions come in groups of words."""

_MINUTE_S = 60
_SHORT_S = 10
"""An estimate is told in steps of this, or of a minute; a shorter one is not told."""

_STEADY_S = 0.75
"""The shown lag stays while the measured one is this near, so that the line does not flicker."""


_LEAST_S = 2.0  # before it, too little was read for an estimate


class CatchingUp:
    """The rate at which words were read since many of them waited.

    Words that came meanwhile hide some that were read, so an estimate is rather too long.
    """

    def __init__(self) -> None:
        self._began_s = self._now_s = 0.0
        self._n_waiting = self._n_read = 0

    def update(self, n_waiting: int, now_s: float) -> None:
        """Take the number of words that wait at a time; with 0 the catching up has ended."""
        if not self._n_waiting:
            self._began_s, self._n_read = now_s, 0
        self._n_read += max(0, self._n_waiting - n_waiting)
        self._n_waiting, self._now_s = n_waiting, now_s

    @property
    def left_s(self) -> float | None:
        """Seconds until none waits; None while that is not known."""
        seconds = self._now_s - self._began_s
        if not self._n_waiting or not self._n_read or seconds < _LEAST_S:
            return None
        return self._n_waiting * seconds / self._n_read


class StatusBar(QWidget):
    """The state on the left; languages and glossary on the right.

    Signals:
        skip_wanted(): the words that wait are not to hold up what comes now.
        sharing_clicked(): the user clicked on how many read along.
        server_clicked(): the user clicked on the server that translates.

    Attributes:
        sharing: shown while captions are shared.
        glossary: shown while the model gets the glossary.
        server: shown while another computer translates.
        choices: button with the menus of mode, language and timing.
    """

    skip_wanted = Signal()
    sharing_clicked = Signal()
    server_clicked = Signal()

    def __init__(
        self, choices: CaptionChoices, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._clock = clock
        self._catching_up = CatchingUp()
        self._engine = self._listening = self._devices = self._left_out = ""
        self._is_ready = self._is_paused = False
        self._lag_s: int | None = None
        self._n_waiting = 0
        self._choices = choices
        self.state = QLabel()
        self.state.setAccessibleDescription(self.tr("State"))
        self.state.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.skip = self._hidden_button(
            self.tr("Leave the sentences that wait without a translation")
        )
        self.skip.setText(self.tr("Skip to now"))
        self.skip.clicked.connect(self.skip_wanted)
        self.sharing = self._hidden_button(self.tr("Show the QR code, or stop sharing"))
        self.sharing.clicked.connect(self.sharing_clicked)
        self.server = self._hidden_button(self.tr("Choose which computer translates"))
        self.server.clicked.connect(self.server_clicked)
        self.glossary = QLabel(self.tr("Glossary on"))
        self.glossary.hide()
        self.choices = QPushButton()
        self.choices.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.choices.setToolTip(self.tr("Mode, language and timing of the captions"))
        self._make_menu()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP)
        row.addWidget(self.state, 1)
        row.addWidget(self.skip)
        row.addWidget(self.sharing)
        row.addWidget(self.server)
        row.addWidget(self.glossary)
        row.addWidget(self.choices)
        choices.changed.connect(self._name_choices)
        self._name_choices()

    def _make_menu(self) -> None:
        """Show the languages at once, and the other choices below *More*."""
        menu, choices = QMenu(self.choices), self._choices
        self._more = QMenu(self.tr("M&ore"), menu)
        for one in (menu, self._more):
            one.setToolTipsVisible(True)
        for other in choices.below_mode[1:]:
            self._more.addMenu(other)
        self._more.addSeparator()
        self._more.addActions(choices.mode.actions())
        menu.addMenu(self._more)
        menu.aboutToShow.connect(self._fill_menu)
        self.choices.setMenu(menu)
        open_with(menu, self.choices)

    @Slot()
    def _fill_menu(self) -> None:
        menu, language = self.choices.menu(), self._choices.language
        for action in menu.actions():
            menu.removeAction(action)  # to clear it would delete those of the other menu
        if language.isEnabled():
            language.aboutToShow.emit()  # others are on offer by now
            menu.addActions(language.actions())
            menu.addSeparator()
        menu.addMenu(self._more)

    @property
    def is_ready(self) -> bool:
        """Whether words become captions at once."""
        return self._is_ready

    def _hidden_button(self, tip: str) -> QPushButton:
        button = QPushButton()
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.hide()
        return button

    def show_loading(self) -> None:
        self._show_engine(self.tr("Loading…"))

    def show_stopped(self) -> None:
        self._show_engine(self.tr("Stopped"))

    def show_ready(self) -> None:
        self._show_engine("", is_ready=True)

    def show_listening(self, text: str, devices: str = "") -> None:
        """Show the state of listening, empty without one, and the devices in the tool tip."""
        if text != self._listening:
            self._lag_s = None
        self._listening, self._devices = text, devices
        self._show()

    def show_lag(self, seconds: float | None) -> None:
        """Show how far the captions are behind the speaker; None while nobody speaks."""
        if seconds is None:
            self._lag_s = None
        elif self._lag_s is None or abs(seconds - self._lag_s) > _STEADY_S:
            self._lag_s = max(1, round(seconds))
        self._show()

    def show_left_out(self, text: str) -> None:
        """Show what further languages leave out for now; empty for nothing."""
        self._left_out = text
        self._show()

    @Slot(bool)
    def show_paused(self, paused: bool) -> None:  # noqa: FBT001  what the signal carries
        """Show that captions are paused, or the state again."""
        self._is_paused = paused
        self._show()

    def show_backlog(self, n_words: int) -> None:
        """Show that words wait, once they are many, until none waits."""
        many = _CATCHING_UP_WORDS if not self._n_waiting else 1
        self._n_waiting = n_words if n_words >= many else 0
        self._catching_up.update(self._n_waiting, self._clock())
        self._show()

    @Slot()
    def show_no_backlog(self) -> None:
        self.show_backlog(0)

    def show_glossary(self, *, used: bool) -> None:
        self.glossary.setVisible(used)

    def show_shared(self, n_readers: int | None) -> None:
        """Show how many phones read along; None while captions are not shared."""
        self.sharing.setVisible(n_readers is not None)
        some = self.tr("Shared with %Ln phones", "", n_readers or 0)
        self.sharing.setText(some if n_readers else self.tr("Shared, no reader yet"))

    def show_server(self, text: str) -> None:
        """Show how the connection to a server is; empty while this computer translates."""
        self.server.setVisible(bool(text))
        self.server.setText(text)

    def _show_engine(self, text: str, *, is_ready: bool = False) -> None:
        self._engine, self._is_ready = text, is_ready
        self._n_waiting = 0
        self._catching_up.update(0, self._clock())
        self._show()

    def _show(self) -> None:
        text = self._text()
        if self._is_ready and not self._is_paused and self._left_out:
            text = f"{text} · {self._left_out}"
        self.skip.setVisible(self._is_ready and not self._is_paused and self._n_waiting > 0)
        self.state.setText(text)
        short = text if text in {self.tr("Paused"), self._engine} else self.tr("Ready")
        self.state.setMinimumWidth(self.state.fontMetrics().horizontalAdvance(short))
        self.state.setToolTip(self._devices or text)

    def _text(self) -> str:
        if self._is_paused:
            return self.tr("Paused")
        if not self._is_ready:
            return self._engine
        if self._n_waiting:
            words = self.tr("Catching up: %Ln words to go", "", self._n_waiting)
            return ", ".join(filter(None, (words, self._estimate())))
        if not self._listening:
            return self.tr("Ready")
        if self._lag_s is None:
            return self._listening
        behind = self.tr("captions {} s behind").format(self._lag_s)
        return f"{self._listening} · {behind}"

    def _estimate(self) -> str:
        """Return about how long catching up takes; empty if that is short, or not known."""
        left_s = self._catching_up.left_s
        if left_s is None or left_s < _SHORT_S:
            return ""
        if left_s < _MINUTE_S:
            return self.tr("about {} s").format(_SHORT_S * round(left_s / _SHORT_S))
        return self.tr("about {} min").format(round(left_s / _MINUTE_S))

    @Slot()
    def _name_choices(self) -> None:
        self.choices.setText(self._choices.summary)
        self.choices.setAccessibleName(self._choices.summary)
