"""The caption model: the rows of the transcript. Plain Python.

It receives changed utterances and returns frozen views, without widgets, fonts or threads.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from app.config.messages import AppCode
from app.config.preferences import ME, THEM
from engine.events import Event, UtteranceDropped, UtteranceOpened
from engine.speech.events import LeftOut
from engine.text.sentences import is_strange
from engine.utterances import Utterance, UtteranceTracker

_SEARCHED = 20  # newest utterances to search first
_FIRST_ALONE_KEY = -1_000_000  # of tails without an utterance, and from there down
_UNSURE_MARKS = ".,;:"
_KEPT = 200  # decisions; many more utterances than are on the screen
_ANOTHER_S = 1.0  # difference of the two clocks: one was set, or the computer slept


def _is_readable(view: "UtteranceView") -> bool:
    return bool(view.tail or view.caption.strip() or view.source.strip())


def dotted(tail: str) -> str:
    """Append dots to tentative words, so that not only their colour marks them."""
    return tail.rstrip(_UNSURE_MARKS) + "…" if tail else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceView:
    """One utterance to show.

    Attributes:
        key: of the utterance; negative for a row without one.
        ended: its translation is complete.
        lane: the speaker of heard words.
        tail: tentative words after the source.
        begun_s: when it began, in seconds since the epoch; 0 if that is not known.
        doubtful: the model is not sure of the caption.
        language: code of the caption's language; empty if that is not known.
        further: translations into further languages, each behind the code of its language.
        left_out_s: so long was said what has no caption, and the caption says so; 0 if it is one.
        made_by: names of the model, its adapter and its policy, as far as they are known.
    """

    key: int
    source: str = ""
    caption: str = ""
    ended: bool = False
    lane: str = ""
    tail: str = ""
    begun_s: float = 0.0
    marked: bool = False
    doubtful: bool = False
    language: str = ""
    further: tuple[tuple[str, str], ...] = ()
    left_out_s: float = 0.0
    made_by: str = ""

    def translation(self, language: str) -> str:
        """Return the translation into a further language; empty if there is none so far."""
        return next((text for code, text in self.further if code == language), "")


def n_same_views(shown: Sequence[UtteranceView], views: Sequence[UtteranceView]) -> int:
    """Count the leading views that are the same objects."""
    pairs = enumerate(zip(shown, views, strict=False))
    differing = (row for row, (old, new) in pairs if old is not new)
    return next(differing, min(len(shown), len(views)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tail:
    """Tentative words, and the number of the heard word before them."""

    words: tuple[str, ...]
    after: int


def left_out_s(utterance: Utterance) -> float:
    """Return how long a complete utterance was spoken that has no caption; 0 if it has one.

    Symbols alone, and words in another script, stay as they are.
    """
    said_until_s = utterance.said_until_s
    if not utterance.ended or utterance.caption.strip() or said_until_s is None:
        return 0.0
    is_readable = any(map(str.isalpha, utterance.source))
    if not is_readable or is_strange([word.text for word in utterance.words]):
        return 0.0
    return max(1.0, said_until_s - utterance.begun_at_s)


def left_out_note(seconds: float) -> str:
    """Return the sentence that stands where so many seconds have no caption, in English."""
    return str(AppCode.LEFT_OUT(seconds=max(1, round(seconds))))


class Captions:
    """Keep the newest utterances in their order.

    Invariant: a caption only grows at its end, except after an edit, which keeps everything before
    the cut. An unchanged utterance keeps its view object, so that changes are found by identity.
    """

    def __init__(
        self,
        utterances: UtteranceTracker,
        *,
        limit: int = 10_000,
        epoch_s: Callable[[float], float] = lambda _at_s: 0.0,
        note_of: Callable[[float], str] = left_out_note,
    ) -> None:
        """Make an empty model.

        Args:
            limit: the oldest utterances beyond it are forgotten.
            epoch_s: returns the seconds since the epoch of a time by the clock of the utterances.
            note_of: returns the sentence where so many seconds have no caption.
        """
        if limit < 1:
            msg = f"at least one utterance must be kept, got {limit}"
            raise ValueError(msg)
        self._utterances = utterances
        self._limit = limit
        self._epoch_s, self._note_of = epoch_s, note_of
        self._gaps: list[tuple[int, UtteranceView]] = []  # behind words that are not visible yet
        self._visible = Counter[str]()  # by lane: number of the newest visible word
        self._held: dict[str, _Tail] = {}  # by lane
        self._views: list[UtteranceView] = []
        self._corrected = set[int]()  # keys
        self._tails: dict[str, _Tail] = {}  # by lane
        self._shown: dict[str, str] = {}  # what is shown of them
        self._tail_keys: dict[str, int] = {}  # the utterances they stand behind
        self._alone: dict[str, UtteranceView] = {}  # those that stand behind none

    @property
    def views(self) -> tuple[UtteranceView, ...]:
        """The utterances from the oldest to the newest, then the tails without an utterance."""
        return (*self._views, *self._alone.values())

    @property
    def readable(self) -> tuple[UtteranceView, ...]:
        """The views with something to read: sound may have no caption, or none yet."""
        return tuple(filter(_is_readable, self.views))

    def set_tail(self, lane: str, words: Sequence[str], after: int) -> bool:
        """Set the tentative words of a lane after a numbered one; return whether views changed.

        They follow its newest utterance, or all utterances if that one is complete. Committed words
        leave the tail at once and return from the session a little later, so a tail is held back
        until all words before it are visible. The one before loses each word that returns.
        """
        self._held[lane] = _Tail(words=tuple(words), after=after)
        return self.release_tails()

    def leave_out(self, event: LeftOut, key: int) -> bool:
        """Show a gap once all words before it are visible; return whether the views changed.

        Args:
            key: of the row, one of ``new_key``.
        """
        note = self._note_of(event.seconds)
        view = UtteranceView(
            key=key,
            source=note,
            caption=note,
            ended=True,
            lane=event.lane,
            begun_s=self._epoch_s(event.since_s),
            left_out_s=event.seconds,
        )
        self._gaps.append((event.after, view))
        return self.release_tails()

    def note_waiting(self, newest: Mapping[str, int]) -> bool:
        """Note the newest word that waits in each lane; return whether the views changed."""
        self._visible |= Counter(newest)
        return self.release_tails()

    def release_tails(self) -> bool:
        """Show tails and gaps whose previous words are visible; return whether views changed."""
        shown = [gap for gap in self._gaps if self._newest(gap[1].lane) >= gap[0]]
        for gap in shown:
            self._gaps.remove(gap)
            self._views.append(gap[1])
        ready = [lane for lane, tail in self._held.items() if self._newest(lane) >= tail.after]
        for lane in ready:
            self._tails[lane] = self._held.pop(lane)
        changed = [lane for lane in self._tails if self._tail(lane) != self._shown.get(lane, "")]
        for lane in {*ready, *changed}:
            self._place_tail(lane)
        return bool(ready or changed or shown)

    def _newest(self, lane: str) -> int:
        return max(self._visible[lane], self._utterances.newest(lane))

    def _tail(self, lane: str) -> str:
        tail = self._tails[lane]
        return " ".join(tail.words[max(0, self._newest(lane) - tail.after) :])

    def apply(self, event: Event, utterance: Utterance) -> bool:
        """Show an utterance; return whether the views changed."""
        if isinstance(event, UtteranceOpened):
            self._open(utterance)
        place = self._place(utterance.key)
        if place is None or utterance.key in self._corrected:
            return False
        seconds = left_out_s(utterance)
        if isinstance(event, UtteranceDropped):
            del self._views[place]
        else:
            self._views[place] = replace(
                self._views[place],
                source=utterance.source,
                caption=self._note_of(seconds) if seconds else utterance.caption,
                ended=utterance.ended,
                left_out_s=seconds,
                begun_s=self._epoch_s(utterance.begun_at_s),
                doubtful=utterance.confidence is not None and utterance.confidence.is_low,
                language=utterance.languages[1],
                made_by=utterance.made_by,
                further=tuple(
                    (code, one.caption) for code, one in utterance.further.items() if one.caption
                ),
            )
        self._place_tail(utterance.lane)
        self.release_tails()
        return True

    def mark(self, key: int) -> bool | None:
        """Set or remove the bookmark of a view; return whether it has one, None without a view."""
        place = self._place(key)
        if place is None:
            return None
        view = self._views[place] = replace(
            self._views[place], marked=not self._views[place].marked
        )
        return view.marked

    def correct(
        self, key: int, source: str, utterances: Sequence[Utterance] = ()
    ) -> UtteranceView | None:
        """Change the source of a complete row, and its captions once its utterances are complete.

        Later events about the utterance that it was are ignored. Returns the row as it was before.
        """
        place = self._place(key)
        if place is None or not self._views[place].ended:
            return None
        before = self._views[place]
        self._corrected.add(key)
        changed = replace(before, source=source)
        if utterances:
            codes = dict.fromkeys(code for one in utterances for code in one.further)
            changed = replace(
                changed,
                caption=" ".join(one.caption.strip() for one in utterances),
                left_out_s=0.0,
                doubtful=any(one.confidence and one.confidence.is_low for one in utterances),
                language=utterances[-1].languages[1],
                further=tuple(
                    (code, " ".join(one.further[code].caption.strip() for one in utterances))
                    for code in codes
                    if all(code in one.further for one in utterances)
                ),
            )
        self._views[place] = changed
        return before

    def remove(self, keys: Collection[int]) -> list[tuple[int, UtteranceView]]:
        """Remove complete utterances; return them with their positions, for ``put_back``."""
        removed = [
            (at, view) for at, view in enumerate(self._views) if view.key in keys and view.ended
        ]
        for at, _ in reversed(removed):
            del self._views[at]
        return removed

    def put_back(self, removed: Sequence[tuple[int, UtteranceView]]) -> None:
        """Insert removed utterances again."""
        for at, view in removed:
            self._views.insert(at, view)

    def clear(self) -> None:
        """Forget every utterance; later events about them are ignored."""
        self._views.clear()
        self._forget_tails()

    def bring_back(self, views: Sequence[UtteranceView]) -> None:
        """Show earlier utterances above the others; they do not change any more."""
        keys = [view.key if view.key >= 0 else self._utterances.new_key() for view in views]
        self._views[:0] = [
            replace(view, key=key, ended=True, tail="")
            for key, view in zip(keys, views, strict=True)
        ][-self._limit :]

    def restart(self) -> None:
        """Prepare for a new session, which will translate incomplete utterances again."""
        self._views = [view for view in self._views if view.ended]
        self._forget_tails()

    def _open(self, utterance: Utterance) -> None:
        view = UtteranceView(key=utterance.key, lane=utterance.lane)
        place = None if utterance.before_key is None else self._place(utterance.before_key)
        self._views.insert(len(self._views) if place is None else place, view)
        del self._views[: -self._limit]

    def _forget_tails(self) -> None:
        for one in (self._tails, self._shown, self._tail_keys, self._alone, self._gaps):
            one.clear()

    def _place_tail(self, lane: str) -> None:
        """Move the tail of a lane to its current position; other views stay the same objects."""
        if lane not in self._tails:
            return
        tail = self._shown[lane] = self._tail(lane)
        newest_first = range(len(self._views) - 1, max(-1, len(self._views) - 1 - _SEARCHED), -1)
        newest = next((at for at in newest_first if self._views[at].lane == lane), None)
        if newest is not None and (self._views[newest].ended or not tail):
            newest = None
        wanted = None if newest is None else self._views[newest].key
        before = self._tail_keys.pop(lane, None)
        for at in newest_first:
            view = self._views[at]
            shown = tail if view.key == wanted else ""
            if view.key in (before, wanted) and view.tail != shown:
                self._views[at] = replace(view, tail=shown)
        if wanted is not None:
            self._tail_keys[lane] = wanted
        self._show_alone(lane, tail if wanted is None else "")

    def _show_alone(self, lane: str, tail: str) -> None:
        before = self._alone.pop(lane, None)
        if tail:
            key = _FIRST_ALONE_KEY - list(self._tails).index(lane)
            view = UtteranceView(key=key, lane=lane, tail=tail)
            self._alone[lane] = before if before == view else view

    def _place(self, key: int) -> int | None:
        newest_first = range(len(self._views) - 1, -1, -1)
        return next((place for place in newest_first if self._views[place].key == key), None)


class EpochClock:
    """Map the monotonic clock to the seconds since the epoch.

    The same time is mapped to the same one each time, until the time of day is set.
    """

    def __init__(
        self,
        epoch: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._epoch, self._monotonic = epoch, monotonic
        self._between_s = epoch() - monotonic()

    def __call__(self, at_s: float) -> float:
        between_s = self._epoch() - self._monotonic()
        if abs(between_s - self._between_s) > _ANOTHER_S:
            self._between_s = between_s
        return self._between_s + at_s


class SpeakerNames:
    """Name speakers once both sources are on, and those to whom the user gave a name.

    Invariant: a decision about an utterance stays, since a name that comes later would move its
    text; only other names of the user change it.
    """

    def __init__(self, usual: Mapping[str, str]) -> None:
        self._usual = usual
        self._given: Mapping[str, str] = {}
        self._are_both_on = False
        self._decided: dict[int, str] = {}

    def give(self, names: Mapping[str, str]) -> None:
        """Use the names that the user gave, by lane."""
        if names != self._given:
            self._given = names
            self._decided.clear()

    def hear(self, lanes: Collection[str]) -> None:
        """Follow which sources are on; one that goes off does not take the names away."""
        self._are_both_on = self._are_both_on or {ME, THEM} <= set(lanes)

    def name_of(self, view: UtteranceView) -> str:
        """Return the name before an utterance; empty for none."""
        if view.key < 0:  # tentative words without an utterance
            return self._name(view.lane)
        if view.key not in self._decided:
            self._decided[view.key] = self._name(view.lane)
            if len(self._decided) > _KEPT:
                del self._decided[next(iter(self._decided))]
        return self._decided[view.key]

    def _name(self, lane: str) -> str:
        usual = self._usual.get(lane, "") if self._are_both_on else ""
        return self._given.get(lane, usual)
