"""Whatever fails, pauses or is replaced, each word that is typed or heard is captioned once.

And it is shown once, though words that may still change stand behind those that are certain.

Nothing waits here for a thread: sessions work, and their events come, when the test says so.
"""

import os
import random
from collections import deque

import pytest
import shiboken6

from app.captions.model import Captions
from app.session.engine_bridge import EngineBridge
from app.session.unfinished_words import append
from engine.events import (
    TYPED,
    EndPassage,
    Failed,
    FedWord,
    FeedWords,
    Flush,
    Flushed,
    Ready,
    SetWords,
    untimed,
)
from engine.messages import Code
from engine.session.serving import Passages
from engine.settings import TranslationSettings
from engine.translation.captioner import SourceCaptioner
from engine.translation.passage import Passage
from engine.translation.targets import Targets

LANES = ("me", "them")
ENDS = [".", "", "", "", ""]
MOST_TAIL = 4
N_SEEDS = int(os.environ.get("SURTITLE_N_ORDERS", "60"))


class HandSession:
    """Captions words with themselves, a step at a time."""

    backlog_words = 0

    def __init__(self, report):
        self._report = report
        self._commands = deque()
        targets = Targets(SourceCaptioner(TranslationSettings()))
        self._passages = Passages(lambda lane: Passage(targets, lane))

    def start(self):
        pass

    def stop(self, _patience_s=0.0):
        pass

    def send(self, command):
        self._commands.append(command)

    def load(self):
        self._report(Ready(model="", languages={}, load_s=0.0))

    def fail(self):
        self._report(Failed(message=Code.OUT_OF_MEMORY(reason="none")))

    def work(self):
        """Report an event, or obey a command; return whether there was one."""
        for passage in self._passages:
            if (event := passage.advance()) is not None:
                self._report(event)
                return True
        if not self._commands:
            return False
        command = self._commands.popleft()
        if isinstance(command, Flush):
            self._report(Flushed(number=command.number))
        else:
            for event in self._passages.change(command):
                self._report(event)
        return True


class Hall:
    """Two who speak and one who types, the bridge to a session, and the rows that are shown."""

    def __init__(self, rng):
        self.rng = rng
        self.said = {lane: [] for lane in (*LANES, TYPED)}
        self.coming = {lane: [] for lane in LANES}  # what is said next
        self.line = []
        self.n_typed = 0
        self.made = []
        self.flushed = []
        self.bridge = EngineBridge(self._make)
        self.captions = Captions(self.bridge.utterances)
        self.bridge.taking_over.connect(self.captions.restart)
        self.bridge.utterance_changed.connect(self.captions.apply)
        self.bridge.event_came.connect(self._note)
        self.bridge.turn_ended.connect(self.captions.release_tails)
        self.bridge.waiting_changed.connect(
            lambda rows: self.captions.note_waiting({lane: it[-1].number for lane, it in rows})
        )

    def _make(self, _model, _translation, report):
        self.made.append(HandSession(report))
        return self.made[-1]

    def _note(self, event):
        if isinstance(event, Flushed):
            self.flushed.append(event.number)

    def speak(self):
        lane = self.rng.choice(LANES)
        said, coming, words = self.said[lane], self.coming[lane], []
        while len(coming) < 4 + MOST_TAIL:
            coming.append(f"w{len(said) + len(coming) + 1}{self.rng.choice(ENDS)}")
        for _ in range(self.rng.randint(1, 4)):
            said.append(coming.pop(0))
            words.append(FedWord(said[-1], number=len(said), spoken_at_s=0))
        self.bridge.send(FeedWords(tuple(words), lane))
        self.captions.set_tail(lane, coming[: self.rng.randint(0, MOST_TAIL)], len(said))

    def type(self):
        self.n_typed += 1
        self.line.append(f"t{self.n_typed}{self.rng.choice(ENDS)}")
        self.bridge.type_words(self.line)

    def correct(self):
        """Correct a word of the sentence that is not finished, or take the last one back."""
        ends = [n for n, word in enumerate(self.line, start=1) if word.endswith(".")]
        start = max(ends, default=0)
        if start < len(self.line):
            self.n_typed += 1
            self.line[self.rng.randrange(start, len(self.line))] = f"t{self.n_typed}"
            if self.rng.random() < 0.3:
                self.line.pop()
            self.bridge.type_words(self.line)

    def enter(self):
        self.bridge.send(EndPassage())
        self.said[TYPED] += self.line
        self.line = []

    def end_sentence(self):
        self.bridge.send(EndPassage(self.rng.choice(LANES)))

    def work(self):
        for session in self.made[-1:]:
            for _ in range(self.rng.randrange(6)):
                session.work()

    def look(self):
        self.bridge._events.take_all()

    def begin(self):
        self.bridge.start(None, TranslationSettings())
        self.bridge._run._loader.join()

    def load(self):
        if self.made and self.bridge.is_running:
            self.made[-1].load()

    def fail(self):
        if self.made:
            self.made[-1].fail()

    def pause(self):
        self.bridge.pause(paused=self.rng.random() < 0.5)

    def flush(self):
        self.bridge.send(Flush(self.rng.randrange(1000, 2000)))

    def finish(self):
        """Let a last session translate everything."""
        for lane in LANES:
            self.captions.set_tail(lane, [], len(self.said[lane]))
            self.bridge.send(EndPassage(lane))
        self.enter()
        self.bridge.pause(paused=False)
        self.bridge.send(Flush(7))
        self.look()
        if not self.bridge.is_running:
            self.begin()
        self.load()
        self.look()
        while self.made[-1].work():
            pass
        self.look()

    def is_in_order(self, lane):
        """Return whether no word of a lane is shown twice, and none before one said earlier."""
        views = [view for view in self.captions.views if view.lane == lane]
        words = " ".join(f"{view.source} {view.tail}" for view in views).split()
        numbers = [int(word.strip("w.")) for word in words]
        return numbers == sorted(set(numbers))

    def shown(self, lane):
        views = [view for view in self.captions.views if view.lane == lane]
        assert all(view.ended and view.caption == view.source and not view.tail for view in views)
        return " ".join(view.source for view in views)


def failed_behind(line):
    """A hall where a line was typed and captioned, and the session failed and is there again."""
    hall = Hall(random.Random(0))
    hall.begin()
    hall.load()
    hall.look()
    hall.bridge.type_words(line)
    while hall.made[-1].work():
        pass
    hall.fail()
    hall.look()
    hall.begin()
    hall.load()
    hall.look()
    return hall


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (["It", "rained.", "We", "left."], "It rained. We left."),
        (["It", "rains.", "We"], "It rained. It rains. We"),  # the first is final
    ],
)
def test_a_finished_sentence_of_an_open_line_is_captioned_once_though_the_session_failed(
    line, shown
):
    hall = failed_behind(["It", "rained.", "We"])
    hall.bridge.type_words(line)
    hall.finish()
    assert hall.shown(TYPED) == shown
    hall.bridge.stop()


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("start", range(0, N_SEEDS, 20))
def test_whatever_happens_in_whatever_order_every_word_is_captioned_once(start):
    for seed in range(start, start + 20):
        rng = random.Random(seed)
        hall = Hall(rng)
        acts = [hall.speak] * 6 + [hall.work] * 6 + [hall.look] * 4 + [hall.end_sentence] * 2
        acts += [hall.type] * 6 + [hall.correct, hall.enter]
        acts += [hall.begin, hall.load, hall.load, hall.fail, hall.pause, hall.flush]
        for _ in range(100):
            rng.choice(acts)()
            assert all(map(hall.is_in_order, LANES)), seed
        hall.finish()
        for lane in hall.said:
            assert hall.shown(lane) == " ".join(hall.said[lane]), seed
        assert hall.flushed[-1] == 7, seed
        assert hall.bridge._sent == [], seed
        hall.bridge.stop()
        shiboken6.delete(hall.bridge)  # here, not on a thread that collects garbage


class Watched(list):
    """A list that knows the first place that was looked at, and is never looked through."""

    first = None

    def __getitem__(self, place):
        self.first = place if self.first is None else min(place, self.first)
        return super().__getitem__(place)

    def tail(self, start):
        return super().__getitem__(slice(start, None))

    def __iter__(self):
        pytest.fail("the whole list was looked through")


def typed(text):
    return SetWords(untimed(text.split()))


def test_the_words_of_a_line_replace_those_of_before_however_many_lines_came_earlier():
    earlier = [typed("One line"), EndPassage(TYPED)] * 1000
    commands = Watched([*earlier, typed("It"), FeedWords(untimed(["said"]), "mic")])
    append(commands, typed("It is"))
    assert commands.first == len(earlier)
    assert commands.tail(len(earlier)) == [FeedWords(untimed(["said"]), "mic"), typed("It is")]


def test_the_words_of_a_line_replace_none_of_a_line_that_has_ended():
    earlier = [typed("One line"), EndPassage(TYPED)] * 1000
    commands = Watched(earlier)
    append(commands, typed("It"))
    assert commands.first == len(earlier) - 1
    assert commands.tail(len(earlier) - 2) == [*earlier[:2], typed("It")]
