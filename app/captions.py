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


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceView:
    """One utterance as it is shown.

    Attributes:
        key: names the utterance while the program runs; never used again.
        source: its words so far.
        caption: its translation so far.
        ended: whether it is translated to its end.
    """

    key: int
    source: str = ""
    caption: str = ""
    ended: bool = False


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

    @property
    def views(self) -> tuple[UtteranceView, ...]:
        """The utterances from the oldest to the newest."""
        return tuple(self._views)

    def apply(self, event: Event) -> bool:
        """Take an event of the session; one about an utterance that is forgotten changes nothing.

        Returns:
            whether the views changed.

        Raises:
            ValueError: the event speaks of caption text that never came.
        """
        if isinstance(event, UtteranceOpened):
            self._open(event)
            return True
        if not isinstance(
            event, SourceChanged | CaptionChanged | UtteranceEnded | UtteranceDropped
        ):
            return False
        place = self._place(event.utterance)
        if place is None:
            return False
        if isinstance(event, UtteranceDropped):
            del self._views[place]
            del self._keys[event.utterance]
        else:
            self._views[place] = _changed(self._views[place], event)
        return True

    def restore(self, texts: Sequence[tuple[str, str]]) -> None:
        """Put utterances of an earlier session, source and caption each, before all others."""
        earlier = []
        for source, caption in texts[-self._limit :]:
            earlier.append(
                UtteranceView(key=self._next_key, source=source, caption=caption, ended=True)
            )
            self._next_key += 1
        self._views[:0] = earlier

    def clear(self) -> None:
        """Forget every utterance; what still comes about them is not shown."""
        self._views.clear()
        self._keys.clear()

    def restart(self) -> None:
        """Make ready for a new session, whose numbers begin again.

        What was translated to its end stays. The rest goes: its words are translated anew.
        """
        self._views = [view for view in self._views if view.ended]
        self._keys.clear()

    def _open(self, event: UtteranceOpened) -> None:
        view = UtteranceView(key=self._next_key)
        self._next_key += 1
        place = None if event.before is None else self._place(event.before)
        self._views.insert(len(self._views) if place is None else place, view)
        self._keys[event.utterance] = view.key
        if len(self._views) > self._limit:
            oldest = self._views.pop(0).key
            self._keys = {number: key for number, key in self._keys.items() if key != oldest}

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
