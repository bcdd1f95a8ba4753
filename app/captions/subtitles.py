"""Captions become subtitles: cut at clauses, of two lines, long enough to be read. Pure.

As subtitlers have it: lines of 42 characters, up to 15 a second, a cue for 1 to 7 seconds.
Translated text has no times of its own: they are interpolated linearly between its pieces.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from app.captions.cues import LATEST_S, LINE, LINES, Cue, Piece, is_line_end, label_of, lines_of

_LEAST_S, _LONGEST_S = 1.0, 7.0  # a cue stays until the next one comes, but not through a silence
_LETTERS_PER_S = 15.0
_LATE_S = 5.0  # a cue that would come later than this behind its words hurries those before it
_HURRIED_LETTERS_PER_S = 30.0
_JOIN_S = 1.0  # a single word goes with its neighbour unless there is a longer silence between

_MOST_JOINED = 5 * LINE * LINES

_CUE = 8.0  # what each further cue costs, see ``_cost``
_LONE_WORD = 50.0
_SECOND = 10.0  # that a cue is too short or too long
_UNEVEN = 8.0
_SENTENCE_ENDS, _CLAUSE_ENDS = ".?!…。？！", ",;:–—،、；"
_IN_SENTENCE, _IN_CLAUSE = 2.0, 8.0  # a cut behind a clause, or within one
_HARD_CUT = LINE // 2  # characters; a word that is longer may be cut after so many


def split(cue: Cue, *, beside: int = 0) -> list[Cue]:
    """Split a cue into cues of at most two lines, with room for the speaker.

    Joined they are its text and source, and their times never decrease. Only the first has its
    mark. Words in further languages are shared out by the lengths of the parts.

    Args:
        beside: characters of the longest other language that is shown with it.
    """
    words, whole = cue.source.split(), len(cue.text)
    room = min(1.0, whole / max(beside, 1))
    if cue.end_s - cue.start_s <= _LONGEST_S and _fits(cue.text, label_of(cue.speaker), room):
        return [cue]
    known = [(0, 0, cue.start_s), *cue.pieces, (whole, len(words), cue.end_s)]
    cuts = _best_cuts(cue, known, room)
    if len(cuts) == 1:
        return [cue]
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
            pairwise([*cuts, whole]), pairwise(ends), strict=True
        )
    ]


def of_source(cue: Cue) -> Cue:
    """Return a cue whose source is shown alone."""
    words = cue.source.split()
    pieces = tuple((len(" ".join(words[:n])), n, at_s) for _, n, at_s in cue.pieces)
    return replace(cue, text=" ".join(words), pieces=pieces)


def _best_cuts(cue: Cue, known: Sequence[Piece], room: float) -> list[int]:
    """Return where the cheapest cues begin; the shortest path over all places to cut at.

    Args:
        known: its pieces, between its start and its end.
        room: share of two lines that the text has.
    """
    text, label = cue.text, label_of(cue.speaker)
    places = [0, *_places(text), len(text)]
    times_s = [_between(known, at)[1] for at in places]
    best: list[tuple[float, int]] = [(0.0, 0)]  # cost of the cues so far, the place before
    for j in range(1, len(places)):
        found = (math.inf, j - 1)
        for i in range(j - 1, -1, -1):
            part = text[places[i] : places[j]].strip()
            is_lone = i == j - 1
            if not is_lone and not _fits(part, label, room):
                break  # a longer one does not either
            cost = best[i][0] + _cost(part, times_s[j] - times_s[i], is_lone=is_lone)
            cost += _cost_of_cut(text, places[j]) if j < len(places) - 1 else 0.0
            found = min(found, (cost, i))
        best.append(found)
    cuts, j = list[int](), len(places) - 1
    while j > 0:
        j = best[j][1]
        cuts.append(places[j])
    return cuts[::-1] or [0]


def _places(text: str) -> Iterator[int]:
    """Yield where a text may be cut: behind blanks, and in words that no line holds."""
    begun = 0
    for end in (*(at + 1 for at in range(len(text) - 1) if is_line_end(text, at)), len(text)):
        if end - begun > LINE + 1:
            yield from range(begun + _HARD_CUT, end, _HARD_CUT)
        if end < len(text):
            yield end
        begun = end


def _fits(part: str, label: str, room: float) -> bool:
    if len(part) > room * LINE * LINES:
        return False
    return len(label) + len(part) <= LINE or len(lines_of(part, label)) <= LINES


def _cost(part: str, lasts_s: float, *, is_lone: bool) -> float:
    """Return what a cue costs: fewer, evenly long ones of 1 to 7 s are cheaper, lone words dear."""
    wrong_s = max(0.0, _LEAST_S - lasts_s, lasts_s - _LONGEST_S)
    cost = _CUE + _UNEVEN * (len(part) / (LINE * LINES)) ** 2 + _SECOND * min(wrong_s, _LONGEST_S)
    return cost + _LONE_WORD if is_lone else cost


def _cost_of_cut(text: str, at: int) -> float:
    before = text[:at].rstrip()[-1:]
    if before in _SENTENCE_ENDS:
        return 0.0
    return _IN_SENTENCE if before in _CLAUSE_ENDS else _IN_CLAUSE


def _share(text: str, begin: float, end: float) -> str:
    words = text.split()
    return " ".join(words[round(begin * len(words)) : round(end * len(words))])


def _between(known: Sequence[Piece], at: int) -> tuple[float, float]:
    """Return the number of source words and the time for an index in the text."""
    right = next(i for i in range(1, len(known)) if known[i][0] >= at)
    (left_at, left_words, left_s), (right_at, right_words, right_s) = known[right - 1 : right + 1]
    share = (at - left_at) / max(1, right_at - left_at)
    return left_words + share * (right_words - left_words), left_s + share * (right_s - left_s)


class Subtitles:
    """Feed the utterances as cues, take cues to read.

    Invariant: those that ``take`` and ``flush`` returned are what ``feed`` was given, in the order
    of their starts. None is there before its words, or together with another; each can be read.
    """

    def __init__(self, show: Callable[[Cue], str] = lambda cue: cue.text) -> None:
        """Start without cues.

        Args:
            show: returns what is shown of a cue, a line for each language; nothing for no cue.
        """
        self._show = show
        self._held: dict[str, Cue] = {}  # of each speaker, as what follows may belong to it
        self._parts: list[Cue] = []
        self._free_s = 0.0  # nobody reads any more

    def feed(self, cue: Cue) -> None:
        """Add an utterance; those of a speaker come in order."""
        held = self._held.get(cue.speaker)
        if held is not None and _belong_together(held, cue):
            self._held[cue.speaker] = _joined(held, cue)
            return
        if held is not None:
            self._cut(held)
        self._held[cue.speaker] = cue

    def take(self, before_s: float) -> list[Cue]:
        """Return the cues that cannot change if all that is still fed begins then or later."""
        before_s = min([before_s, *(cue.start_s for cue in self._held.values())])
        self._parts.sort(key=lambda cue: cue.start_s)
        n_ready = sum(cue.start_s <= before_s for cue in self._parts)
        ready = list(self._timed(self._parts[:n_ready], is_last=False))
        del self._parts[: len(ready)]
        return ready

    def flush(self, end_s: float = LATEST_S) -> list[Cue]:
        """Return the rest; none outlasts a recording that ends at ``end_s``."""
        for cue in self._held.values():
            self._cut(cue)
        self._held.clear()
        self._parts.sort(key=lambda cue: cue.start_s)
        parts, self._parts = self._parts, []
        free_s = self._free_s
        timed = list(self._timed(parts, is_last=True))
        for i in reversed(range(len(timed))):  # its words end what would outlast it
            cue, said_s = timed[i], max(parts[i].start_s, free_s)
            last_s = max(min(cue.end_s, end_s), said_s)
            end_s = min(cue.start_s, max(said_s, last_s - _LEAST_S))
            timed[i] = replace(cue, start_s=end_s, end_s=last_s)
        return timed

    def _cut(self, cue: Cue) -> None:
        beside = max(map(len, self._show(cue).splitlines()), default=0)
        shown = [replace(part, text=self._show(part)) for part in split(cue, beside=beside)]
        self._parts += [part for part in shown if part.text.strip()]

    def _timed(self, cues: Sequence[Cue], *, is_last: bool) -> Iterator[Cue]:
        """Yield cues with the times to read them; the last one only if no other follows."""
        for cue, following in zip_longest(cues, cues[1:]):
            if following is None and not is_last:
                return
            start_s = max(cue.start_s, self._free_s)
            pace = _HURRIED_LETTERS_PER_S if start_s - cue.start_s > _LATE_S else _LETTERS_PER_S
            n_letters = max(map(len, cue.text.splitlines()), default=0)
            self._free_s = start_s + min(max(_LEAST_S, n_letters / pace), _LONGEST_S)
            last_s = start_s + _LONGEST_S
            if following is not None:
                last_s = min(last_s, following.start_s)
            last_s = min(max(last_s, self._free_s), LATEST_S)
            yield replace(cue, start_s=min(start_s, LATEST_S), end_s=last_s)


def _belong_together(first: Cue, second: Cue) -> bool:
    """Return whether one of two neighbours is a single word, and no silence is between them."""
    is_stump = any(0 < len(cue.text) < _HARD_CUT and " " not in cue.text for cue in (first, second))
    is_stump &= not any(cue.left_out_s or cue.marked for cue in (first, second))
    is_stump &= len(first.text) + len(second.text) <= _MOST_JOINED
    same = (first.language, first.source_language, [one.language for one in first.further]) == (
        second.language,
        second.source_language,
        [one.language for one in second.further],
    )
    return is_stump and same and abs(second.start_s - first.end_s) <= _JOIN_S


def _joined(first: Cue, second: Cue) -> Cue:
    n_words, n_letters = len(first.source.split()), len(first.text) + 1
    sure = [cue.confidence for cue in (first, second) if cue.confidence is not None]
    pieces = [
        *first.pieces,
        (len(first.text), n_words, first.end_s),
        (n_letters, n_words, max(first.end_s, second.start_s)),
        *((n_letters + at, n_words + n, at_s) for at, n, at_s in second.pieces),
    ]
    return replace(
        first,
        end_s=max(first.end_s, second.end_s),
        text=f"{first.text} {second.text}",
        source=f"{first.source} {second.source}".strip(),
        confidence=min(sure) if sure else None,
        doubtful=first.doubtful or second.doubtful,
        pieces=tuple(pieces),
        further=tuple(
            replace(one, text=f"{one.text} {other.text}".strip(), pieces=())
            for one, other in zip(first.further, second.further, strict=True)
        ),
    )
