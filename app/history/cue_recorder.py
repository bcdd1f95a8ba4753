"""Utterances of a session become cues: words, translation and times. Plain Python, no clock."""

from dataclasses import dataclass, replace

from app.history.cue_splitter import cue_of
from app.history.cues import Cue
from engine.events import Event, UtteranceDropped, UtteranceEnded
from engine.utterances import Utterance, UtteranceTracker


@dataclass(frozen=True, slots=True, kw_only=True)
class CueKept:
    """A cue is complete. One with the same key, from before an edit, gives way to it.

    Attributes:
        key: that of the utterance.
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


class CueRecorder:
    """Keep the utterances of a session that are complete.

    Invariant: ``cues`` is what the entries given so far amount to.
    """

    def __init__(self, utterances: UtteranceTracker, start_s: float = 0.0) -> None:
        """Begin without cues.

        Args:
            utterances: follows the session.
            start_s: when the program was started, by the clock of the utterances.
        """
        self._utterances = utterances
        self._start_s = start_s
        self._cues: dict[int, Cue] = {}
        self._forgotten: dict[int, Cue] = {}
        self._marked: int | None = None

    @property
    def cues(self) -> list[Cue]:
        """The complete cues in the order in which they began, the marked one as such."""
        cues = [
            replace(cue, marked=True) if key == self._marked else cue
            for key, cue in self._cues.items()
        ]
        return sorted(cues, key=lambda cue: cue.start_s)

    def mark(self, key: int) -> CueMarked | None:
        """Mark the utterance with this key, whether it is complete or not; no other is marked."""
        if key not in self._cues and self._utterances.with_key(key) is None:
            return None
        self._marked = key
        return CueMarked(key=key)

    def feed(self, event: Event, utterance: Utterance, now_s: float, language: str) -> Entry | None:
        """Take an event of the session.

        Args:
            event: about an utterance.
            utterance: as it is now.
            now_s: by the clock of the utterances.
            language: code of the target language.
        """
        if isinstance(event, UtteranceEnded):
            return self._keep(utterance, now_s, language)
        if isinstance(event, UtteranceDropped) and self._cues.pop(utterance.key, None) is not None:
            return CueWithdrawn(key=utterance.key)
        return None

    def flush(self, now_s: float, language: str) -> list[CueKept]:
        """Keep what is not translated to its end as it is: nothing more will come."""
        found = [one for one in self._utterances.open if one.words and not self._has(one)]
        return [self._keep(utterance, now_s, language) for utterance in found]

    def clear(self) -> None:
        """Forget everything."""
        self._forgotten, self._cues = self._cues, {}
        self._marked = None

    def bring_back(self) -> None:
        """Have the cues again that were forgotten last, before those that came since."""
        self._cues = self._forgotten | self._cues
        self._forgotten = {}

    def _has(self, utterance: Utterance) -> bool:
        """Tell whether an utterance is kept as it is."""
        cue = self._cues.get(utterance.key)
        return cue is not None and (cue.source, cue.text) == (
            utterance.source,
            utterance.caption.strip(),
        )

    def _keep(self, utterance: Utterance, now_s: float, language: str) -> CueKept:
        times_s = [word.spoken_at_s for word in utterance.fed]
        end_s = now_s if utterance.said_until_s is None else utterance.said_until_s
        cue = cue_of(
            utterance,
            utterance.begun_at_s - self._start_s,
            end_s - self._start_s,
            [time_s - self._start_s for time_s in times_s if time_s is not None],
            language,
        )
        self._cues[utterance.key] = cue
        return CueKept(key=utterance.key, cue=cue)
