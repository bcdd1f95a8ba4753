"""When the words that may still change may be shown anew. Plain Python.

Words that became certain leave the tail at once, and come back from the session a little later. In
between they would be nowhere; so a tail stays as it was until the words before it have come.
"""

from collections.abc import Mapping, Sequence

from engine.utterances import UtteranceTracker

_UNSURE_MARKS = ".,;:"


def dotted(tail: str) -> str:
    """Put dots behind words that may still change, so that not only their colour shows it."""
    return tail.rstrip(_UNSURE_MARKS) + "…" if tail else ""


class TentativeWords:
    """Hold each lane's newest tail back until all words before it are in sight."""

    def __init__(self, utterances: UtteranceTracker) -> None:
        self._utterances = utterances
        self._n_waiting: Mapping[str, int] = {}
        self._held: dict[str, tuple[int, tuple[str, ...]]] = {}

    def wait(self, n_words: Mapping[str, int]) -> None:
        """Take how many words of each lane wait for the session, and are shown as waiting."""
        self._n_waiting = n_words

    def hold(self, lane: str, words: Sequence[str]) -> None:
        """Take a lane's newest tail."""
        self._held[lane] = (self._utterances.n_fed(lane), tuple(words))

    def release(self) -> dict[str, tuple[str, ...]]:
        """Give the tails that may be shown now, by lane; each once."""
        ready = {
            lane: words
            for lane, (n_before, words) in self._held.items()
            if self._n_in_sight(lane) >= n_before
        }
        for lane in ready:
            del self._held[lane]
        return ready

    def _n_in_sight(self, lane: str) -> int:
        utterances = self._utterances
        return utterances.n_fed(lane) - utterances.n_waiting(lane) + self._n_waiting.get(lane, 0)
