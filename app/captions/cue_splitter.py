"""Splits cues to a readable length, for exports and the terminal.

Pure. Translated text has no times of its own: they are interpolated linearly between the pieces of
the caption.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from app.captions.cue_lines import cue_end, label_of
from app.captions.cues import LATEST_S, Cue, FurtherText, Piece
from engine.events import CaptionChanged, Event, UtteranceEnded
from engine.utterances import Utterance

_SHORTEST_S = 0.5  # a cue is shown at least so long


def cue_of(
    utterance: Utterance,
    start_s: float,
    end_s: float,
    said_s: Sequence[float],
    further: Sequence[str] = (),
) -> Cue:
    """Return an utterance as one cue, with the times of the pieces of its caption.

    Args:
        utterance: its caption and its source.
        start_s: start of the utterance; before 0 or after ``LATEST_S`` it counts as these.
        end_s: its end; an earlier one counts as ``start_s``.
        said_s: end of each of its words; empty if unknown.
        further: codes of the further languages whose complete captions the cue has, too.
    """
    start_s = min(max(0.0, start_s), LATEST_S)
    end_s = min(max(start_s, end_s), LATEST_S)
    sure, span = utterance.confidence, (start_s, end_s)
    complete = {code: one for code in further if (one := utterance.further.get(code)) and one.ended}
    return Cue(
        start_s=start_s,
        end_s=end_s,
        text=utterance.caption.strip(),
        source=utterance.source,
        speaker=utterance.lane,
        language=utterance.languages[1],
        source_language=utterance.languages[0],
        confidence=None if sure is None else sure.value,
        doubtful=sure is not None and sure.is_low,
        pieces=_pieces(utterance.caption, utterance.pieces, span, said_s),
        further=tuple(
            FurtherText(
                language=code,
                text=one.caption.strip(),
                pieces=_pieces(one.caption, one.pieces, span, said_s),
            )
            for code, one in complete.items()
        ),
    )


def _pieces(
    caption: str,
    known: Sequence[tuple[int, int]],
    span: tuple[float, float],
    said_s: Sequence[float],
) -> tuple[Piece, ...]:
    """Return the times of the pieces of a caption, within the span of its cue."""
    n_letters, n_blanks = len(caption.strip()), len(caption) - len(caption.lstrip())
    (at_s, end_s), n_words, pieces = span, 0, list[Piece]()
    for n_characters, n_read in known if said_s else ():
        n_words = max(n_words, min(n_read, len(said_s)))
        at_s = min(end_s, max(at_s, said_s[max(n_words, 1) - 1]))
        pieces.append((min(max(n_characters - n_blanks, 0), n_letters), n_words, at_s))
    return tuple(pieces)


def split(cue: Cue) -> list[Cue]:
    """Split a cue at blanks into cues of at most two lines, with room for the speaker.

    Joined they are its text and source, and their times never decrease. Only the first has its
    mark. Words in further languages are shared out by the lengths of the parts.
    """
    cuts, label = [0], label_of(cue.speaker)
    while (end := cue_end(cue.text, cuts[-1], label)) < len(cue.text):
        cuts.append(end)
    if len(cuts) == 1:
        return [cue]
    words, whole = cue.source.split(), len(cue.text)
    known = [(0, 0, cue.start_s), *cue.pieces, (len(cue.text), len(words), cue.end_s)]
    ends = [_between(known, cut) for cut in cuts] + [(float(len(words)), cue.end_s)]
    return [
        replace(
            cue,
            start_s=start_s,
            end_s=end_s,
            text=cue.text[begin:end].strip(),
            source=" ".join(words[int(first) : int(last)]),
            marked=cue.marked and begin == 0,
            pieces=(),
            further=tuple(
                replace(one, text=_share(one.text, begin / whole, end / whole), pieces=())
                for one in cue.further
            ),
        )
        for (begin, end), ((first, start_s), (last, end_s)) in zip(
            pairwise([*cuts, len(cue.text)]), pairwise(ends), strict=True
        )
    ]


def _share(text: str, begin: float, end: float) -> str:
    """Return the words of a text from one share of it to another."""
    words = text.split()
    return " ".join(words[round(begin * len(words)) : round(end * len(words))])


def split_source(cue: Cue) -> list[Cue]:
    """Split a cue whose source is shown alone, like ``split``."""
    words = cue.source.split()
    pieces = tuple((len(" ".join(words[:n])), n, at_s) for _, n, at_s in cue.pieces)
    parts = split(replace(cue, text=" ".join(words), pieces=pieces))
    return [replace(part, source=part.text) for part in parts]


def _between(known: Sequence[Piece], at: int) -> tuple[float, float]:
    """Return the number of source words and the time for an index in the text."""
    right = next(i for i in range(1, len(known)) if known[i][0] >= at)
    (left_at, left_words, left_s), (right_at, right_words, right_s) = known[right - 1 : right + 1]
    share = (at - left_at) / max(1, right_at - left_at)
    return left_words + share * (right_words - left_words), left_s + share * (right_s - left_s)


class CueSplitter:
    """Turn events of a session into cues as soon as these cannot change.

    Times are those of the lane's timeline. Typed words make no cue. How sure the model is of a
    caption is known at its end, so only the last cues of a long one have its confidence.
    """

    def __init__(self) -> None:
        """Start without cues."""
        self._n_made: dict[int, int] = {}  # cues, by the key of an utterance that still grows

    def feed(self, event: Event, utterance: Utterance) -> list[Cue]:
        """Follow an event of an utterance; return the cues that are now final."""
        ended = isinstance(event, UtteranceEnded)
        words = utterance.words
        if not (ended or isinstance(event, CaptionChanged)) or not utterance.caption:
            return []
        if not words or words[0].spoken_at_s is None:
            return []
        ends_s = [word.end_s for word in words]
        whole = cue_of(utterance, words[0].start_s, ends_s[-1], ends_s)
        cues = split(whole)
        n_before = self._n_made.pop(utterance.key, 0)
        n_certain = len(cues) if ended else len(cues) - 1
        if not ended:
            self._n_made[utterance.key] = n_certain
        return [
            replace(cue, end_s=max(cue.end_s, cue.start_s + _SHORTEST_S))
            for cue in cues[n_before:n_certain]
            if cue.text
        ]
