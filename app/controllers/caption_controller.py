"""Connects typed, heard and corrected words, the session and the captions.

It owns the caption model and connects it with the transcript, the bridge and the history.
"""

from collections.abc import Sequence
from functools import partial
from textwrap import shorten

from PySide6.QtCore import QLocale, QObject, Signal, Slot
from PySide6.QtWidgets import QLineEdit

from app.captions.journal import PastSession
from app.captions.model import Captions, EpochClock, UtteranceView
from app.config.preferences import CORRECTED, with_sign
from app.config.settings_in_force import SettingsInForce
from app.config.translations import worded_note
from app.controllers.tools import GlossaryController
from app.dialogs.sessions import views_of
from app.look.widgets.names import language_name
from app.main_window.banner import Offer
from app.main_window.input_line import LONGEST_TEXT
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from app.session.history_writer import HistoryWriter
from engine.events import (
    CaptionChanged,
    Clear,
    EndPassage,
    Event,
    FedWord,
    NotTranslated,
    Skip,
    UtteranceEnded,
    n_same_ends,
    text_of,
)
from engine.speech.events import Heard, LeftOut, TailChanged
from engine.speech.hypothesis import same_word_key
from engine.text.sentences import SourceLanguage
from engine.utterances import Utterance

_UNDO, _UNDO_DELETION = "undo new session", "undo deletion"
_STRANGE, _TOO_LONG, _OTHER_LANGUAGE = "not translated", "too long", "other language"
# all five are notices in the banner
_SHOWN = 40  # characters of a text in a notice
_ALWAYS = "always write"  # a topic of the banner
_MOST_WORDS = 3  # of a name


class CaptionController(QObject):
    """Show and store the captions of the session, and send it typed and heard words.

    Signals:
        captions_changed(tuple of UtteranceView): the current captions.
        caption_painted(Utterance): its caption was painted.
        cleared(): the user started a new session; no words wait.
        unfinished(int, str): a row of a session that is continued, and its words, which have no
            caption: it ended before.
    """

    captions_changed = Signal(tuple)
    caption_painted = Signal(object)
    cleared = Signal()
    unfinished = Signal(int, str)

    def __init__(
        self,
        settings: SettingsInForce,
        bridge: EngineBridge,
        writer: HistoryWriter,
        window: MainWindow,
    ) -> None:
        super().__init__(window.transcript)
        self._settings = settings
        self._bridge = bridge
        self._writer = writer
        transcript, typed_line = window.transcript, window.typed_line
        self._transcript, self._typed_line, self._banner = transcript, typed_line, window.banner
        self._undo_action = window.menu_actions.undo
        self._epoch_s = EpochClock()
        self._captions = Captions(bridge.utterances, epoch_s=self._epoch_s, note_of=worded_note)
        self._waiting: tuple[UtteranceView, ...] = ()
        # what can be undone, the newest last: names of offers, rows with their places before
        self._undoable: list[tuple[str, list[tuple[int, UtteranceView]]]] = []
        self._spoken: dict[tuple[str, str], SourceLanguage] = {}  # by lane and expected language
        self._told_other_language = False  # in this session
        self._is_behind = False  # captions have changed since they were shown
        typed_line.words_changed.connect(bridge.type_words)
        typed_line.words_changed.connect(transcript.follow)
        typed_line.lines_pasted.connect(bridge.type_lines)
        typed_line.lines_pasted.connect(transcript.follow)
        typed_line.finished.connect(lambda: bridge.send(EndPassage()))
        typed_line.inputRejected.connect(self._explain_limit)
        typed_line.textChanged.connect(self._tell_undo)
        transcript.painted.connect(self.take_painted)
        transcript.mark_wanted.connect(self.mark)
        transcript.delete_wanted.connect(self._delete)
        bridge.event_came.connect(self._take_event)
        bridge.utterance_changed.connect(self._follow)
        bridge.waiting_changed.connect(self._show_waiting)
        bridge.turn_ended.connect(self._show_turn)
        actions, status = window.menu_actions, window.status
        actions.pause.toggled.connect(self.pause)
        actions.new_session.triggered.connect(self.begin_session)
        actions.undo.triggered.connect(self.undo)
        actions.mark.triggered.connect(transcript.mark)
        actions.go_to_mark.triggered.connect(lambda: transcript.go_to_mark(1))
        actions.go_to_mark_before.triggered.connect(lambda: transcript.go_to_mark(-1))
        bridge.paused_changed.connect(status.show_paused)
        status.skip.clicked.connect(lambda: bridge.send(Skip()))
        self.cleared.connect(lambda: status.show_backlog(0))

    def finish(self) -> None:
        """End the input line and any pause."""
        self._typed_line.finish()
        self._bridge.pause(paused=False)

    @Slot()
    def restart(self) -> None:
        self._captions.restart()
        self._show_captions()

    @Slot()
    def _explain_limit(self) -> None:
        text = self.tr(
            "The line takes {} characters at once, so the end of the text was left out; paste it "
            "next, or translate a whole file in the terminal with: surtitle translate FILE"
        )
        self._banner.show_offer(text.format(QLocale().toString(LONGEST_TEXT)), _TOO_LONG)

    @Slot(int)
    def mark(self, key: int) -> None:
        """Set the bookmark of a row, or remove it; the history stores that."""
        is_marked = self._captions.mark(key)
        if is_marked is not None:
            self._writer.mark(key, marked=is_marked)
            self._show_captions()

    @Slot(tuple)
    def _delete(self, keys: tuple[int, ...]) -> None:
        """Delete complete rows from transcript, journal and export; the banner offers to undo."""
        removed = self._captions.remove(keys)
        if removed:
            self._undoable.append((_UNDO_DELETION, removed))
            self._tell_undo()
            self._writer.remove(view.key for _, view in removed)
            self._show_captions()
            text = self.tr("Deleted from the transcript and from the kept session")
            self._banner.show_answer(text, _UNDO_DELETION, self._way_back(_UNDO_DELETION))

    def correct(self, key: int, source: str, utterances: Sequence[Utterance] = ()) -> str | None:
        """Show a corrected row, and keep it once its utterances are complete.

        Returns:
            its source before; None if there is no such row any more.
        """
        before = self._captions.correct(key, source, utterances)
        if before is None:
            return None
        if utterances:
            self._writer.correct(key, source, utterances)
        self._show_captions()
        return before.source

    @Slot(object)
    def _take_event(self, event: Event) -> None:
        if isinstance(event, NotTranslated):
            text = self.tr("This does not look like English, and is not translated: {}")
            source = shorten(event.source, _SHOWN, placeholder=" …")
            self._banner.show_offer(text.format(source), _STRANGE)
        elif isinstance(event, CaptionChanged) and not event.language:
            self._banner.withdraw(_STRANGE)
        if self._captions.release_tails():
            self._show_with_turn()

    @Slot(object, object)
    def _follow(self, event: Event, utterance: Utterance) -> None:
        self._writer.take(event, utterance)
        if not self._captions.apply(event, utterance):
            return
        self._show_with_turn()
        if isinstance(event, UtteranceEnded) and not event.language:
            self._notice_language(utterance)
            self._announce(utterance)

    def _announce(self, utterance: Utterance) -> None:
        """Let screen readers say a finished caption, with the sign where it is doubtful."""
        if self._settings.preferences.captions.announced:
            is_doubtful = utterance.confidence is not None and utterance.confidence.is_low
            caption = with_sign(utterance.caption) if is_doubtful else utterance.caption
            self._transcript.announce(utterance.lane, caption)

    def _notice_language(self, utterance: Utterance) -> None:
        """Report once a session that what is said is in another language than is translated."""
        expected = utterance.languages[0]
        key = utterance.lane, expected
        other = self._spoken.setdefault(key, SourceLanguage(expected)).feed(
            [word.text for word in utterance.words]
        )
        if other is None or self._told_other_language or not self._settings.translates:
            return
        self._told_other_language = True
        text = self.tr(
            "This looks like {other}, but captions are translated from {expected}, so they may "
            "make no sense; go on in {expected}, or choose No translation"
        )
        names = {"other": language_name(other), "expected": language_name(expected)}
        self._banner.show_offer(text.format(**names), _OTHER_LANGUAGE)

    @Slot(object)
    def take_heard(self, event: Heard) -> None:
        if isinstance(event, LeftOut):
            key = self._bridge.utterances.new_key()
            self._writer.leave_out(event, key)
            if self._captions.leave_out(event, key):
                self._show_captions()
        if isinstance(event, TailChanged) and self._captions.set_tail(
            event.lane, event.words, event.after
        ):
            self._show_captions()

    @Slot(tuple)
    def take_painted(self, keys: tuple[int, ...]) -> None:
        """Record that utterances were painted in their current state."""
        for utterance in self._bridge.utterances.unshown:
            if utterance.key in keys:
                self.caption_painted.emit(utterance)

    def _show_with_turn(self) -> None:
        """Show the captions once all events of a turn are taken: showing takes longer."""
        self._is_behind = True
        if not self._bridge.is_in_turn:
            self._show_captions()

    @Slot()
    def _show_turn(self) -> None:
        if self._is_behind:
            self._show_captions()

    def _show_captions(self) -> None:
        self._is_behind = False
        views = self._captions.readable
        self._transcript.show_views(views + self._waiting)
        self.captions_changed.emit(views)

    @Slot(tuple)
    def _show_waiting(self, rows: tuple[tuple[str, tuple[FedWord, ...]], ...]) -> None:
        waiting = tuple(
            UtteranceView(
                key=-number,
                source=text_of(words),
                lane=lane,
                begun_s=self._epoch_s(words[0].committed_at_s),
            )
            for number, (lane, words) in enumerate(rows, start=1)
        )
        newest = {lane: words[-1].number for lane, words in rows}
        if self._captions.note_waiting(newest) or waiting != self._waiting:
            self._waiting = waiting
            self._show_captions()

    @Slot(bool)
    def pause(self, paused: bool) -> None:  # noqa: FBT001  what the signal carries
        if paused:
            self._typed_line.finish()  # what was begun is translated to its end
        self._bridge.pause(paused=paused)

    @Slot()
    def begin_session(self) -> None:
        """Clear the transcript; the banner offers to undo that."""
        self._typed_line.finish()
        views = self._captions.views + self._waiting
        if not views:
            return
        is_lost = self._writer.cannot_be_stored
        self._writer.clear()  # first, for it keeps what is not complete
        self._drop_all()
        self._undoable.append((_UNDO, list(enumerate(views))))
        self._tell_undo()
        if is_lost:
            text = self.tr(
                "New session started; the one before could not be saved: undo to export it"
            )
            self._banner.show_offer(text, _UNDO, self._way_back(_UNDO))
        else:
            text = self.tr("New session started")
            self._banner.show_answer(text, _UNDO, self._way_back(_UNDO))

    @Slot(object)
    def resume(self, session: PastSession) -> None:
        """Continue an earlier session in place of the running one, if that one is kept."""
        self._typed_line.finish()
        if self._captions.views and not self._writer.is_stored:
            text = self.tr("Start a new session first: the captions of this one are not saved")
            self._banner.show_notice(text)
            return
        keys = self._writer.resume(session)
        self._drop_all()
        self._banner.withdraw(_UNDO)
        self._captions.bring_back(views_of(session.cues, session.started, keys))
        self._show_captions()
        for key, cue in zip(keys, session.cues, strict=True):
            languages = cue.source_language, cue.language
            if cue.source and not cue.text.strip() and languages == self._settings.languages:
                self.unfinished.emit(key, cue.source)

    def _drop_all(self) -> None:
        """Drop all captions and words; what they were is kept by now."""
        self._banner.withdraw(_UNDO_DELETION)
        self._undoable.clear()
        self._tell_undo()
        self._bridge.send(Clear())
        self._captions.clear()
        self._banner.withdraw(_OTHER_LANGUAGE)
        self._spoken.clear()
        self._told_other_language = False
        self._show_captions()
        self.cleared.emit()

    @Slot()
    def _tell_undo(self) -> None:
        self._undo_action.setEnabled(bool(self._undoable) or self._typed_line.isUndoAvailable())

    @Slot()
    def undo(self) -> None:
        """Undo typing in the field that has the focus, or else the newest of what was offered."""
        field = self._typed_line.window().focusWidget()
        if isinstance(field, QLineEdit) and field.isUndoAvailable():
            field.undo()
        elif self._undoable:
            name, _ = self._undoable[-1]
            self._banner.withdraw(name)
            self._undo(name)

    def _way_back(self, name: str) -> Offer:
        return self.tr("&Undo"), partial(self._undo, name)

    def _undo(self, name: str) -> None:
        """Undo what is undoable by this name, and what came after it."""
        newest, rows = self._undoable.pop()
        while newest != name:  # a deletion since the new session, which stays
            self._banner.withdraw(newest)
            newest, rows = self._undoable.pop()
        if name == _UNDO:
            self._captions.bring_back([view for _, view in rows])
            self._writer.bring_back()
        else:
            self._captions.put_back(rows)
            self._writer.put_back(view.key for _, view in rows)
        self._tell_undo()
        self._show_captions()


class CorrectionController(QObject):
    """Translate what was corrected, and offer to write a name so from now on."""

    def __init__(
        self,
        bridge: EngineBridge,
        captions: CaptionController,
        glossary: GlossaryController,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self._bridge, self._captions = bridge, captions
        self._glossary, self._banner = glossary, window.banner
        self._texts: dict[int, str] = {}  # by key of a row
        self._numbers: dict[int, frozenset[int]] = {}  # of the words that it has now, likewise
        self._utterances: dict[int, dict[int, Utterance]] = {}  # by key and number of a first word
        window.transcript.corrected.connect(self._correct)
        bridge.apart_changed.connect(self._follow)
        captions.cleared.connect(self._forget)
        captions.unfinished.connect(self._translate)

    @Slot(int, str)
    def _correct(self, key: int, text: str) -> None:
        words = text.split()
        text = " ".join(words)
        before = self._captions.correct(key, text) if words else None
        if before is None or before == text:
            return
        self._translate(key, text)
        self._offer(before.split(), words)

    @Slot(int, str)
    def _translate(self, key: int, text: str) -> None:
        self._texts[key], self._utterances[key] = text, {}
        self._numbers[key] = self._bridge.correct(text.split())

    @Slot(object, object)
    def _follow(self, event: Event, utterance: Utterance) -> None:
        if utterance.lane != CORRECTED or not isinstance(event, UtteranceEnded):
            return
        said = {word.number for word in utterance.words}
        key = next((key for key, numbers in self._numbers.items() if said & numbers), None)
        if key is None:  # it was corrected once more
            return
        found = self._utterances[key]
        found[min(said)] = utterance
        ended = [one for _, one in sorted(found.items()) if one.ended]
        if self._numbers[key] <= {word.number for one in ended for word in one.words}:
            self._captions.correct(key, self._texts[key], ended)

    @Slot()
    def _forget(self) -> None:
        self._texts.clear()
        self._numbers.clear()
        self._utterances.clear()
        self._banner.withdraw(_ALWAYS)

    def _offer(self, before: list[str], words: list[str]) -> None:
        """Offer to keep this spelling from now on, if these are as few words as in a name."""
        n_head, n_tail = n_same_ends(before, words)
        fresh = " ".join(words[n_head : len(words) - n_tail]).strip('.,;:!?…"“”„')
        wrong = before[n_head : len(before) - n_tail]
        if not wrong or not fresh or len(fresh.split()) > _MOST_WORDS:
            return
        if same_word_key(fresh) == same_word_key(" ".join(wrong)):
            return
        text = self.tr("Always write “{}”?").format(fresh)
        add = partial(self._glossary.add_name, fresh)
        self._banner.show_offer(text, _ALWAYS, (self.tr("&Always"), add), passes=True)
