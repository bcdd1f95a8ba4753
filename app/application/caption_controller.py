"""From words to captions: what is typed or heard, the session's events, and the captions they make.

It holds the caption model and joins it with the transcript, the bridge and the keeper.
"""

from collections import Counter
from textwrap import shorten

from PySide6.QtCore import QObject, Signal, Slot

from app.captions.model import Captions, UtteranceView
from app.config.settings_in_force import SettingsInForce
from app.history.history_writer import HistoryWriter
from app.main_window.banner import Banner
from app.main_window.input_line import InputLine
from app.main_window.transcript_view import Transcript
from app.session.engine_bridge import EngineBridge
from engine.commands import Clear, EndPassage, SetWords
from engine.events import CaptionChanged, Event, NotTranslated, UtteranceEnded
from engine.speech.events import Heard, TailChanged, WordsCommitted
from engine.utterances import Utterance

_UNDO, _STRANGE = "undo new session", "not translated"  # of notices in the banner
_SHOWN = 40  # characters of a text in a notice


class CaptionController(QObject):
    """Follow the session: show its captions, keep them, and send it what is typed and heard.

    Signals:
        captions_changed(tuple of UtteranceView): what stands in the captions now.
        caption_painted(Utterance): what came of it stands on a screen.
        cleared(): a new session of the person's has begun; no word waits any more.
    """

    captions_changed = Signal(tuple)
    caption_painted = Signal(object)
    cleared = Signal()

    def __init__(
        self,
        settings: SettingsInForce,
        bridge: EngineBridge,
        keeper: HistoryWriter,
        transcript: Transcript,
        typed_line: InputLine,
        banner: Banner,
    ) -> None:
        super().__init__(transcript)
        self._settings = settings
        self._bridge = bridge
        self._keeper = keeper
        self._transcript, self._typed_line, self._banner = transcript, typed_line, banner
        self._captions = Captions(bridge.utterances)
        self._awaited_mark: tuple[str, str] | None = None  # lane and text of words that wait
        self._waiting: tuple[UtteranceView, ...] = ()
        self._forgotten: tuple[UtteranceView, ...] = ()  # for whoever takes a new session back
        typed_line.words_changed.connect(lambda words: bridge.send(SetWords(words)))
        typed_line.words_changed.connect(transcript.follow)
        typed_line.finished.connect(lambda: bridge.send(EndPassage()))
        transcript.painted.connect(self.take_painted)
        banner.offer_taken.connect(self._take_offer)
        bridge.event_came.connect(self._take_event)
        bridge.utterance_changed.connect(self._follow)
        bridge.waiting_changed.connect(self._show_waiting)

    def finish(self) -> None:
        """End the line that is typed, and hold nothing back any more."""
        self._typed_line.finish()
        self._bridge.pause(paused=False)

    @Slot()
    def restart(self) -> None:
        """Make ready for another session."""
        self._captions.restart()
        self._show_captions()

    def mark(self, key: int) -> None:
        """Keep with the session that the person marked the row with this key."""
        waiting = next((view for view in self._waiting if view.key == key), None)
        self._awaited_mark = None if waiting is None else (waiting.lane, waiting.source)
        if waiting is None:
            self._keeper.mark(key)

    @Slot(object)
    def _take_event(self, event: Event) -> None:
        if isinstance(event, NotTranslated):
            told = self.tr("This does not look like English, and is not translated: {}")
            source = shorten(event.source, _SHOWN, placeholder=" …")
            self._banner.show_offer(told.format(source), "", _STRANGE)
        elif isinstance(event, CaptionChanged):
            self._banner.withdraw(_STRANGE)
        if self._captions.release_tails():
            self._show_captions()

    @Slot(object, object)
    def _follow(self, event: Event, utterance: Utterance) -> None:
        """Take what happens to an utterance."""
        self._keeper.take(event, utterance, self._settings.translation.target_language)
        if not self._captions.apply(event, utterance):
            return
        self._show_captions()
        if isinstance(event, UtteranceEnded) and has_words(utterance, self._awaited_mark):
            rows = self._transcript.rows.views
            self._transcript.mark_row([view.key for view in rows].index(utterance.key))
            self.mark(utterance.key)

    @Slot(object)
    def take_heard(self, event: Heard) -> None:
        """Take words that became certain, and those that may still change."""
        match event:
            case TailChanged(lane=lane, words=words):
                if self._captions.set_tail(lane, words):
                    self._show_captions()
            case WordsCommitted(lane=lane, words=words):
                self._bridge.utterances.feed(lane, words)

    @Slot(tuple)
    def take_painted(self, keys: tuple[int, ...]) -> None:
        """Take that utterances stand on a screen as they are now."""
        for utterance in self._bridge.utterances.unshown:
            if utterance.key in keys:
                self.caption_painted.emit(utterance)

    def _show_captions(self) -> None:
        views = self._captions.views
        self._transcript.show_views(views + self._waiting)
        self.captions_changed.emit(views)

    @Slot(tuple)
    def _show_waiting(self, texts: tuple[tuple[str, str], ...]) -> None:
        """Show what waits for the model or the end of the pause below the others."""
        n_words = Counter[str]()
        for lane, text in texts:
            n_words[lane] += len(text.split())
        waiting = tuple(
            UtteranceView(key=-number, source=text, lane=lane)
            for number, (lane, text) in enumerate(texts, start=1)
        )
        if self._captions.set_waiting(n_words) or waiting != self._waiting:
            self._waiting = waiting
            self._show_captions()

    @Slot(bool)
    def pause(self, paused: bool) -> None:  # noqa: FBT001  what the signal carries
        """Hold what is typed from now on, or go on."""
        if paused:
            self._typed_line.finish()  # what was begun is translated to its end
        self._bridge.pause(paused=paused)

    @Slot()
    def begin_session(self) -> None:
        """Empty the transcript; the banner offers to take that back."""
        self._typed_line.finish()
        views = self._captions.views + self._waiting
        if not views:
            return
        self._forgotten = views
        self._keeper.clear()  # first, for it keeps what is not complete
        self._bridge.send(Clear())
        self._captions.clear()
        self._awaited_mark = None
        self._show_captions()
        self.cleared.emit()
        told = self.tr("A new session has begun")
        self._banner.show_offer(told, self.tr("&Undo"), _UNDO)

    @Slot(str)
    def _take_offer(self, name: str) -> None:
        """Bring back what a new session took away, if that is what the banner offered."""
        if name == _UNDO:
            self._captions.bring_back(self._forgotten)
            self._forgotten = ()
            self._keeper.bring_back()
            self._show_captions()


def has_words(utterance: Utterance, awaited: tuple[str, str] | None) -> bool:
    """Tell whether an utterance has the words of a row that was marked while they waited."""
    if awaited is None or not utterance.words:
        return False
    lane, text = awaited
    source = utterance.source
    return lane == utterance.lane and (text.startswith(source) or text in source)
