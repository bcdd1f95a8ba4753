"""Adapters, the glossary, further languages: all that a translation gets beside its words."""

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.captions.glossaries import GlossaryFolder, Terms
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
from app.dialogs.adapter_dialog import AdapterDialog
from app.dialogs.adapter_service import AdapterService, ListedAdapter
from app.dialogs.glossary_dialog import GlossaryDialog
from app.look.widgets.dialog_text import as_sentence, bring_up, size_text
from app.look.widgets.names import language_name, language_names
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from engine.events import (
    AdapterChanged,
    CaptionChanged,
    Cleared,
    ContextChanged,
    Event,
    FurtherCaptionLeftOut,
    LanguageFailed,
    LanguagesChanged,
    LoadAdapter,
    Ready,
    Refused,
    UnloadAdapter,
    UseAdapter,
    UtteranceEnded,
)
from engine.hub.catalogue import NO_ADAPTER, bundled_adapters
from engine.messages import Code
from engine.models.adapters.library import AdapterLibrary


class AdapterController(QObject):
    """Load adapters into the session: the choice of the user, or a bundled one that helps.

    The choice is stored, also that of the bare model (``NO_ADAPTER``). The default is chosen again
    whenever language or policy change. A stored adapter that is made for another model, or for
    other languages, waits until it fits again.
    """

    def __init__(self, settings: SettingsInForce, bridge: EngineBridge, window: MainWindow) -> None:
        super().__init__(window)
        library = AdapterLibrary(settings.launch.data_folder / "adapters", bundled_adapters())
        self.service = AdapterService(library, self)
        self.dialog = AdapterDialog(self.service, window)
        window.menu_actions.adapters.triggered.connect(self.dialog.open_list)
        self._settings = settings
        self._bridge = bridge
        self._names: tuple[str, ...] = ()  # of the adapters that are loaded
        self._by_person = False
        self._choices = window.choices
        self._fitting = dict[str, ListedAdapter]()  # for the model and language, by name
        self._default: str | None = None  # the bundled one that was last found to help
        self.dialog.load_wanted.connect(self._load)
        self.dialog.use_wanted.connect(self._use)
        self.dialog.unload_wanted.connect(lambda name: bridge.send(UnloadAdapter(name)))
        self.service.default_found.connect(self._use_default)
        self.service.fitting_found.connect(self._offer)
        self.service.chosen_found.connect(self._load_chosen)
        self._choices.purpose.value_chosen.connect(self._use_purpose)
        settings.translation_changed.connect(self._find_default)
        settings.language_changed.connect(self.service.find_fitting)
        settings.translation_changed.connect(self._show_policy)
        self._show_policy()

    def begin(self) -> None:
        """Load the first adapter into a newly loaded model; a server has its own."""
        self._settings.adapter_in_use, self._names, self._default = None, (), None
        self._by_person = False
        self.dialog.show_loaded((), None)
        if self._settings.server is not None:
            self._offer([])
            return
        self.service.find_fitting(self._settings.translation.target_language)
        wanted = self._settings.adapter
        if not wanted:
            self._find_default()
        elif isinstance(wanted, Path):
            self._bridge.send(LoadAdapter(wanted))
        elif wanted != NO_ADAPTER:
            self.service.find_chosen(wanted, self._settings.translation.target_language)

    def take(self, event: AdapterChanged) -> None:
        self._settings.adapter_in_use, self._names = event.used, event.names
        self.dialog.show_loaded(event.names, event.used)
        self._show_purpose()
        if self._by_person and event.used is not None:
            self._settings.choose_adapter(event.used)

    def close(self) -> None:
        self.service.close()

    @Slot()
    def _find_default(self) -> None:
        is_free = not (self._settings.adapter or self._by_person)
        if is_free and self._settings.server is None:
            self.service.find_default(self._settings.translation)

    @Slot()
    def _show_policy(self) -> None:
        self.dialog.show_policy(self._settings.translation.policy)

    @Slot(object)
    def _load_chosen(self, folder: Path) -> None:
        if not self._by_person and self._settings.server is None:
            self._bridge.send(LoadAdapter(folder))

    @Slot(object)
    def _load(self, folder: Path) -> None:
        self._by_person = True
        self._bridge.send(LoadAdapter(folder))

    @Slot(str)
    def _use(self, name: str) -> None:
        self._by_person = True
        if not name:
            self._settings.choose_adapter(NO_ADAPTER)
        self._bridge.send(UseAdapter(name or None))

    @Slot(list)
    def _offer(self, fitting: Sequence[ListedAdapter]) -> None:
        """Offer the adapters that fit as plain choices in the main window; a server has its own."""
        listed = fitting if self._settings.server is None else []
        self._fitting = {one.adapter.name: one for one in listed}
        self._show_purpose()

    def _show_purpose(self) -> None:
        used = self._settings.adapter_in_use or ""
        cards = {name: one.adapter.card for name, one in self._fitting.items()}
        described = [(name, card.description if card else "") for name, card in cards.items()]
        self._choices.show_purposes(described, used if used in self._fitting else "")

    @Slot(str)
    def _use_purpose(self, name: str) -> None:
        if name and name not in self._names:
            self._load(self._fitting[name].shelved.folder)
        else:
            self._use(name)

    @Slot(object, str)
    def _use_default(self, folder: Path | None, name: str) -> None:
        if self._by_person or self._settings.adapter or self._settings.server is not None:
            return  # a person was faster
        before, self._default = self._default, name or None
        if folder is None:
            if before is not None and self._settings.adapter_in_use == before:
                self._bridge.send(UseAdapter(None))
        elif name in self._names:
            self._bridge.send(UseAdapter(name))
        elif name != before:
            self._bridge.send(LoadAdapter(folder))


_REFUSALS = (Code.GLOSSARY_TOO_LONG, Code.GLOSSARY_TOO_LARGE)


class GlossaryController(QObject):
    """Keep the terms of the target language; the model gets them only if the user wants that."""

    def __init__(self, settings: SettingsInForce, bridge: EngineBridge, window: MainWindow) -> None:
        super().__init__(window)
        self.dialog: GlossaryDialog | None = None
        self._settings = settings
        self._window = window
        self._folder = GlossaryFolder(settings.launch.data_folder / "glossary")
        self._language = ""
        self._terms: Terms = ()
        settings.language_changed.connect(self._take_language)
        bridge.event_came.connect(self._take_event)
        window.menu_actions.glossary.triggered.connect(self.open_glossary)
        if self._is_used:
            self._take_language(self._settings.translation.target_language)

    @Slot()
    def open_glossary(self) -> None:
        if self.dialog is None:
            self.dialog = GlossaryDialog(self._window)
            self.dialog.terms_changed.connect(self._take_terms)
            self.dialog.use_toggled.connect(self._use)
        self._take_language(self._settings.translation.target_language)
        self._show()
        bring_up(self.dialog)

    def add_name(self, name: str) -> None:
        """Add a name to the terms, so that captions spell it like this."""
        self._take_language(self._settings.translation.target_language)
        if name.casefold() not in (term.casefold() for term, _ in self._terms):
            self._take_terms((*self._terms, (name, name)))
        if not self._is_used:
            self._use(used=True)
        if self.dialog is not None and self.dialog.isVisible():
            self._show()

    @Slot(object)
    def _take_event(self, event: Event) -> None:
        if self.dialog is None:
            return
        match event:
            case ContextChanged():
                self.dialog.show_cost(self._cost(event.rows))
            case Refused(message=message) if message.code in _REFUSALS:
                self.dialog.show_cost(worded(message))

    @Slot(str)
    def _take_language(self, language: str) -> None:
        if language != self._language:
            self._language = language
            self._terms, failure = self._folder.read(language)
            if failure is not None:
                self._window.banner.show_notice(worded(failure))
            if self.dialog is not None and self.dialog.isVisible():
                self._show()
        self._tell()

    @Slot(tuple)
    def _take_terms(self, terms: Terms) -> None:
        begins = bool(terms) and not self._terms
        self._terms = terms
        failure = self._folder.write(self._language, terms)
        if failure is not None:
            self._window.banner.show_notice(worded(failure))
        if begins and not self._is_used:  # a first term is written to be used
            self._settings.change("translation", glossary=True)
            if self.dialog is not None:
                self.dialog.show_use(used=True, warning=self._warning())
        self._tell()

    @Slot(bool)
    def _use(self, used: bool) -> None:  # noqa: FBT001  what the signal carries
        self._settings.change("translation", glossary=used)
        self._tell()
        self._show_cost()

    @property
    def _is_used(self) -> bool:
        return self._settings.preferences.translation.glossary

    def _tell(self) -> None:
        self._settings.use_glossary(self._terms if self._is_used else ())

    def _show(self) -> None:
        if self.dialog is not None:
            spoken = language_name(self._settings.translation.source_language)
            self.dialog.show_terms(spoken, language_name(self._language), self._terms)
            self.dialog.show_use(used=self._is_used, warning=self._warning())
            self._show_cost()

    def _show_cost(self) -> None:
        if self.dialog is not None and not self._is_used:
            self.dialog.show_cost(self.tr("The terms are not in use"))

    def _cost(self, n_rows: int) -> str:
        if n_rows:
            text = self.tr(
                "%Ln terms cost {:,} tokens of the prompt, computed once", "", len(self._terms)
            )
            return filled(text, n_rows)
        n_terms = len(self._terms)
        if self._is_used and n_terms:
            return self.tr("%Ln terms are in use; they don't slow the translation", "", n_terms)
        return self.tr("The terms are not in use")

    def _warning(self) -> str:
        if self._settings.model is None:
            return self.tr(
                "A translation is used exactly as written here, in place of the model's own word "
                "for the term. The article before it stays as the model chose it."
            )
        if self._settings.adapter_in_use is not None:
            return self.tr(
                "A model that was not trained for Surtitle is told the terms before each "
                "sentence. Its adapter may never have seen a glossary in training, so captions "
                "may become worse. Try it with and without."
            )
        return self.tr(
            "A large instruct model can follow a glossary; whether this one does was not measured. "
            "Try it with and without."
        )


GRACE_S = 30.0
"""A language is computed for so long after its last reader has left: phones lose the network."""


class Grace:
    """Follow what is read; the languages that came first stay in front."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # when the last reader left; None while there is one
        self._left_s: dict[str, float | None] = {}

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
        own = self._own if self._settings.translates else ()
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
