"""Where each heard word stands in the translation, and how long every stage took.

Pure: no clock, no threads. Words are counted, not searched: what is committed for a lane comes back
in that lane's utterances, in the same order.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from engine.events import (
    CaptionChanged,
    Event,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.speech.events import WordsPlaced
from engine.speech.hypothesis import RecognizedWord

STAGES = ("recognised", "translated", "shown", "whole")
_REMEMBERED = 20_000  # words, two hours of speech
_ENDED_KEPT = 16  # utterances that may still be told to be shown


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedWord:
    """A word that became certain.

    Attributes:
        word: text and place on the lane's timeline.
        spoken_at_s: when its end was spoken, by the clock of all of these.
        committed_at_s: when it became certain.
    """

    word: RecognizedWord
    spoken_at_s: float
    committed_at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLag:
    """How long a stage took, over the words that were remembered.

    Attributes:
        stage: one of ``STAGES``: from spoken to committed, to its first caption, to the screen;
            and the whole way.
        n_words: that came through it.
        median_s: seconds.
        p95_s: seconds that 95 % of the words stay within.
    """

    stage: str
    n_words: int
    median_s: float
    p95_s: float


@dataclass(slots=True)
class _Utterance:
    lane: str
    words: list[CommittedWord] = field(default_factory=list)
    translated_at_s: list[float] = field(default_factory=list)  # of the first so many words
    n_shown: int = 0
    ended: bool = False


class WordTrail:
    """Follow words through a session.

    Every committed word is placed in one utterance, once; ``n_waiting`` counts those without a
    caption so far.
    """

    def __init__(self) -> None:
        self._unplaced: dict[str, deque[CommittedWord]] = {}
        self._utterances: dict[int, _Utterance] = {}
        self._n_untranslated = 0
        self._lags: dict[str, deque[float]] = {stage: deque(maxlen=_REMEMBERED) for stage in STAGES}

    @property
    def n_waiting(self) -> int:
        """Count committed words that no caption rests on yet."""
        return self._n_untranslated

    @property
    def all_ended(self) -> bool:
        """Tell whether every committed word stands in an utterance that is translated."""
        placed = not any(self._unplaced.values())
        heard = [utterance for utterance in self._utterances.values() if utterance.words]
        return placed and all(utterance.ended for utterance in heard)

    def commit(self, lane: str, words: Sequence[CommittedWord]) -> None:
        """Take words that are about to be fed to the session."""
        self._unplaced.setdefault(lane, deque()).extend(words)
        self._n_untranslated += len(words)
        for word in words:
            self._lags["recognised"].append(word.committed_at_s - word.spoken_at_s)

    def take(self, event: Event, now_s: float) -> WordsPlaced | None:
        """Take an event of the session; tell where words are placed now, if it placed any."""
        if isinstance(event, UtteranceOpened):
            self._utterances[event.utterance] = _Utterance(event.lane)
            return None
        if not isinstance(
            event, SourceChanged | CaptionChanged | UtteranceEnded | UtteranceDropped
        ):
            return None
        utterance = self._utterances.get(event.utterance)
        if utterance is None:
            return None
        match event:
            case SourceChanged(words=words):
                return self._place(event.utterance, utterance, len(words))
            case CaptionChanged(n_read=n_read):
                self._translate(utterance, n_read, now_s)
            case UtteranceEnded():
                self._translate(utterance, len(utterance.words), now_s)
                utterance.ended = True
                self._forget()
            case UtteranceDropped():
                self._n_untranslated -= len(utterance.words) - len(utterance.translated_at_s)
                del self._utterances[event.utterance]
        return None

    def shown(self, utterance: int, now_s: float) -> None:
        """Say that an utterance's caption, as far as it was told, is on the screen."""
        found = self._utterances.get(utterance)
        if found is None:
            return
        for i in range(found.n_shown, len(found.translated_at_s)):
            self._lags["shown"].append(now_s - found.translated_at_s[i])
            self._lags["whole"].append(now_s - found.words[i].spoken_at_s)
        found.n_shown = len(found.translated_at_s)

    def restart(self) -> None:
        """Take the words back that no utterance ended with: another session says them again."""
        for _, utterance in sorted(self._utterances.items(), reverse=True):
            if not utterance.ended:
                self._n_untranslated += len(utterance.translated_at_s)
                self._unplaced.setdefault(utterance.lane, deque()).extendleft(
                    reversed(utterance.words)
                )
        self._utterances.clear()

    def lags(self, newest: int | None = None) -> list[StageLag]:
        """Sum up the stages that any word came through, or for so many newest words of each."""
        return [
            StageLag(
                stage=stage,
                n_words=len(seconds),
                median_s=float(np.median(seconds)),
                p95_s=float(np.percentile(seconds, 95)),
            )
            for stage, seconds in self._newest_lags(newest)
            if seconds
        ]

    def _newest_lags(self, newest: int | None) -> Iterator[tuple[str, list[float]]]:
        for stage, seconds in self._lags.items():
            n_left_out = 0 if newest is None else max(0, len(seconds) - newest)
            yield stage, list(islice(seconds, n_left_out, None))

    def _place(self, number: int, utterance: _Utterance, n_words: int) -> WordsPlaced | None:
        waiting = self._unplaced.get(utterance.lane, deque())
        n_more = min(n_words - len(utterance.words), len(waiting))
        if n_more <= 0:  # typed words, or no new ones
            return None
        utterance.words += [waiting.popleft() for _ in range(n_more)]
        first, last = utterance.words[0], utterance.words[-1]
        return WordsPlaced(
            utterance=number,
            lane=utterance.lane,
            words=tuple(one.word for one in utterance.words),
            begun_at_s=first.spoken_at_s - (first.word.end_s - first.word.start_s),
            ended_at_s=last.spoken_at_s,
        )

    def _translate(self, utterance: _Utterance, n_read: int, now_s: float) -> None:
        for word in utterance.words[len(utterance.translated_at_s) : n_read]:
            utterance.translated_at_s.append(now_s)
            self._n_untranslated -= 1
            self._lags["translated"].append(now_s - word.committed_at_s)

    def _forget(self) -> None:
        ended = [number for number, one in self._utterances.items() if one.ended]
        for number in ended[:-_ENDED_KEPT]:
            del self._utterances[number]
