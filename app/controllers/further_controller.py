"""Captions in further languages: the window's second one, and those that a room reads."""

import time
from collections.abc import Callable, Collection

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.captions.models import (
    MachineReport,
    Way,
    further_language,
    offers_here,
    wanted_languages,
    ways_here,
)
from app.config.settings_in_force import SettingsInForce
from app.config.translations import filled, worded
from app.look.widgets.dialog_text import as_sentence, size_text
from app.look.widgets.names import language_name, language_names
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from engine.events import (
    AdapterChanged,
    CaptionChanged,
    Cleared,
    Event,
    FurtherCaptionLeftOut,
    LanguageFailed,
    LanguagesChanged,
    Ready,
    UtteranceEnded,
)

GRACE_S = 30.0
"""A language is computed for so long after its last reader has left: phones lose the network."""


class Grace:
    """Follow what is read; the languages that came first stay in front."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left_s = dict[
            str, float | None
        ]()  # when the last reader left; None while there is one

    def follow(self, read: Collection[str]) -> None:
        now_s = self._clock()
        for language, left_s in self._left_s.items():
            if language not in read and left_s is None:
                self._left_s[language] = now_s
        for language in read:
            self._left_s[language] = None

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that are read, or were so a moment ago."""
        now_s = self._clock()
        self._left_s = {
            language: left_s
            for language, left_s in self._left_s.items()
            if left_s is None or now_s - left_s < GRACE_S
        }
        return tuple(self._left_s)

    @property
    def ends_in_s(self) -> float | None:
        """Seconds until the next one ends; None if every one has a reader."""
        left = [left_s for left_s in self._left_s.values() if left_s is not None]
        return max(0.0, min(left) + GRACE_S - self._clock()) if left else None


class FurtherController(QObject):
    """Send the session the further languages that are wanted; offer them in the window.

    Signals:
        offered_changed(): ``offered`` are other languages.
        ready_changed(): ``ready`` or ``full`` are other ones.

    Attributes:
        offered: codes of the languages that can be captioned beside that of the window.
        ready: codes of the languages that are captioned now.
        full: codes of those that are read and not computed: there are too many.
        left_out: how many sentences languages have still to make up for, by their codes.
    """

    offered_changed = Signal()
    ready_changed = Signal()

    def __init__(
        self,
        settings: SettingsInForce,
        bridge: EngineBridge,
        window: MainWindow,
        report: Callable[[], MachineReport],
    ) -> None:
        super().__init__(window)
        self._settings, self._bridge, self._report = settings, bridge, report
        self._choices, self._banner, self._status = window.choices, window.banner, window.status
        self._library = settings.launch.data_folder / "models"
        self._own: tuple[str, ...] = ()  # languages of the model in use
        self._read = Grace()  # in the room
        self._failed = set[str]()  # until they are chosen again
        self.offered: tuple[str, ...] = ()
        self.ready: tuple[str, ...] = ()
        self.full: tuple[str, ...] = ()
        self.left_out = dict[str, int]()
        self._grace = QTimer(self, singleShot=True)
        self._grace.timeout.connect(self._tell)
        bridge.event_came.connect(self._take)
        self._choices.second.aboutToShow.connect(self._offer)
        self._choices.second.value_chosen.connect(self._choose)
        settings.preferences_changed.connect(self._follow)
        settings.translation_changed.connect(self._follow)
        self._follow()

    def _ways(self) -> dict[str, Way]:
        is_ours = self._settings.translates and self._settings.server is None
        own = self._own if is_ours else ()  # a server translates into one language
        spoken, target = self._settings.languages
        offers = offers_here(self._library)
        ways = ways_here(own, spoken, offers, self._report(), language_names())
        return {code: way for code, way in ways.items() if code != target}

    @Slot()
    def _offer(self) -> None:
        none = self.tr("None"), "", self.tr("Captions in one language")
        entries = [
            (f"{language_name(code)} ({self._cost(way)})", code, self._tip(code))
            for code, way in self._ways().items()
        ]
        self._choices.show_seconds([none, *entries], self._settings.preferences.captions.second)

    def _cost(self, way: Way) -> str:
        if way.offer is None:
            return self.tr("twice the computing, no more memory")
        size = size_text(way.memory_bytes)
        if way.load is None:
            return self.tr("{} more memory, twice the computing").format(size)
        text = self.tr("{} more memory, {:.0f} % of the time")
        return filled(text, size, 100 * way.load)

    def _tip(self, code: str) -> str:
        text = self.tr("{} stands below the captions; these never wait for it")
        return text.format(language_name(code))

    @Slot(str)
    def _choose(self, code: str) -> None:
        self._failed.discard(code)
        self._settings.change("captions", second=code)
        self._tell()

    def show_read(self, read: Collection[str]) -> None:
        self._read.follow(read)
        self._tell()

    def forget_readers(self) -> None:
        """Compute nothing for readers any more: nothing is shared."""
        self._read = Grace()
        self._tell()

    @Slot()
    def _follow(self) -> None:
        self._choices.show_second(self._settings.preferences.captions.second)
        offered = tuple(code for code in self._ways() if code not in self._failed)
        if offered != self.offered:
            self.offered = offered
            self.offered_changed.emit()
        self._tell()

    @Slot()
    def _tell(self) -> None:
        read = [code for code in self._read.languages if code not in self._failed]
        ends_in_s = self._read.ends_in_s
        if ends_in_s is not None:
            self._grace.start(round(1000 * ends_in_s) + 1)
        ways = self._ways() if read or self._second else {}
        device = self._settings.launch.device
        languages = {
            code: further_language(code, way, self._library, device) for code, way in ways.items()
        }
        wanted = wanted_languages(self._second, read, languages)
        self._bridge.caption_also(wanted)
        full = tuple({*read} - {one.code for one in wanted})
        if full != self.full:
            self.full = full
            self.ready_changed.emit()

    @property
    def _second(self) -> str:
        second = self._settings.preferences.captions.second_shown
        return "" if second in self._failed else second

    @Slot(object)
    def _take(self, event: Event) -> None:
        match event:
            case Ready(languages=languages) | AdapterChanged(languages=languages):
                self._own = tuple(languages)
                self._failed.clear()
                self._follow()
            case LanguagesChanged(languages=languages):
                self.ready = languages
                self._tell_left_out()
                self.ready_changed.emit()
            case FurtherCaptionLeftOut():
                self._tell_left_out()
            case CaptionChanged() | UtteranceEnded() | Cleared() if self.left_out:
                self._tell_left_out()
            case LanguageFailed(language=code, message=message):
                self._fail(code, as_sentence(worded(message)))

    def _tell_left_out(self) -> None:
        counts = {code: self._bridge.utterances.n_left_out(code) for code in self.ready}
        left_out = {code: n for code, n in counts.items() if n}
        if left_out != self.left_out:
            self.left_out = left_out
            texts = (
                self.tr("{} leaves out %Ln sentences for now", "", n).format(language_name(code))
                for code, n in left_out.items()
            )
            self._status.show_left_out(" · ".join(texts))

    def _fail(self, code: str, reason: str) -> None:
        """Do without a language; the others go on."""
        self._failed.add(code)
        text = self.tr("There are no captions in {}. {} Captions go on in {}.")
        target = language_name(self._settings.languages[1])
        self._banner.show_notice(text.format(language_name(code), reason, target))
        if code == self._settings.preferences.captions.second:
            self._settings.change("captions", second="")
        self._follow()
