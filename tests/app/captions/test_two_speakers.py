"""Two sources at once: what stands in the rows is what was said, no more and no less.

The words of both go through the passages of a session, in pieces, late and in turns.
"""

import random
from collections import deque

import pytest

from app.captions.model import Captions
from engine.commands import EndPassage, FeedWords
from engine.session.serving import Passages
from engine.translation.passage import Passage
from engine.translation.targets import Targets
from engine.utterances import UtteranceTracker
from engine.words import FedWord
from tests.support.fakes import hashing_translator

LANES = ("me", "them")
ENDS = [".", "?", "", "", ""]
MOST_TAIL = 4


class Meeting:
    """Two speakers, the session that gets their words, and the rows that are shown."""

    def __init__(self, rng):
        targets = Targets(hashing_translator("read:2"))
        self._rng = rng
        self._passages = Passages(lambda lane: Passage(targets, lane))
        self._commands = deque()  # on their way to the session
        self._events = deque()  # on their way to the window
        self.said = {lane: [f"{n}th{rng.choice(ENDS)}" for n in range(25)] for lane in LANES}
        self._n_committed = dict.fromkeys(LANES, 0)
        self._utterances = UtteranceTracker()
        self._captions = Captions(self._utterances)

    def speak(self, lane):
        """Commit some words, and show those that may follow."""
        start = self._n_committed[lane]
        stop = self._n_committed[lane] = min(len(self.said[lane]), start + self._rng.randrange(5))
        said = enumerate(self.said[lane][start:stop], start=start + 1)
        words = tuple(FedWord(text, number=number) for number, text in said)
        if words:
            self._commands.append(FeedWords(words, lane))
        tail = self.said[lane][stop : stop + self._rng.randint(0, MOST_TAIL)]
        self._captions.set_tail(lane, tail, stop)

    def pause(self, lane):
        self._commands.append(EndPassage(lane))

    def work(self):
        """Let the session carry out a command, or translate a little; return whether it did."""
        if self._commands and self._rng.random() < 0.5:
            self._events += self._passages.change(self._commands.popleft())
            return True
        for passage in self._passages:
            if (event := passage.advance()) is not None:
                self._events.append(event)
                return True
        return bool(self._commands)

    def look(self):
        """Let an event come to the window; return whether there was one."""
        if not self._events:
            return False
        event = self._events.popleft()
        utterance = self._utterances.take(event, 0.0)
        if utterance is not None:
            self._captions.apply(event, utterance)
        self._captions.release_tails()
        return True

    def end(self):
        for lane in LANES:
            while self._n_committed[lane] < len(self.said[lane]):
                self.speak(lane)
            self.pause(lane)
        while self.work() or self.look():
            pass

    def rows(self, lane):
        """The rows of a speaker, with the words that may change."""
        return [view for view in self._captions.views if view.lane == lane]

    def shown(self, lane):
        """The words in these rows."""
        return " ".join(f"{view.source} {view.tail}" for view in self.rows(lane)).split()


@pytest.mark.parametrize("seed", range(8))
def test_no_word_of_two_speakers_is_shown_twice_and_no_sentence_is_lost(seed):
    rng = random.Random(seed)
    meeting = Meeting(rng)
    for _ in range(300):
        lane = rng.choice(LANES)
        act = rng.choice([meeting.work, meeting.look, meeting.look, meeting.look])
        if rng.random() < 0.1:
            meeting.speak(lane)
        elif rng.random() < 0.02:
            meeting.pause(lane)
        act()
        for lane in LANES:
            shown = meeting.shown(lane)
            places = [meeting.said[lane].index(word) for word in shown]
            assert places == sorted(set(places)), shown  # a sentence may come after the next one
    meeting.end()
    for lane in LANES:
        assert meeting.shown(lane) == meeting.said[lane]
        assert all(view.ended and not view.tail for view in meeting.rows(lane))
