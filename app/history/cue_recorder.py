"""Events of a session -> cues: what was said, its translation, and when. Plain Python, no clock."""

from dataclasses import dataclass, field, replace

from app.history.cues import Cue
from engine.events import (
    CaptionChanged,
    Event,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CueKept:
    """A cue is complete. One with the same key, from before an edit, gives way to it.

    Attributes:
        key: names the utterance while the program runs.
        cue: what to keep of it.
    """

    key: int
    cue: Cue


@dataclass(frozen=True, slots=True, kw_only=True)
class CueWithdrawn:
    """An edit removed an utterance that was complete."""

    key: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CueMarked:
    """The person marked this utterance, and no other from now on."""

    key: int


Entry = CueKept | CueWithdrawn | CueMarked


@dataclass(slots=True, kw_only=True)
class _Open:
    key: int
    start_s: float
    lane: str = ""
    source: str = ""
    caption: str = ""
    ended: bool = False
    said_until_s: float | None = None  # where it was heard


@dataclass(slots=True, kw_only=True)
class SessionRecord:
    """Follow a session and keep what is complete.

    Invariant: ``cues`` is what the entries given so far amount to.

    Attributes:
        language: code of the target language.
    """

    language: str = ""
    _utterances: dict[int, _Open] = field(default_factory=dict)
    _cues: dict[int, Cue] = field(default_factory=dict)
    _next_key: int = 0
    _marked: int | None = None
    _forgotten: dict[int, Cue] = field(default_factory=dict)

    @property
    def cues(self) -> list[Cue]:
        """The complete cues in the order in which they began, the marked one as such."""
        cues = [
            replace(cue, marked=True) if key == self._marked else cue
            for key, cue in self._cues.items()
        ]
        return sorted(cues, key=lambda cue: cue.start_s)

    def key_of(self, utterance: int) -> int | None:
        """Give the key of an utterance of the running session, by its number."""
        found = self._utterances.get(utterance)
        return None if found is None else found.key

    def mark(self, key: int) -> CueMarked | None:
        """Mark the cue with this key, whether it is complete or not; no other is marked."""
        if key not in self._cues and all(one.key != key for one in self._utterances.values()):
            return None
        self._marked = key
        return CueMarked(key=key)

    def feed(self, event: Event, now_s: float) -> Entry | None:
        """Take an event of the session.

        Args:
            event: any; those about no utterance change nothing.
            now_s: seconds since the program was started.
        """
        match event:
            case UtteranceOpened():
                self._utterances[event.utterance] = _Open(
                    key=self._next_key, start_s=now_s, lane=event.lane
                )
                self._next_key += 1
            case UtteranceDropped():
                return self._withdraw(event.utterance)
            case SourceChanged() | CaptionChanged() | UtteranceEnded():
                if found := self._utterances.get(event.utterance):
                    return self._change(found, event, now_s)
        return None

    def place(self, utterance: int, start_s: float, end_s: float) -> None:
        """Take when an utterance that was heard was said, so far.

        Args:
            utterance: its number in the session.
            start_s: seconds since the program was started.
            end_s: the same, of the last word there is.
        """
        if found := self._utterances.get(utterance):
            found.start_s, found.said_until_s = max(0.0, start_s), end_s

    def flush(self, now_s: float) -> list[CueKept]:
        """Keep what is not translated to its end as it is: nothing more will come."""
        return [
            self._keep(found, now_s)
            for found in self._utterances.values()
            if not found.ended and found.source
        ]

    def restart(self) -> None:
        """Make ready for a new session, whose numbers begin again."""
        self._utterances.clear()

    def clear(self) -> None:
        """Forget everything; what still comes about an utterance of before is not kept."""
        self._utterances.clear()
        self._forgotten, self._cues = self._cues, {}
        self._marked = None

    def bring_back(self) -> None:
        """Have the cues again that were forgotten last, before those that came since."""
        self._cues = self._forgotten | self._cues
        self._forgotten = {}

    def _change(
        self, found: _Open, event: SourceChanged | CaptionChanged | UtteranceEnded, now_s: float
    ) -> CueKept | None:
        if isinstance(event, UtteranceEnded):
            return self._keep(found, now_s)
        found.ended = False
        if isinstance(event, SourceChanged):
            found.source = " ".join(event.words)
        else:
            found.caption = found.caption[: event.kept] + event.text
        return None

    def _keep(self, found: _Open, now_s: float) -> CueKept:
        found.ended = True
        end_s = now_s if found.said_until_s is None else found.said_until_s
        cue = Cue(
            start_s=found.start_s,
            end_s=max(end_s, found.start_s),
            text=found.caption.strip(),
            source=found.source,
            speaker=found.lane,
            language=self.language,
        )
        self._cues[found.key] = cue
        return CueKept(key=found.key, cue=cue)

    def _withdraw(self, utterance: int) -> CueWithdrawn | None:
        found = self._utterances.pop(utterance, None)
        if found is None or self._cues.pop(found.key, None) is None:
            return None
        return CueWithdrawn(key=found.key)
