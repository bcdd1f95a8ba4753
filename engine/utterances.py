"""The utterances of a session, each the sum of its events. Plain Python: no clock, no thread."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.events import (
    AdapterChanged,
    CaptionChanged,
    Cleared,
    Confidence,
    Event,
    FedWord,
    FurtherCaptionLeftOut,
    Ready,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
    text_of,
)

_OF_UTTERANCES = (
    SourceChanged | CaptionChanged | UtteranceEnded | FurtherCaptionLeftOut | UtteranceDropped
)
"""The events about one that was opened before."""


@dataclass(slots=True, kw_only=True)
class Caption:
    """A caption of an utterance; only the tracker changes it.

    Attributes:
        left_out: it is made up for later; never the first.
        pieces: each change of the caption: its length in characters, and the words it is based on.
        confidence: of the complete caption; None if it is not known.
    """

    caption: str = ""
    left_out: bool = False
    pieces: list[tuple[int, int]] = field(default_factory=list)
    ended: bool = False
    confidence: Confidence | None = None

    def grow(self, kept: int, text: str, n_read: int) -> None:
        """Append to the part of the caption that stays.

        Raises:
            ValueError: more is to stay than there is.
        """
        if kept > len(self.caption):
            msg = f"{kept} characters were to stay of a caption that has {len(self.caption)}"
            raise ValueError(msg)
        self.caption = self.caption[:kept] + text
        before = [piece for piece in self.pieces if piece[0] <= kept]
        self.pieces = [*before, (len(self.caption), n_read)]
        self.ended, self.confidence, self.left_out = False, None, False

    def end(self, confidence: Confidence | None) -> None:
        self.ended, self.confidence, self.left_out = True, confidence, False


@dataclass(slots=True, kw_only=True)
class Utterance(Caption):
    """The current state of an utterance, and its first caption; only the tracker changes it.

    Attributes:
        key: unique while the program runs.
        number: its number in the session; another session starts from 0 again. Below 0 for one of
            before that a further language has still to make up for.
        lane: the speaker, if there are two.
        languages: codes of those of its source and of its caption.
        before_key: key of the utterance that followed it when it was opened; None: it was the last.
        begun_at_s: start of its first word, never before the end of the utterance before it in its
            lane; when the word was first typed, if it is typed.
        captioned_at_s: when each of its first words got its caption.
        new_captioned: the words that got their caption by the last event.
        further: its captions in further languages, by their codes.
        wanted: codes of those that it is to have.
        made_by: names of the model, its adapter and its policy, as far as they are known.
    """

    key: int
    number: int
    lane: str
    languages: tuple[str, str] = ("", "")
    before_key: int | None
    begun_at_s: float
    words: tuple[FedWord, ...] = ()
    captioned_at_s: list[float] = field(default_factory=list)
    new_captioned: Sequence[FedWord] = ()
    further: dict[str, Caption] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()
    made_by: str = ""
    _n_shown: int = 0
    _is_cleared: bool = False

    @property
    def source(self) -> str:
        return text_of(self.words)

    @property
    def said_until_s(self) -> float | None:
        """End of its last word; None if it is typed."""
        return self.words[-1].spoken_at_s if self.words else None

    @property
    def owed(self) -> list[str]:
        """Codes of the further languages that are behind its own, which is complete."""
        complete = {code for code, one in self.further.items() if one.ended}
        return sorted(self.wanted - complete) if self.ended else []

    def take_shown(self) -> list[tuple[FedWord, float]]:
        """Note that the caption was painted; return the new words, and when each was captioned."""
        n_before, self._n_shown = self._n_shown, len(self.captioned_at_s)
        new = slice(n_before, self._n_shown)
        return list(zip(self.words[new], self.captioned_at_s[new], strict=True))

    def _take(self, event: Event, now_s: float) -> None:
        self.new_captioned = ()
        match event:
            case SourceChanged(words=words):
                self._set_words(words)
            case CaptionChanged(language="", kept=kept, text=text, n_read=n_read):
                self.grow(kept, text, n_read)
                self._note_captioned(n_read, now_s)
            case UtteranceEnded(language="", confidence=confidence):
                self.end(confidence)
                self._note_captioned(len(self.words), now_s)
            case CaptionChanged(language=code, kept=kept, text=text, n_read=n_read):
                self._in(code).grow(kept, text, n_read)
            case UtteranceEnded(language=code, confidence=confidence):
                self._in(code).end(confidence)
            case FurtherCaptionLeftOut(language=code):
                self._in(code).left_out = True

    def _in(self, code: str) -> Caption:
        return self.further.setdefault(code, Caption())

    def _set_words(self, words: tuple[FedWord, ...]) -> None:
        self.words, self.ended, self.confidence = words, False, None
        for one in self.further.values():
            one.ended = False
        del self.captioned_at_s[len(words) :]
        self._n_shown = min(self._n_shown, len(self.captioned_at_s))
        if words and words[0].spoken_at_s is not None:
            self.begun_at_s = words[0].begun_at_s
        elif words:  # a correction keeps the start
            self.begun_at_s = min(self.begun_at_s, words[0].begun_at_s)

    def _note_captioned(self, n_read: int, now_s: float) -> None:
        self.new_captioned = self.words[len(self.captioned_at_s) : n_read]
        self.captioned_at_s += [now_s] * len(self.new_captioned)


class UtteranceTracker:
    """Feed it every event of a session, and of those after.

    ``policy``: of utterances that are opened from now on, as the engine writes it.
    """

    def __init__(self, *, n_ended_kept: int = 1000) -> None:
        """Start empty; the newest ``n_ended_kept`` ended utterances can still change.

        So can those that a further language has still to make up for.
        """
        self._n_ended_kept = n_ended_kept
        self._utterances: dict[int, Utterance] = {}  # by number, in the order they were opened
        self._wanted = frozenset[str]()  # further languages
        self.policy = ""
        self._model: tuple[str, ...] = ()  # its name, and that of its adapter
        self._n_owed = 0  # utterances of before, so far
        self._newest: dict[str, int] = {}  # by lane
        self._next_key = 0
        self._spares: str | None = None  # the lane that no clearing is about
        self._n_clearing = 0  # times that the session has yet to clear its words

    def new_key(self) -> int:
        self._next_key += 1
        return self._next_key - 1

    def newest(self, lane: str) -> int:
        """Return the number of the newest heard word of a lane; 0 before the first."""
        return self._newest.get(lane, 0)

    @property
    def open(self) -> list[Utterance]:
        return [one for one in self._utterances.values() if not (one.ended or one._is_cleared)]

    @property
    def ended(self) -> list[Utterance]:
        """The utterances whose translation is complete, of the newest."""
        return [one for one in self._utterances.values() if one.ended]

    @property
    def owing(self) -> list[Utterance]:
        """The utterances that are complete but for a further language."""
        return [one for one in self._utterances.values() if one.owed]

    @property
    def owing_of_before(self) -> list[Utterance]:
        """The utterances of earlier sessions that are owed, which this one does not know."""
        return [one for one in self.owing if one.number < 0]

    def want(self, languages: Iterable[str]) -> None:
        """Follow in which further languages utterances are to be captioned from now on."""
        self._wanted = frozenset(languages)
        for utterance in self._utterances.values():
            utterance.wanted &= self._wanted
            for code, one in utterance.further.items():  # nothing more comes of those that are gone
                one.left_out &= code in self._wanted

    def n_left_out(self, language: str) -> int:
        """Count the utterances that a further language has still to make up for."""
        every = (one for one in self._utterances.values() if not one._is_cleared)
        return sum(language in one.further and one.further[language].left_out for one in every)

    @property
    def unshown(self) -> list[Utterance]:
        """The utterances with captioned words that were not painted yet."""
        return [one for one in self._utterances.values() if one._n_shown < len(one.captioned_at_s)]

    def __getitem__(self, number: int) -> Utterance:
        return self._utterances[number]

    def with_key(self, key: int) -> Utterance | None:
        """Return the utterance with a key, if it can still change."""
        newest_first = reversed(self._utterances.values())
        return next((one for one in newest_first if one.key == key), None)

    def take(self, event: Event, now_s: float) -> Utterance | None:
        """Take an event of the session; return its utterance, or None.

        None for events without an utterance, and for utterances that were cleared or forgotten.

        Raises:
            ValueError: the event keeps more of a caption than there is.
        """
        if isinstance(event, UtteranceOpened):
            return self._open(event, now_s)
        if not isinstance(event, _OF_UTTERANCES):
            self._follow_session(event)
            return None
        utterance = self._utterances.get(event.utterance)
        if utterance is None:
            return None
        utterance._take(event, now_s)
        match event:
            case SourceChanged(words=(*_, last)):
                self._newest[utterance.lane] = max(self.newest(utterance.lane), last.number)
                self._begin_after_the_one_before(utterance)
            case UtteranceEnded():
                self._forget_oldest()
            case UtteranceDropped():
                del self._utterances[event.utterance]
        return None if utterance._is_cleared else utterance

    def clear(self, *, session_too: bool = False, spares: str | None = None) -> None:
        """Forget the current utterances, but for those that further languages owe.

        Args:
            spares: the lane whose utterances stay; None for none.
            session_too: the session clears its words, too: utterances that it opens until then, of
                words that were on their way, are not returned either.
        """
        self._n_clearing += session_too
        self._spares = spares
        for utterance in self._utterances.values():
            utterance._is_cleared |= utterance.lane != spares
        self._number_owing()

    def take_up(self, owing: Iterable[Utterance]) -> None:
        """Follow utterances of an earlier session that further languages have to make up for."""
        for utterance in owing:
            self._n_owed += 1
            utterance.number = -self._n_owed
            self._utterances[utterance.number] = utterance

    def restart(self) -> None:
        """Prepare for another session, which numbers utterances from the start again."""
        self._number_owing()
        self._utterances = {number: one for number, one in self._utterances.items() if number < 0}
        self._n_clearing = 0

    def _number_owing(self) -> None:
        """Assign other numbers to what further languages owe; no event so far has one of these."""
        owing = self.owing
        for utterance in owing:
            del self._utterances[utterance.number]
            utterance._is_cleared = False
        self.take_up(owing)

    def _open(self, event: UtteranceOpened, now_s: float) -> Utterance | None:
        follower = None if event.before is None else self._utterances.get(event.before)
        utterance = self._utterances[event.utterance] = Utterance(
            key=self.new_key(),
            number=event.utterance,
            lane=event.lane,
            languages=event.languages,
            before_key=None if follower is None else follower.key,
            wanted=self._wanted,
            made_by=" · ".join(filter(None, (*self._model, self.policy))) if self._model else "",
            begun_at_s=now_s,
            _is_cleared=self._n_clearing > 0 and event.lane != self._spares,
        )
        return None if utterance._is_cleared else utterance

    def _follow_session(self, event: Event) -> None:
        match event:
            case Cleared():
                self._n_clearing -= 1
            case Ready(model=model):
                self._model = (model,) if model else ()
            case AdapterChanged(used=adapter):
                self._model = (*self._model[:1], adapter or "")

    def _begin_after_the_one_before(self, utterance: Utterance) -> None:
        """Keep the order of a lane: sound may have come faster than it was said."""
        newest_first = reversed(self._utterances.values())
        earlier = (one for one in newest_first if one.key < utterance.key)
        before = next((one for one in earlier if one.lane == utterance.lane), None)
        if before is not None and before.said_until_s is not None:
            utterance.begun_at_s = max(utterance.begun_at_s, before.said_until_s)

    def _forget_oldest(self) -> None:
        ended = [number for number, one in self._utterances.items() if one.ended]
        for number in ended[: -self._n_ended_kept]:
            if not any(one.left_out for one in self._utterances[number].further.values()):
                del self._utterances[number]
