"""When the words that may still change may be shown anew. Plain Python.

Words that became certain leave the tail at once, and come back from the session a little later. In
between they would be nowhere; so a tail stays as it was until the words before it have come.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from engine.events import Event, SourceChanged, UtteranceDropped, UtteranceEnded, UtteranceOpened

_UNSURE_MARKS = ".,;:"


def dotted(tail: str) -> str:
    """Put dots behind words that may still change, which so are not told by their colour alone."""
    return tail.rstrip(_UNSURE_MARKS) + "…" if tail else ""


class TentativeWords:
    """Hold each lane's newest tail back until all words before it are in sight."""

    def __init__(self) -> None:
        self._n_fed = Counter[str]()
        self._n_back = Counter[str]()
        self._n_waiting: Mapping[str, int] = {}
        self._lanes: dict[int, str] = {}  # of open utterances
        self._n_words = Counter[int]()
        self._held: dict[str, tuple[int, tuple[str, ...]]] = {}

    def feed(self, lane: str, n_words: int) -> None:
        """Take that so many words became certain and were handed on."""
        self._n_fed[lane] += n_words

    def take(self, event: Event) -> None:
        """Take an event of the session: which words came back."""
        match event:
            case UtteranceOpened(utterance=number, lane=lane) if lane:
                self._lanes[number] = lane
            case SourceChanged(utterance=number, words=words) if number in self._lanes:
                lane = self._lanes[number]
                n_more = len(words) - self._n_words[number]
                self._n_words[number] = len(words)
                self._n_back[lane] = min(self._n_back[lane] + n_more, self._n_fed[lane])
            case UtteranceEnded(utterance=number) | UtteranceDropped(utterance=number):
                self._lanes.pop(number, None)
                self._n_words.pop(number, None)

    def wait(self, n_words: Mapping[str, int]) -> None:
        """Take how many words of each lane wait for the session, and are shown as waiting."""
        self._n_waiting = n_words

    def hold(self, lane: str, words: Sequence[str]) -> None:
        """Take a lane's newest tail."""
        self._held[lane] = (self._n_fed[lane], tuple(words))

    def release(self) -> dict[str, tuple[str, ...]]:
        """Give the tails that may be shown now, by lane; each once."""
        ready = {
            lane: words
            for lane, (n_before, words) in self._held.items()
            if self._n_back[lane] + self._n_waiting.get(lane, 0) >= n_before
        }
        for lane in ready:
            del self._held[lane]
        return ready

    def restart(self) -> None:
        """Make ready for a new session, whose numbers begin again."""
        self._lanes.clear()
        self._n_words.clear()
        self._n_back = Counter(self._n_fed)
