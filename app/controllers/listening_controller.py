"""The sources in the control panel, the listening service and the transcript; which model hears."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.config.preferences import LANES, ME, THEM, ListeningPreferences, Preferences
from app.config.settings_in_force import SettingsInForce
from app.config.translations import worded
from app.controllers.setup_controller import SetupController
from app.look.widgets.dialog_text import as_sentence
from app.look.widgets.names import speech_name
from app.main_window.banner import Banner, Offer
from app.main_window.control_panel import SourceToggle
from app.main_window.window import MainWindow, needs_speech_model
from app.session.engine_bridge import EngineBridge
from app.session.listening_service import ListeningService, Spoken
from engine.audio.devices import SAMPLE_RATE_HZ, AudioNotice, DeviceKind, NoticeKind, WantedDevice
from engine.messages import Code, Message
from engine.speech.events import (
    Behind,
    CaughtUp,
    Heard,
    ListeningFailed,
    Noticed,
    RecognizerKept,
    RecognizerReady,
    SoundCame,
)
from engine.untrusted.faults import is_damage


def can_mend(recognizer: str, message: Message) -> bool:
    """Return whether a model failed for what its files are, and is one of the hub."""
    return is_damage(message) and not Path(recognizer).is_dir()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The choice in the settings.

    Attributes:
        preference: the speech model that is stored.
        recognizer: it, or its like that understands the language.
        language: code of what is spoken.
    """

    preference: str
    recognizer: str
    language: str


class RecognizerChoice:
    """Follow the settings; a model that cannot be used is not left in them while another one works.

    Attributes:
        now: what is chosen.
        wish: a model that was chosen and is not on this computer; empty for none.
    """

    def __init__(self, settings: SettingsInForce) -> None:
        self._settings = settings
        self.now = self._chosen
        self._here: _Choice | None = None  # the newest that is on this computer
        self._proven: _Choice | None = None  # the newest that was loaded
        self.wish = ""

    @property
    def instead(self) -> str:
        """The model to listen with if the chosen one cannot be loaded; empty for none."""
        proven = self._proven
        if proven is None or proven.language != self.now.language:
            return ""
        return "" if proven.recognizer == self.now.recognizer else proven.recognizer

    def follow(self) -> bool:
        """Read the settings; return whether another model or language is chosen."""
        before, self.now = self.now, self._chosen
        if self.now == before:
            return False
        self.wish = ""
        return (self.now.recognizer, self.now.language) != (before.recognizer, before.language)

    def see_here(self) -> None:
        self._here = self.now

    def see_loaded(self) -> None:
        self._here = self._proven = self.now

    def go_back(self) -> bool:
        """Choose again the model before; return False if there is none."""
        one = self._proven if self._here == self.now else self._here
        if one is None or one.preference == self.now.preference:
            return False
        self.now = self._here = one  # before the change is emitted, so that nothing restarts
        self._settings.change("listening", recognizer=one.preference)
        return True

    @property
    def _chosen(self) -> _Choice:
        settings = self._settings
        return _Choice(
            preference=settings.preferences.listening.recognizer,
            recognizer=settings.recognizer,
            language=settings.translation.source_language,
        )


_GOOD_NEWS = (NoticeKind.HEARD, NoticeKind.RETURNED, NoticeKind.WOKE)
_NAMES_DEVICE = (NoticeKind.LISTENING, NoticeKind.RETURNED, NoticeKind.MOVED, NoticeKind.LOST)
_METER_MS = 60
FETCH, SMALLER, CHOOSE = "fetch speech model", "smaller speech model", "choose speech model"
"""Topics of notices in the banner."""


class SourceNotices:
    """Show notices of sources by lane."""

    def __init__(self, banner: Banner) -> None:
        self._banner = banner
        self._devices: dict[str, str] = {}
        self._noticed = set[str]()  # lanes with a notice

    @property
    def devices(self) -> tuple[str, ...]:
        return tuple(filter(None, self._devices.values()))

    def take(self, lane: str, notice: AudioNotice) -> None:
        topic = _topic(lane)
        self._noticed.add(lane)
        if notice.kind in _NAMES_DEVICE:
            self._devices[lane] = notice.device
        if notice.kind is NoticeKind.LISTENING:  # the status shows it; the problem is over
            self._banner.withdraw(topic)
            return
        passes = notice.kind in _GOOD_NEWS
        self._banner.show_offer(worded(notice.message), topic, passes=passes)

    def keep(self, lanes: Collection[str]) -> None:
        """Set the active lanes; notices of other lanes are withdrawn."""
        for lane in [one for one in self._devices if one not in lanes]:
            del self._devices[lane]
        for lane in self._noticed - set(lanes):
            self._banner.withdraw(_topic(lane))
        self._noticed &= set(lanes)


def _topic(lane: str) -> str:
    return f"source {lane}"


class ListeningController(QObject):
    """Listen to the sources that are on, while the captions are not paused.

    Nothing is recorded before the user clicks a source, and nothing is downloaded unasked.

    Signals:
        sound_lost(float): seconds of sound that were lost so far.

    Attributes:
        offered: the speech model that ``fetch`` would download; empty if none is needed.
    """

    sound_lost = Signal(float)

    def __init__(
        self,
        settings: SettingsInForce,
        bridge: EngineBridge,
        service: ListeningService,
        setup: SetupController,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self._settings = settings
        self._bridge = bridge
        self.service, self._setup, self._window = service, setup, window
        self._bar, self._banner, self._status = window.controls, window.banner, window.status
        self._wanted: tuple[WantedDevice, ...] = ()  # as the buttons say, unless it is paused
        self._begun: tuple[WantedDevice, ...] = ()  # what is listened to
        self._after_fetch: tuple[WantedDevice, ...] = ()
        self._before = dict[DeviceKind, str | None]()  # from which sound came; None: the default
        self._is_ready = False
        self._heard = set[str]()  # lanes from which sound came
        self._fetching = self._damaged = ""
        self._notices = SourceNotices(window.banner)
        self._choice = RecognizerChoice(settings)
        self._switches = False  # another speech model was chosen and is being looked for
        self._tell_spoken()
        self._meters = QTimer(self, interval=_METER_MS)
        self._meters.timeout.connect(self._show_levels)
        self._show_devices(settings.preferences.listening)
        self._connect()

    def finish(self) -> None:
        """Stop recording for good; recorded sound is still translated."""
        self._bridge.paused_changed.disconnect(self._listen)
        if self._wanted:  # else nothing that hears was ever made
            self._wanted = ()
            self.service.listen((), self._choice.now.recognizer)

    def close(self) -> None:
        self._meters.stop()
        self.service.close()

    def _connect(self) -> None:
        bar, service, window = self._bar, self.service, self._window
        bar.wanted_changed.connect(self._listen)
        for source in bar.sources:
            source.devices.aboutToShow.connect(service.list_devices)
            source.devices.value_chosen.connect(partial(self._choose_device, source.kind))
        self._bridge.paused_changed.connect(self._listen)
        self._bridge.event_came.connect(service.take)
        self._settings.preferences_changed.connect(self._use)
        self._settings.translation_changed.connect(self._use_recognizer)
        service.devices_listed.connect(bar.show_devices)
        service.recognizer_missing.connect(self._offer_fetch)
        service.recognizer_looked_for.connect(self._take_found)
        service.progressed.connect(self._show_fetch)
        service.fetched.connect(self._begin_after_fetch)
        service.fetch_failed.connect(self._end_fetch)
        service.began.connect(self._show_begun)
        service.reported.connect(self._take)
        service.ended.connect(self._show_ended)
        service.failed.connect(self._fail)
        window.painted.connect(self.look_for_model)
        window.fetch_bar.cancel.clicked.connect(service.cancel_fetch)
        window.empty_page.download.clicked.connect(self.fetch)
        window.empty_page.others.clicked.connect(self._setup.open_speech)

    def _show_devices(self, listening: ListeningPreferences) -> None:
        self._bar.microphone.show_device(listening.microphone)
        self._bar.system.show_device(listening.system)

    @Slot(object, object)
    def _use(self, preferences_before: Preferences, preferences: Preferences) -> None:
        before, now = preferences_before.listening, preferences.listening
        if now != before:
            self._show_devices(now)
            self._listen()
        self._use_recognizer()

    @Slot()
    def _use_recognizer(self) -> None:
        is_other = self._choice.follow()
        self._tell_spoken()
        if not is_other:
            return
        for offer in (FETCH, SMALLER, CHOOSE):
            self._banner.withdraw(offer)
        self._switches = True
        self.look_for_model()

    def _tell_spoken(self) -> None:
        words = tuple(term for term, _ in self._settings.translation.glossary)
        self.service.spoken = Spoken(language=self._choice.now.language, words=words)

    @property
    def _lanes(self) -> tuple[str, ...]:
        return tuple(LANES[one.kind] for one in self._wanted)

    @Slot()
    def _listen(self) -> None:
        sources = () if self._bridge.is_paused else self._bar.on
        self._keep_before()
        wanted = tuple(
            WantedDevice(
                kind=one.kind, name=one.devices.value or None, before=self._before.get(one.kind)
            )
            for one in sources
        )
        if self._fetching and not self._choice.wish:
            self._after_fetch = wanted
            if wanted or not self._begun:
                return  # it begins when the recogniser is here; to end needs none
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self._notices.keep(self._lanes)
        self._is_ready = False
        self._heard.clear()
        if wanted:
            self._status.show_listening(self.tr("Starting to listen…"))
            self.service.list_devices()
        else:
            self._show_stopped()
        self._switches = False  # else it would begin again, and fail twice, once it was found
        self.service.listen(wanted, self._choice.now.recognizer, self._choice.instead)

    def _keep_before(self) -> None:
        """Remember of each source from which device sound came, to go on if the next one fails."""
        sounding = self.service.sounding()
        for one in self._wanted:
            if LANES[one.kind] in sounding:
                self._before[one.kind] = sounding[LANES[one.kind]] if one.name else None

    def _choose_device(self, kind: DeviceKind, name: str) -> None:
        self._settings.change("listening", **{kind: name})  # a field for each ``DeviceKind``

    def _show_stopped(self) -> None:
        self._begun = ()
        self._meters.stop()
        self._bar.show_nothing()
        self._notices.keep(())
        text = self.tr("Finishing what was said…") if self.service.is_listening else ""
        self._status.show_listening(text)

    def _show_off(self, wanted: tuple[WantedDevice, ...] = ()) -> None:
        self._wanted = wanted
        self._notices.keep(self._lanes)
        for source in self._bar.sources:
            source.show_on(on=any(one.kind == source.kind for one in wanted))
        if not wanted:
            self._show_stopped()

    @Slot()
    def _show_begun(self) -> None:
        if self._wanted:
            self._begun = self._wanted
            self._status.show_listening(self.tr("Loading the speech model… What is said is kept"))
            self._show_heard()
            self._meters.start()

    @Slot()
    def _show_ended(self) -> None:
        self._begun = ()
        if not self._wanted and not self._bar.on:
            self._status.show_listening("")
            self._banner.withdraw(SMALLER)  # nothing falls behind any more

    @Slot(str)
    def _fail(self, message: str) -> None:
        may_be_the_model = not self._is_ready
        self._show_off()
        self.service.listen((), self._choice.now.recognizer)
        offers = (self._others,) if may_be_the_model else ()
        self._banner.show_offer(message, CHOOSE, *offers)

    @property
    def _others(self) -> Offer:
        return self.tr("Choose a&nother speech model…"), self._setup.open_speech

    @property
    def _download(self) -> Offer:
        return self.tr("Do&wnload"), self.fetch

    # the speech model

    @Slot(str)
    def _offer_fetch(self, recognizer: str) -> None:
        """Offer to download a recogniser that none can stand in for; a running one goes on."""
        self._after_fetch = self._wanted
        self._show_off(self._begun)
        text = needs_speech_model(recognizer)
        if self._begun:
            self._is_ready = True
            self._heard.update(self._lanes)
            self._show_heard()
            text = self.tr("The speech model {} is not on this computer; the one before goes on")
        name = speech_name(recognizer)
        self._offer_fetching(text.format(name), self._download)

    def _offer_fetching(self, text: str, *offers: Offer) -> None:
        self._window.empty_page.show_missing("")  # it would offer the same
        self._banner.show_offer(text, FETCH, *offers)

    @Slot()
    def look_for_model(self) -> None:
        self.service.look_for(self._choice.now.recognizer)

    @Slot(str, object)
    def _take_found(self, recognizer: str, obstacle: str | None) -> None:
        """Switch to a speech model that is here; keep the one before if it is not."""
        if recognizer != self._choice.now.recognizer:
            return
        switches, self._switches = self._switches, False
        if obstacle is None:
            self._choice.see_here()
        elif self._choice.go_back():
            self._offer_wish(recognizer, obstacle)
            return
        self._window.empty_page.show_missing("" if obstacle is None else recognizer)
        if switches and self._wanted:
            self.service.listen(self._wanted, self._choice.now.recognizer, self._choice.instead)

    def _offer_wish(self, recognizer: str, obstacle: str) -> None:
        """Offer to download the model that was chosen, or say why it cannot be used."""
        goes_on = self.tr("{} goes on").format(speech_name(self._choice.now.recognizer))
        if obstacle:
            self._banner.show_offer(f"{as_sentence(obstacle)} {goes_on}", CHOOSE)
            return
        self._choice.wish = recognizer
        text = self.tr("The speech model {} is not on this computer").format(
            speech_name(recognizer)
        )
        text = f"{as_sentence(text)} {goes_on}"
        self._offer_fetching(text, self._download)

    @Slot()
    def fetch(self) -> None:
        """Download the speech model; then listen to what is on."""
        self._banner.withdraw(FETCH)
        recognizer = self._fetching = self._choice.wish or self._choice.now.recognizer
        if not self._choice.wish:
            for source in self._bar.sources:
                source.show_on(on=any(one.kind == source.kind for one in self._after_fetch))
        if self._after_fetch and not self._begun and not self._choice.wish:
            self._status.show_listening(self.tr("Listening begins when the speech model is here"))
        self._show_fetch(recognizer, 0, 0)
        self.service.fetch(recognizer, again=recognizer == self._damaged)

    @Slot(str, object, object)
    def _show_fetch(self, recognizer: str, done: int, total: int) -> None:
        if recognizer == self._fetching:
            self._window.fetch_bar.show_progress(recognizer, done, total)
            self._window.empty_page.offer.setEnabled(False)

    @Slot(str)
    def _begin_after_fetch(self, recognizer: str) -> None:
        self._take_found(recognizer, None)
        if recognizer != self._fetching:
            return  # the setup wizard wanted it
        self._damaged = ""
        self._hide_fetch()
        if recognizer == self._choice.wish:
            self._settings.change("listening", recognizer=recognizer)
            return
        self._status.show_listening("")
        self._wanted = ()
        self._listen()

    @Slot(str)
    def _end_fetch(self, message: str) -> None:
        if not self._fetching:
            return
        self._hide_fetch()
        if not self._choice.wish:
            self._show_off(self._begun)
        if message:
            self._offer_again(message)
        elif not self._choice.wish:
            self._window.empty_page.show_missing(self._choice.now.recognizer)

    def _hide_fetch(self) -> None:
        self._fetching = ""
        self._window.fetch_bar.hide()
        self._window.empty_page.offer.setEnabled(True)

    @Slot(str)
    def mend(self, message: str) -> None:
        """Offer to fetch what is damaged of the speech model, which a file was to be heard with."""
        self._damaged, self._after_fetch = self._choice.now.recognizer, self._wanted
        self._offer_again(message)

    def _offer_again(self, message: str) -> None:
        again = self.tr("Try a&gain"), self.fetch
        self._offer_fetching(message, again, self._others)

    def _keep_recognizer(self, message: Message) -> None:
        """Put the speech model back that goes on, since the chosen one cannot be loaded."""
        failed = self._choice.now.recognizer
        if not self._choice.go_back():
            return
        text = as_sentence(worded(message))
        text = f"{text} {self.tr('{} goes on').format(speech_name(self._choice.now.recognizer))}"
        if can_mend(failed, message):
            self._choice.wish = self._damaged = failed
            self._offer_again(text)
        else:
            self._banner.show_offer(text, CHOOSE)

    def _take_failure(self, message: Message) -> None:
        """Show why listening failed; of a damaged model, what is damaged can be fetched again."""
        wanted = self._wanted
        self._fail(worded(message))
        if can_mend(self._choice.now.recognizer, message):
            self._damaged, self._after_fetch = self._choice.now.recognizer, wanted
            self._banner.withdraw(CHOOSE)
            self._offer_again(worded(message))

    # what is reported

    @Slot(object)
    def _take(self, event: Heard) -> None:
        match event:
            case RecognizerKept(message=message):
                self._keep_recognizer(message)
            case RecognizerReady():
                self._choice.see_loaded()
                self._is_ready = True
                self._show_heard()
            case SoundCame(lane=lane):
                self._heard.add(lane)
                self._show_heard()
            case Noticed(lane=lane, notice=notice) if lane in self._lanes:
                self._notices.take(lane, notice)
                self._show_heard()
            case Behind(message=message, smaller_model=smaller):
                self._offer_faster(message, smaller)
            case CaughtUp():
                self._banner.withdraw(SMALLER)
            case ListeningFailed(message=message):
                self._take_failure(message)

    def _offer_faster(self, message: Message, smaller: str) -> None:
        """Offer models that may keep up: of the stage that is slow, or of both if none is known."""
        offers = list[Offer]()
        if message.code is not Code.TRANSLATION_SLOW:
            self.service.pace.note_behind(self._choice.now.recognizer)
            use = partial(self._settings.change, "listening", recognizer=smaller)
            offers = [
                (self.tr("&Use {}").format(speech_name(smaller)), use) if smaller else self._others
            ]
        if message.code in {Code.TRANSLATION_SLOW, Code.CAPTIONS_SLOW_SMALLEST}:
            offers.append((self.tr("Translation &models…"), self._setup.open_models))
        self._banner.show_offer(worded(message), SMALLER, *offers)

    def _show_heard(self) -> None:
        """Show what is listened to, and in the tool tip by which devices.

        Before its first sound a device may not be recorded yet.
        """
        if self._wanted and self._is_ready:
            heard = tuple(lane for lane in self._lanes if lane in self._heard)
            texts: dict[tuple[str, ...], str] = {
                (): self.tr("Waiting for the first sound…"),
                (ME,): self.tr("Listening to the microphone"),
                (THEM,): self.tr("Listening to computer sound"),
            }
            both = self.tr("Listening to microphone and computer sound")
            devices = " · ".join(self._notices.devices)
            self._status.show_listening(texts.get(heard, both), devices)

    def _source_of(self, lane: str) -> SourceToggle:
        return next(source for source in self._bar.sources if LANES[source.kind] == lane)

    @Slot()
    def _show_levels(self) -> None:
        levels = self.service.levels()
        for lane, level in levels.items():
            self._source_of(lane).meter.show_level(level)
        self._setup.show_levels(levels)

    def show_lag(self, lag_s: float | None) -> None:
        """Show how far captions are behind what is heard; None while nobody speaks."""
        if self._begun:
            self._status.show_lag(lag_s if self._heard else None)
            self.sound_lost.emit(self.service.n_dropped / SAMPLE_RATE_HZ)
