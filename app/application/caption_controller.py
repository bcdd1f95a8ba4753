"""From what is typed to captions: the model, the session's events, and what the person wants of it.

It holds the caption model and joins it with the window, the bridge and the keeper.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import shorten

from PySide6.QtCore import QObject, Signal, Slot

from app.application.adapter_controller import AdapterChoice
from app.application.caption_mark import RowMark
from app.captions.model import Captions, UtteranceView
from app.captions.tentative_words import TentativeWords
from app.config.launch_settings import LaunchSettings
from app.config.preferences_store import Chosen
from app.dialogs.adapters.dialog import AdapterDialog
from app.dialogs.adapters.service import AdapterService
from app.history.history_writer import SessionKeeper
from app.library.model_names import hub_name
from app.main_window.window import MainWindow
from app.session.engine_bridge import Bridge
from engine.adapters.library import AdapterLibrary
from engine.commands import Clear, Configure, EndPassage, FeedWords, SetWords
from engine.errors import ModelError
from engine.events import (
    AdapterChanged,
    CaptionChanged,
    Event,
    Failed,
    LoadProgress,
    Notice,
    NotTranslated,
    Ready,
    Refused,
    Statistics,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.hub.bundled import NO_ADAPTER, bundled_adapters, bundled_models
from engine.models.model_card import read_card
from engine.settings import ModelSettings, TranslationSettings
from engine.utterances import FedWord

_UNPAINTED = 200  # utterances no window shows: both are hidden, or the transcript is scrolled up

_UNDO, _STRANGE = "undo new session", "not translated"  # of notices in the banner
_SHOWN = 40  # characters of a text in a notice

_FETCHING = "Fetching"  # as the engine calls it; a fetch can be stopped at once


class Captioning(QObject):
    """Load a model, follow its session, and change how it translates.

    Signals:
        captions_changed(tuple of UtteranceView): what stands in the captions now.
        caption_painted(int): what came of an utterance, by its number, stands on a screen.
        restarted(): another session begins, which numbers utterances anew.
        language_changed(str): captions are in another language from the next passage on.
    """

    captions_changed = Signal(tuple)
    caption_painted = Signal(int)
    restarted = Signal()
    language_changed = Signal(str)

    def __init__(
        self,
        settings: LaunchSettings,
        chosen: Chosen,
        window: MainWindow,
        bridge: Bridge,
        keeper: SessionKeeper,
    ) -> None:
        super().__init__(window)
        self._settings = settings
        self._chosen = chosen
        self._window = window
        self._bridge = bridge
        self._keeper = keeper
        self._captions = Captions()
        self._tails = TentativeWords()
        self._mark = RowMark()
        self._unpainted: dict[int, int] = {}  # utterances with what no screen shows yet -> keys
        self._waiting: tuple[UtteranceView, ...] = ()
        self._forgotten: tuple[UtteranceView, ...] = ()  # for whoever takes a new session back
        self._is_loading = self._starts_over = False
        library = AdapterLibrary(settings.data_folder / "adapters", bundled_adapters())
        self.desk = AdapterService(library, self)
        self.adapter_dialog = AdapterDialog(self.desk, window)
        self.adapters = AdapterChoice(settings, chosen, self.desk, self.adapter_dialog, bridge)
        now = chosen.now.translation
        self._translation = TranslationSettings(
            target_language=settings.language or now.language,
            policy=settings.policy or now.policy,
        )
        window.controls.show_policy(self._translation.policy)
        self._connect()

    def finish(self) -> None:
        """End the line that is typed, and hold nothing back any more."""
        self._window.typed_line.finish()
        self._bridge.pause(paused=False)

    @property
    def is_busy(self) -> bool:
        """Whether words wait for a model that is being loaded; one that is fetched takes longer."""
        return self._is_loading and self._bridge.has_waiting_words

    def close(self, patience_s: float = 0.0) -> None:
        """End the session and what is done with adapters.

        Args:
            patience_s: how long the session may translate what it was told.
        """
        self.adapter_dialog.close()
        self._bridge.finish(patience_s)
        self.desk.close()

    def _connect(self) -> None:
        window, controls, bridge = self._window, self._window.controls, self._bridge
        window.painted.connect(self._load)
        window.banner.retry_clicked.connect(self._load)
        window.typed_line.words_changed.connect(lambda words: bridge.send(SetWords(words)))
        window.typed_line.words_changed.connect(window.transcript.follow)
        window.typed_line.finished.connect(lambda: bridge.send(EndPassage()))
        controls.language_chosen.connect(self._choose_language)
        controls.policy_chosen.connect(self._choose_policy)
        controls.pause_toggled.connect(self._pause)
        window.menu_actions.new_session.triggered.connect(self._begin_session)
        controls.adapters_clicked.connect(self.adapter_dialog.open_list)
        window.menu_actions.adapters.triggered.connect(self.adapter_dialog.open_list)
        bridge.event_came.connect(self._take_event)
        bridge.waiting_changed.connect(self._show_waiting)

    def mark(self, key: int) -> None:
        """Keep with the session that the person marked the row with this key."""
        cue = self._mark.cue_of(key)
        waiting = next((view for view in self._waiting if view.key == key), None)
        if cue is not None:
            self._keeper.mark(cue)
        elif waiting is not None:
            self._mark.await_text(waiting.lane, waiting.source)

    def translate_by(self, policy: str) -> None:
        """Translate by another policy from the next passage on."""
        self._translate(replace(self._translation, policy=policy))

    def translate_into(self, language: str, *, now: bool = True) -> None:
        """Translate into another language from the next passage on.

        Args:
            language: code of the language.
            now: also by the model that translates until another one is loaded.
        """
        translation = replace(self._translation, target_language=language)
        if now:
            self._translate(translation)
        else:
            self._translation = translation

    def use_glossary(self, terms: tuple[tuple[str, str], ...]) -> None:
        """Tell the model of these terms from the next passage on."""
        self._translate(replace(self._translation, glossary=terms))

    @property
    def language(self) -> str:
        """Code of the language of the captions."""
        return self._translation.target_language

    def as_arguments(self) -> list[str]:
        """Say on a command line what translates now, and how."""
        model = self._settings.model or self._chosen.now.model
        used = self.adapters.used
        folder = self._settings.adapter or (self.desk.folder_of(used) if used else None)
        return [
            *([] if model is None else ["--model", str(model)]),
            *("--adapter", str(folder) if used and folder else NO_ADAPTER),
            *("--to", self._translation.target_language, "--policy", self._translation.policy),
            *("--device", self._settings.device),
        ]

    def _translate(self, translation: TranslationSettings) -> None:
        if translation != self._translation:
            self._translation = translation
            self._bridge.send(Configure(translation))
            self.adapters.suit(translation)

    def start_over(self) -> None:
        """Load the model that is chosen now; one that is just being loaded is waited for first.

        Nothing can stop that half-way, and the window must not stand still for so long.
        """
        if self._is_loading:
            self._starts_over = True
        else:
            self._load()

    def _follow_loading(self, event: Event) -> bool:
        """Take how far loading is; tell whether another model took the place of this one."""
        match event:
            case LoadProgress():
                self._is_loading = not event.stage.startswith(_FETCHING)
            case Ready() | Failed():
                self._is_loading = False
        if self._is_loading or not self._starts_over:
            return False
        self._starts_over = False
        self._load()
        return True

    @Slot()
    def _load(self) -> None:
        directory = self._settings.model or self._chosen.now.model
        if directory is None:
            bundled = bundled_models()
            if not bundled:
                self._fail(
                    self.tr(
                        "No model comes with this copy of Surtitle; start it with --model FOLDER"
                    )
                )
                return
            directory = bundled[0]
        library, name = self._settings.data_folder / "models", hub_name(directory)
        if name:
            directory = library
        self.desk.use_model(library / name.replace("/", "--") if name else directory)
        self._offer_languages(directory)
        self._captions.restart()
        self._tails.restart()
        self._unpainted.clear()
        self._keeper.restart()
        self._bridge.stop()
        self.restarted.emit()
        self._show_captions()
        self._is_loading = True
        self._window.status.show_state(self.tr("Loading"))
        self._window.banner.show_progress(self.tr("Starting the translation engine"), None)
        model = ModelSettings(directory=directory, hub_name=name, device=self._settings.device)
        self._bridge.start(model, replace(self._translation, glossary=()))

    def _offer_languages(self, directory: Path) -> None:
        """Offer what the model's card lists, before the model itself is loaded."""
        try:
            card = read_card(directory)
        except ModelError:
            return  # the session says it, in the same words
        languages = {code: language.name for code, language in card.languages.items()}
        wanted = self._translation.target_language
        if wanted not in languages:
            code, name = next(iter(languages.items()))
            self._translation = replace(self._translation, target_language=code)
            told = self.tr("The model {} does not know {!r}; the captions are in {}")
            self._window.banner.show_notice(told.format(card.name, wanted, name))
        self._window.controls.show_languages(languages, self._translation.target_language)

    @Slot(object)
    def _take_event(self, event: Event) -> None:
        if not self._follow_loading(event):  # else of a model that nobody wants any more
            self._take(event)

    def _take(self, event: Event) -> None:
        window = self._window
        match event:
            case LoadProgress():
                window.banner.show_progress(event.stage, event.fraction)
            case Ready():
                self._show_ready(event)
            case AdapterChanged():
                self._show_adapter(event)
            case Failed():
                self._fail(event.message)
            case Refused() | Notice():
                window.banner.show_notice(event.message)
                self.adapter_dialog.show_refusal(event.message)
            case Statistics():
                window.status.show_statistics(event)
            case _:
                self._follow(event)

    def _follow(self, event: Event) -> None:
        """Take what happens to an utterance."""
        if isinstance(event, NotTranslated):
            told = self.tr("This does not look like English, and is not translated: {}")
            source = shorten(event.source, _SHOWN, placeholder=" …")
            self._window.banner.show_offer(told.format(source), "", _STRANGE)
        elif isinstance(event, CaptionChanged):
            self._window.banner.withdraw(_STRANGE)
        self._keeper.take(event, self._translation.target_language)
        self._tails.take(event)
        if self._captions.apply(event) | self._place_tails():
            self._note_unpainted(event)
            self._show_captions()
        self._follow_mark(event)

    def _follow_mark(self, event: Event) -> None:
        """Note which cue a new row is; bring the mark from words that waited to their row."""
        if not isinstance(event, UtteranceOpened | UtteranceEnded):
            return
        key, cue = self._captions.key_of(event.utterance), self._keeper.key_of(event.utterance)
        if key is None or cue is None:
            return
        self._mark.tell(key, cue)
        rows = self._window.transcript.rows.views
        row = next(row for row in range(len(rows) - 1, -1, -1) if rows[row].key == key)
        if isinstance(event, UtteranceEnded) and self._mark.is_awaited(
            rows[row].lane, rows[row].source
        ):
            self._window.transcript.mark_row(row)
            self.mark(key)

    def _show_ready(self, event: Ready) -> None:
        window = self._window
        window.banner.show_loaded()
        window.status.show_ready(event)
        for notice in event.notices:
            window.banner.show_notice(notice)
        window.controls.show_languages(event.languages, self._translation.target_language)
        if self._translation.glossary:  # one that is too long must not stop the model from loading
            self._bridge.send(Configure(self._translation))
        self.adapters.begin(self._translation)

    def _show_adapter(self, event: AdapterChanged) -> None:
        self.adapters.take(event)
        self.adapter_dialog.show_loaded(event)
        self._window.controls.show_adapter(event.used)
        chosen = self._translation.target_language
        self._window.controls.show_languages(event.languages, chosen)

    def _fail(self, message: str) -> None:
        self._window.status.show_state(self.tr("Stopped"))
        self._window.banner.show_failure(message)

    @Slot(object)
    def take_words(self, command: FeedWords | EndPassage) -> None:
        """Translate words that were heard in a lane."""
        if isinstance(command, FeedWords):
            self._tails.feed(command.lane, len(command.words))
        self._bridge.send(command)

    @Slot(str, tuple)
    def show_tail(self, lane: str, words: tuple[str, ...]) -> None:
        """Show the words of a lane that may still change, behind those that are certain."""
        self._tails.hold(lane, words)
        if self._place_tails():
            self._show_captions()

    def take_times(self, utterance: int, words: Sequence[FedWord]) -> None:
        """Take when an utterance that was heard was said, by ``time.monotonic``."""
        first, last = words[0], words[-1]
        if first.spoken_at_s is not None and last.spoken_at_s is not None:
            begun_at_s = first.spoken_at_s - (first.end_s - first.start_s)
            self._keeper.place(utterance, begun_at_s, last.spoken_at_s)

    def _place_tails(self) -> bool:
        """Show the tails that may be shown; tell whether there are any."""
        tails = self._tails.release()
        for lane, words in tails.items():
            self._captions.set_tail(lane, words)
        return bool(tails)

    @Slot(tuple)
    def take_painted(self, keys: tuple[int, ...]) -> None:
        """Take that utterances stand on a screen as they are now."""
        seen = [number for number, key in self._unpainted.items() if key in keys]
        for number in seen:
            del self._unpainted[number]
            self.caption_painted.emit(number)

    def _note_unpainted(self, event: Event) -> None:
        if isinstance(event, CaptionChanged | UtteranceEnded):
            key = self._captions.key_of(event.utterance)
            if key is not None:
                self._unpainted[event.utterance] = key
                while len(self._unpainted) > _UNPAINTED:
                    del self._unpainted[next(iter(self._unpainted))]

    def _show_captions(self) -> None:
        views = self._captions.views
        self._window.transcript.show_views(views + self._waiting)
        self.captions_changed.emit(views)

    @Slot(tuple)
    def _show_waiting(self, texts: tuple[tuple[str, str], ...]) -> None:
        """Show what waits for the model or the end of the pause below the others."""
        n_words = Counter[str]()
        for lane, text in texts:
            n_words[lane] += len(text.split())
        self._tails.wait(n_words)
        waiting = tuple(
            UtteranceView(key=-number, source=text, lane=lane)
            for number, (lane, text) in enumerate(texts, start=1)
        )
        if self._place_tails() or waiting != self._waiting:
            self._waiting = waiting
            self._show_captions()

    @Slot(str)
    def _choose_language(self, code: str) -> None:
        self.translate_into(code)
        self.language_changed.emit(code)
        now = self._chosen.now
        translation = replace(now.translation, language=code)
        self._chosen.choose(replace(now, translation=translation))

    @Slot(str)
    def _choose_policy(self, policy: str) -> None:
        self.translate_by(policy)
        now = self._chosen.now
        self._chosen.choose(replace(now, translation=replace(now.translation, policy=policy)))

    @Slot(bool)
    def _pause(self, paused: bool) -> None:  # noqa: FBT001  what the signal carries
        if paused:
            self._window.typed_line.finish()  # what was begun is translated to its end
        self._bridge.pause(paused=paused)
        self._window.status.show_paused(paused=paused)

    @Slot()
    def _begin_session(self) -> None:
        """Empty the transcript; the banner offers to take that back."""
        self._window.typed_line.finish()
        views = self._captions.views + self._waiting
        if not views:
            return
        self._forgotten = views
        self._bridge.send(Clear())
        self._captions.clear()
        self._mark.forget()
        self._keeper.clear()
        self._window.status.show_no_backlog()
        self._show_captions()
        told = self.tr("A new session has begun")
        self._window.banner.show_offer(told, self.tr("&Undo"), _UNDO)

    @Slot(str)
    def take_offer(self, name: str) -> None:
        """Bring back what a new session took away, if that is what the banner offered."""
        if name == _UNDO:
            self._captions.bring_back(self._forgotten)
            self._forgotten = ()
            self._keeper.bring_back()
            self._show_captions()
