"""Utterances of a session become cues: words, translation and times. Plain Python, no clock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.captions.cues import Cue, corrected_cue, cue_of, utterance_of
from app.captions.model import left_out_note, left_out_s
from engine.events import Event, UtteranceDropped, UtteranceEnded
from engine.speech.events import LeftOut
from engine.utterances import Utterance, UtteranceTracker


@dataclass(frozen=True, slots=True, kw_only=True)
class CueKept:
    """A cue is complete; it replaces one of the same key, from before an edit or a bookmark."""

    key: int
    cue: Cue


@dataclass(frozen=True, slots=True, kw_only=True)
class CueWithdrawn:
    """An edit removed an utterance that was complete."""

    key: int


Entry = CueKept | CueWithdrawn


class CueRecorder:
    """Keep the complete utterances of a session.

    Invariant: ``cues`` is the sum of all entries returned so far.

    Attributes:
        further: codes of the further languages that are kept, too.
    """

    def __init__(
        self,
        utterances: UtteranceTracker,
        start_s: float = 0.0,
        note_of: Callable[[float], str] = left_out_note,
    ) -> None:
        """Start without cues.

        Args:
            start_s: start of the program, by the clock of the utterances.
            note_of: returns the sentence where so many seconds have no caption.
        """
        self._note_of = note_of
        self._utterances = utterances
        self._start_s = start_s
        self._cues: dict[int, Cue] = {}
        self._forgotten: dict[int, Cue] = {}
        self._removed: dict[int, Cue] = {}  # by the user
        self._marked = set[int]()
        self._corrected = set[int]()
        # starts of sessions before, and cues of theirs that further languages owe, by their keys
        self._former: dict[int, tuple[float, Cue | None]] = {}
        self.further: tuple[str, ...] = ()

    @property
    def cues(self) -> list[Cue]:
        """The complete cues, ordered by start, with their bookmarks."""
        return sorted((self._kept(key).cue for key in self._cues), key=lambda cue: cue.start_s)

    def mark(self, key: int, *, marked: bool) -> CueKept | None:
        """Set or remove the bookmark of an utterance, which is kept once it is complete."""
        if key in self._cues or self._utterances.with_key(key) is not None:
            self._marked.add(key) if marked else self._marked.discard(key)
        return self._kept(key) if key in self._cues else None

    def remove(self, key: int) -> CueWithdrawn | None:
        """Remove a cue on behalf of the user; later events about it are ignored."""
        cue = self._cues.pop(key, None)
        if cue is None:
            return None
        self._removed[key] = cue
        return CueWithdrawn(key=key)

    def put_back(self, key: int) -> CueKept | None:
        """Restore a cue that the user removed."""
        cue = self._removed.pop(key, None)
        if cue is None:
            return None
        self._cues[key] = cue
        return self._kept(key)

    def correct(self, key: int, source: str, utterances: Sequence[Utterance]) -> CueKept | None:
        """Replace source and captions of a cue; later events about it are ignored."""
        if key not in self._cues:
            return None
        self._corrected.add(key)
        self._cues[key] = corrected_cue(self._cues[key], source, utterances, self.further)
        return self._kept(key)

    def feed(self, event: Event, utterance: Utterance, now_s: float) -> Entry | None:
        """Follow an event of the session.

        Args:
            utterance: after the event.
            now_s: by the clock of the utterances.
        """
        if utterance.key in self._removed or utterance.key in self._corrected:
            return None
        if isinstance(event, UtteranceEnded):
            is_kept = event.language in self.further and utterance.ended
            is_kept = is_kept if event.language else _is_readable(utterance)
            return self._keep(utterance, now_s) if is_kept else None
        if isinstance(event, UtteranceDropped) and self._cues.pop(utterance.key, None) is not None:
            return CueWithdrawn(key=utterance.key)
        return None

    def leave_out(self, event: LeftOut, key: int) -> CueKept:
        """Keep where sound was left out, by a key of its own."""
        note, start_s = self._note_of(event.seconds), max(0.0, event.since_s - self._start_s)
        self._cues[key] = Cue(
            start_s=start_s,
            end_s=start_s + event.seconds,
            text=note,
            source=note,
            speaker=event.lane,
            left_out_s=event.seconds,
        )
        return CueKept(key=key, cue=self._cues[key])

    def flush(self, now_s: float) -> list[CueKept]:
        """Keep the incomplete utterances as they are: the session has ended."""
        found = [
            one
            for one in self._utterances.open
            if one.key not in {*self._corrected, *self._removed}
            and _is_readable(one)
            and not self._has(one)
        ]
        return [self._keep(utterance, now_s) for utterance in found]

    def clear(self) -> None:
        """Forget everything; what further languages owe is still returned."""
        self._note_owing()
        self._forgotten, self._cues = self._cues, {}

    def resume(self, cues: Mapping[int, Cue], start_s: float) -> list[CueKept]:
        """Forget everything for the cues of an earlier session, by new keys; return its entries.

        Args:
            cues: ordered by start.
            start_s: start of that session, by the clock of the utterances.
        """
        self._note_owing()
        self._start_s = start_s
        self._cues = {key: replace(cue, marked=False) for key, cue in cues.items()}
        self._marked = {key for key, cue in cues.items() if cue.marked}
        self._corrected |= self._removed.keys()  # later events about them are ignored
        self._forgotten, self._removed = {}, {}
        return [self._kept(key) for key in self._cues]

    @property
    def owing(self) -> list[Utterance]:
        """Cues of a continued session whose captions in further languages are still to come."""
        owing = ((key, cue) for key, cue in self._cues.items() if cue.lacking)
        return [utterance_of(cue, key, self._start_s) for key, cue in owing]

    def bring_back(self) -> None:
        """Restore the cues forgotten last, before newer ones."""
        self._cues = self._forgotten | self._cues
        self._forgotten = {}

    def _note_owing(self) -> None:
        keys = [one.key for one in self._utterances.owing]
        cues = {key: self._kept(key).cue for key in keys if key in self._cues}
        self._former = {key: (self._start_s, cues.get(key)) for key in keys} | self._former

    def _kept(self, key: int) -> CueKept:
        return CueKept(key=key, cue=replace(self._cues[key], marked=key in self._marked))

    def _has(self, utterance: Utterance) -> bool:
        cue = self._cues.get(utterance.key)
        return cue is not None and (cue.source, cue.text) == (
            utterance.source,
            utterance.caption.strip(),
        )

    def _keep(self, utterance: Utterance, now_s: float) -> CueKept:
        start_s, former = self._former.get(utterance.key, (self._start_s, None))
        times_s = [word.spoken_at_s for word in utterance.words]
        end_s = utterance.said_until_s
        if end_s is None:  # typed: its caption may have waited for minutes
            end_s = utterance.words[-1].committed_at_s if utterance.words else now_s
        cue = cue_of(
            utterance,
            utterance.begun_at_s - start_s,
            end_s - start_s,
            [time_s - start_s for time_s in times_s if time_s is not None],
            self.further,
        )
        kept = self._cues.get(utterance.key, former)
        marked = utterance.key in self._marked
        if former is not None and utterance.key not in self._cues:
            marked = former.marked
        if kept is not None and utterance.number < 0:  # all but further languages is as it was
            further = {one.language: one for one in (*kept.further, *cue.further)}
            cue = replace(kept, further=tuple(further.values()))
        if seconds := left_out_s(utterance):
            cue = replace(cue, text=self._note_of(seconds), left_out_s=seconds)
        if utterance.key in self._cues or utterance.key not in self._former:
            self._cues[utterance.key] = cue
        if utterance.key in self._forgotten:
            self._forgotten[utterance.key] = cue
        return CueKept(key=utterance.key, cue=replace(cue, marked=marked))


def _is_readable(utterance: Utterance) -> bool:
    return bool(utterance.source.strip() or utterance.caption.strip())
