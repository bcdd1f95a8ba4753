"""Words that were heard and sent to a session, until they are translated to their end. No Qt."""

from collections import deque
from collections.abc import Sequence

from engine.events import Event, SourceChanged, UtteranceDropped, UtteranceEnded, UtteranceOpened

_END = None  # stands among the words where a passage ended


class SentWords:
    """Follow a session, to know what another must be told when this one fails.

    Words are counted, not searched: those of a lane come back in its utterances, in order.
    """

    def __init__(self) -> None:
        self._sent: dict[str, deque[str | None]] = {}
        self._lanes: dict[int, str] = {}  # of utterances that are open
        self._n_words: dict[int, int] = {}

    def feed(self, lane: str, words: Sequence[str]) -> None:
        """Note words that were sent."""
        self._sent.setdefault(lane, deque()).extend(words)

    def end(self, lane: str) -> None:
        """Note that the passage of a lane was finished."""
        self._sent.setdefault(lane, deque()).append(_END)

    def take(self, event: Event) -> None:
        """Take an event of the session: words of utterances that ended need no other session."""
        match event:
            case UtteranceOpened(utterance=number, lane=lane) if lane in self._sent:
                self._lanes[number] = lane
            case SourceChanged(utterance=number, words=words) if number in self._lanes:
                self._n_words[number] = len(words)
            case UtteranceEnded(utterance=number) | UtteranceDropped(utterance=number):
                self._forget(number)

    def take_unfinished(self) -> list[tuple[str, tuple[str, ...], bool]]:
        """Give what did not come back, and forget it: another session numbers anew.

        Returns:
            passage by passage its lane, its words, and whether it was finished.
        """
        passages = []
        for lane, sent in self._sent.items():
            words: list[str] = []
            for one in sent:
                if one is not _END:
                    words.append(one)
                elif words:
                    passages.append((lane, tuple(words), True))
                    words = []
            if words:
                passages.append((lane, tuple(words), False))
        self._sent.clear()
        self._lanes.clear()
        self._n_words.clear()
        return passages

    def _forget(self, utterance: int) -> None:
        lane = self._lanes.pop(utterance, None)
        n_words = self._n_words.pop(utterance, 0)
        if lane is None:
            return
        sent = self._sent[lane]
        while sent and n_words:
            n_words -= sent.popleft() is not _END
