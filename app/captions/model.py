"""The caption model: what stands in the transcript. Plain Python; the one owner of caption text.

It takes the events of a session and hands out frozen views. It knows no widget, font or thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.events import (
    CaptionChanged,
    Event,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)

_SEARCHED = 20  # newest utterances among which the one is that somebody says now
_FIRST_ALONE_KEY = -1_000_000  # of tails without an utterance, and from there down


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceView:
    """One utterance as it is shown.

    Attributes:
        key: names the utterance while the program runs; never used again.
        source: its words so far.
        caption: its translation so far.
        ended: whether it is translated to its end.
        lane: who speaks, where it was heard.
        tail: words behind the source that may still change.
    """

    key: int
    source: str = ""
    caption: str = ""
    ended: bool = False
    lane: str = ""
    tail: str = ""


class Captions:
    """Keep the newest utterances in their order.

    Invariant: a caption only grows at its end, except where an edit cut it back first, and then
    everything before the cut stays. An utterance that did not change keeps its very view object, so
    that who shows the views finds what is new by identity.
    """

    def __init__(self, *, limit: int = 10_000) -> None:
        """Make an empty model that forgets the oldest utterances beyond ``limit``."""
        if limit < 1:
            msg = f"at least one utterance must be kept, got {limit}"
            raise ValueError(msg)
        self._limit = limit
        self._views: list[UtteranceView] = []
        self._keys: dict[int, int] = {}  # the running session's numbers -> our keys
        self._next_key = 0
        self._tails: dict[str, str] = {}  # by lane
        self._tail_keys: dict[str, int] = {}  # the utterances they stand behind
        self._alone: dict[str, UtteranceView] = {}  # those that stand behind none

    @property
    def views(self) -> tuple[UtteranceView, ...]:
        """The utterances from the oldest to the newest, and behind them what has none so far."""
        return (*self._views, *self._alone.values())

    def key_of(self, utterance: int) -> int | None:
        """Tell the key of an utterance of the session, by its number; None if it is forgotten."""
        return self._keys.get(utterance)

    def set_tail(self, lane: str, words: Sequence[str]) -> None:
        """Take the words of a lane that may still change; none where all are certain.

        They stand behind its newest utterance, and where that one is complete behind all others.
        """
        self._tails[lane] = " ".join(words)
        self._place_tail(lane)

    def apply(self, event: Event) -> bool:
        """Take an event of the session; one about an utterance that is forgotten changes nothing.

        Returns:
            whether the views changed.

        Raises:
            ValueError: the event speaks of caption text that never came.
        """
        if isinstance(event, UtteranceOpened):
            self._open(event)
            self._place_tail(event.lane)
            return True
        if not isinstance(
            event, SourceChanged | CaptionChanged | UtteranceEnded | UtteranceDropped
        ):
            return False
        place = self._place(event.utterance)
        if place is None:
            return False
        lane = self._views[place].lane
        if isinstance(event, UtteranceDropped):
            del self._views[place]
            del self._keys[event.utterance]
        else:
            self._views[place] = _changed(self._views[place], event)
        self._place_tail(lane)
        return True

    def clear(self) -> None:
        """Forget every utterance; what still comes about them is not shown."""
        self._views.clear()
        self._keys.clear()
        self._forget_tails()

    def bring_back(self, views: Sequence[UtteranceView]) -> None:
        """Show utterances of before above the others, as they were; none of them changes more."""
        kept = list[UtteranceView]()
        for view in views:
            is_known = view.key >= 0
            kept.append(
                replace(view, key=view.key if is_known else self._next_key, ended=True, tail="")
            )
            self._next_key += not is_known
        self._views[:0] = kept[-self._limit :]

    def restart(self) -> None:
        """Make ready for a new session, whose numbers begin again.

        What was translated to its end stays. The rest goes: its words are translated anew.
        """
        self._views = [view for view in self._views if view.ended]
        self._keys.clear()
        self._forget_tails()

    def _open(self, event: UtteranceOpened) -> None:
        view = UtteranceView(key=self._next_key, lane=event.lane)
        self._next_key += 1
        place = None if event.before is None else self._place(event.before)
        self._views.insert(len(self._views) if place is None else place, view)
        self._keys[event.utterance] = view.key
        if len(self._views) > self._limit:
            oldest = self._views.pop(0).key
            self._keys = {number: key for number, key in self._keys.items() if key != oldest}

    def _forget_tails(self) -> None:
        for one in (self._tails, self._tail_keys, self._alone):
            one.clear()

    def _place_tail(self, lane: str) -> None:
        """Put the tail of a lane where it belongs now; views that need no other stay the same."""
        if lane not in self._tails:
            return
        tail = self._tails[lane]
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

    def _place(self, utterance: int) -> int | None:
        key = self._keys.get(utterance)
        if key is None:
            return None
        newest_first = range(
            len(self._views) - 1, -1, -1
        )  # events are nearly always about the newest
        return next(place for place in newest_first if self._views[place].key == key)


def _changed(
    view: UtteranceView, event: SourceChanged | CaptionChanged | UtteranceEnded
) -> UtteranceView:
    """Apply an event to the one utterance it speaks of."""
    if isinstance(event, SourceChanged):
        return replace(view, source=" ".join(event.words))
    if isinstance(event, UtteranceEnded):
        return replace(view, ended=True)
    if event.kept > len(view.caption):
        msg = f"{event.kept} characters were to stay of a caption that has {len(view.caption)}"
        raise ValueError(msg)
    return replace(view, caption=view.caption[: event.kept] + event.text, ended=False)
