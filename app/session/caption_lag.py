"""How far captions are behind what is said, for the status bar, the overlay and diagnostics."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from math import inf

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.session.engine_bridge import EngineBridge
from engine.events import AdapterChanged, Event, Ready, Statistics
from engine.metrics.latency import WordLags
from engine.utterances import Utterance

_INTERVAL_MS = 1000
_NEWEST_WORDS = 20  # words in the lag of the diagnostics
_WORDS_OF_TIMING = 50  # in its seconds: more than are said while the models are loaded
_FRESH_S = 5.0
"""So long after a word was painted its lag says something about now."""

_CATCHES_UP_FROM_S, _CATCHES_UP_TO_S = 4.0, 2.0
"""Captions catch up from the one age of what waits on, until the other."""


class CaptionLag:
    """The age of the oldest sound or word that is not captioned yet. No clock: time is handed in.

    Attributes:
        seconds: how far captions are behind: what waits, or else the newest painted words; None
            where nobody speaks.
        catches_up: sound or whole sentences wait for longer than they should.
    """

    def __init__(self) -> None:
        self.seconds: float | None = None
        self.catches_up = False
        self._painted = deque[tuple[float, float]]()  # when, and how late

    def paint(self, late_s: float, now_s: float) -> None:
        """Note that a heard word was painted so long after it was said."""
        self._painted.append((now_s, late_s))

    def forget(self) -> None:
        """Forget what was painted: the sources changed."""
        self._painted.clear()

    def update(
        self, *, held_up_since_s: float | None, uncaptioned_since_s: float | None, now_s: float
    ) -> None:
        """Follow what waits.

        Args:
            held_up_since_s: when the oldest sound or word was said that waits for computing.
            uncaptioned_since_s: when the oldest word was said that has no caption; it may wait for
                later words, as its policy requires.
        """
        while self._painted and now_s - self._painted[0][0] > _FRESH_S:
            self._painted.popleft()
        waits_s = 0.0 if held_up_since_s is None else now_s - held_up_since_s
        self.catches_up = waits_s > (_CATCHES_UP_TO_S if self.catches_up else _CATCHES_UP_FROM_S)
        # Younger sound waits as it must, and may be silence; a word without a caption is a lag.
        ages_s = [waits_s] if waits_s > _CATCHES_UP_TO_S else []
        ages_s += [] if uncaptioned_since_s is None else [now_s - uncaptioned_since_s]
        painted_s = sorted(late_s for _, late_s in self._painted)
        ages_s += painted_s[(len(painted_s) - 1) // 2 :][:1]
        self.seconds = max(ages_s, default=None)


class LagWatch(QObject):
    """Measure the lag of the session regularly, and keep what diagnostics tell of it.

    Signals:
        measured(): ``lag`` was measured again.

    Attributes:
        lag: of the captions now.
        lags: of words, stage by stage.
        newest: the newest counters of the session; None before the first.
        lost_s: seconds of sound that were lost since listening began.
        step_s: the least time from words that came to the caption that they changed, by the model
            in use; 0 before there was one.
    """

    measured = Signal()

    def __init__(
        self,
        bridge: EngineBridge,
        waiting_since_s: Callable[[], float | None],
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch a session.

        Args:
            waiting_since_s: returns when the oldest sound began that is not recognised yet.
            clock: the one of the words.
        """
        super().__init__(parent)
        self.lag, self.lags = CaptionLag(), WordLags()
        self.newest: Statistics | None = None
        self.lost_s = self.step_s = 0.0
        self._ready: Ready | None = None
        self._bridge, self._waiting_since_s, self._clock = bridge, waiting_since_s, clock
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.measure)
        self._timer.start()
        bridge.event_came.connect(self._take_event)
        bridge.utterance_changed.connect(self._take_utterance)

    @property
    def facts(self) -> dict[str, str | float]:
        """The model, the lags and the counters as plain values for diagnostics."""
        facts: dict[str, str | float] = {}
        if self._ready is not None and self._ready.model:
            facts |= {"model": self._ready.model, "loaded in s": round(self._ready.load_s, 1)}
        facts |= {} if self.newest is None else asdict(self.newest)
        heard = self.lags.heard(_NEWEST_WORDS)
        facts |= {f"lag, {lag.stage}": f"{lag.median_s:.2f} s" for lag in heard}
        for lane in self.lags.lanes if len(self.lags.lanes) > 1 else ():
            whole = self.lags.heard(_NEWEST_WORDS, lane)[-1]
            facts |= {f"lag, {lane}": f"{whole.median_s:.2f} s"}
        return facts | {"sound lost": f"{self.lost_s:.2f} s"}

    @property
    def heard_s(self) -> float | None:
        """The median from a word's end to its caption; None before enough words were heard."""
        heard = {lag.stage: lag for lag in self.lags.heard(_WORDS_OF_TIMING)}
        whole = heard.get("whole")
        return whole.median_s if whole and whole.n_words == _WORDS_OF_TIMING else None

    def close(self) -> None:
        self._timer.stop()

    @Slot()
    def begin_listening(self) -> None:
        """Forget the lags of heard words: the sources, the timing or the model changed."""
        self.lags.begin_listening()
        self.lag.forget()

    @Slot(float)
    def take_lost(self, seconds: float) -> None:
        self.lost_s = seconds

    @Slot(object)
    def take_painted(self, utterance: Utterance) -> None:
        """Record that an utterance was painted in its current state."""
        now_s = self._clock()
        for late_s in self.lags.painted(utterance, now_s):
            self.lag.paint(late_s, now_s)

    @Slot()
    def measure(self) -> None:
        sound_s = self._waiting_since_s()
        uncaptioned_s, held_up_s = self._bridge.uncaptioned_since_s
        held_up = [one for one in (sound_s, held_up_s) if one is not None]
        self.lag.update(
            held_up_since_s=min(held_up, default=None),
            uncaptioned_since_s=uncaptioned_s,
            now_s=self._clock(),
        )
        self.measured.emit()

    @Slot(object)
    def _take_event(self, event: Event) -> None:
        if isinstance(event, Ready):
            self._ready = event
        if isinstance(event, Ready | AdapterChanged):
            self.step_s = 0.0
            self.begin_listening()
        if isinstance(event, Statistics):
            self.newest = event
            self.step_s = min(self.step_s or inf, event.ms_per_word / 1000)

    @Slot(object, object)
    def _take_utterance(self, _event: Event, utterance: Utterance) -> None:
        self.lags.take(utterance, self._clock())
