"""The same words in the same groups have the same captions however they come, to the end of a text.

Words that come together are read together. Typed, heard, read from a file, scored: the model of
these tests says something else as soon as it was fed one row too early, too late or not at all. A
correction takes back what was read from the changed word on; what follows comes as one group.
"""

import random
from functools import partial
from itertools import accumulate, pairwise

import pytest

from app.cli.translate import TerminalSettings, _captions
from engine.events import EndPassage, FeedWords, SetWords, n_same, untimed
from engine.metrics.event_log import EventLog, replay
from engine.session.serving import Passages
from engine.settings import ModelSettings
from engine.text.sentences import is_strange
from engine.translation.feed import feed_line
from engine.translation.passage import Passage
from engine.translation.targets import Targets
from tests.support.fakes import Receiver, hashing_translator, random_word
from training.research.simuleval import WordByWord
from training.research.talks import feed_talk

N_SEQUENCES = 36
POLICIES = ["read:1", "read:2", "read:3", "read:5:7", "wait:3", "offline"]
ENDS = [".", "?", "...", '."', ",", ":", *[""] * 18]
OTHERS = [
    "Mr.",
    "p.m.",
    "etc.",
    "😀",
    "two😀",
    "漢字",
    "😀.",
    "(ab)",
    "22,900",
    "a" * 60,
    "é" * 170,
]


class Lane:
    """What is typed or heard, and what a window makes of it."""

    def __init__(self, make):
        targets = Targets(make())
        self._passages = Passages(lambda lane: Passage(targets, lane))
        self.receiver = Receiver()

    def send(self, command, *, rest=True):
        """Carry out a command; translate to the end, or an event's worth."""
        for event in self._passages.change(command):
            self.receiver(event)
        for passage in self._passages:
            while (event := passage.advance()) is not None:
                self.receiver(event)
                if not rest:
                    return

    @property
    def text(self):
        """Source and caption of every sentence."""
        return self.receiver.text


def typed(make, words, groups, rests=lambda: True):
    """Type words, so many at a time; what stands is translated before more comes, or not."""
    lane = Lane(make)
    for stop in accumulate(groups):
        lane.send(SetWords(untimed(words[:stop])), rest=rests())
    lane.send(EndPassage())
    return lane.text


def heard(make, words, groups, rests):
    lane, start = Lane(make), 0
    for stop in accumulate(groups):
        lane.send(FeedWords(untimed(words[start:stop]), "me"), rest=rests())
        start = stop
    lane.send(EndPassage("me"))
    return lane.text


def edited(make, words, rng):
    """Type something else, correct it at random, and come to these words in the end.

    Return what a window makes of it, and in which groups the words came that stand at last.
    """
    lane, now, ends = Lane(make), list[str](), list[int]()

    def set_words(news, *, rest):
        same = n_same(now, news)
        ends[:] = [*(end for end in ends if end <= same), len(news)]
        now[:] = news
        lane.send(SetWords(untimed(news)), rest=rest)

    for _ in range(rng.randint(1, 8)):
        start = rng.randint(0, len(now))
        stop = rng.choice([start, len(now), min(len(now), start + rng.randrange(4))])
        here = rng.randint(0, len(words))
        news = words[here : here + rng.randrange(4)] if rng.random() < 0.7 else drawn(rng, 2)
        set_words([*now[:start], *news, *now[stop:]], rest=rng.random() < 0.6)
    if rng.random() < 0.5:  # the last correction, or the last words
        set_words(words[: rng.randint(0, len(words))], rest=rng.random() < 0.6)
    set_words(words, rest=rng.random() < 0.5)
    lane.send(EndPassage())
    return lane.text, [stop - start for start, stop in pairwise([0, *ends])]


def in_the_terminal(make, words, *, live):
    settings = TerminalSettings(model=ModelSettings(directory="."), live=live)
    return "".join(_captions(make(), " ".join(words), settings)).split()


def as_a_talk(make, words):
    translator = make()
    log = translator.log
    list(feed_talk(translator, log, 0, words))
    return replayed(log)


def as_a_line(make, words, groups=()):
    translator, stops = make(), list(accumulate(groups))
    came = [(0.0, float(stop)) for n, stop in zip(groups, stops, strict=True) for _ in range(n)]
    feed_line(translator, translator.log, 0, " ".join(words), came)
    return replayed(translator.log)


def by_a_foreign_loop(make, words):
    line = WordByWord(make())
    return "".join(
        line.feed(word, ended=n == len(words)) for n, word in enumerate(words, 1)
    ).split()


def replayed(log):
    (told,) = replay(log.rows)
    return told.hypothesis.split()


def drawn(rng, most):
    """Words, few of which end a sentence; a fifth is no ordinary word."""
    return tuple(
        rng.choice(OTHERS) if rng.random() < 0.2 else random_word(rng) + rng.choice(ENDS)
        for _ in range(rng.randint(1, most))
    )


class Log(EventLog):
    """A log that is read while it is written."""

    def __init__(self):
        self.rows = []
        super().__init__(self.rows)


def makers(policy, rng):
    slot_length = rng.randint(3, 16)
    return lambda: hashing_translator(policy, slot_length=slot_length, log=Log())


def drawn_groups(n_words, rng):
    groups = []
    while (rest := n_words - sum(groups)) > 0:
        groups.append(min(rest, rng.randint(1, 4)))
    return groups


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_groups_of_words_have_the_same_captions_typed_and_heard(policy):
    for seed in range(N_SEQUENCES // len(POLICIES)):
        rng = random.Random(seed)
        make, words = makers(policy, rng), drawn(rng, 9)
        groups = drawn_groups(len(words), rng)
        wanted = typed(make, words, groups)
        rests = partial(rng.choice, (True, True, False))
        for way in (typed, heard):
            assert way(make, words, groups, rests) == wanted, words
        if len(wanted) == 1 and not is_strange(words):
            captions = wanted[0][1].split()
            assert as_a_line(make, words, groups) == captions, (words, groups)


@pytest.mark.parametrize("policy", POLICIES)
def test_edited_words_have_the_captions_of_the_groups_in_which_they_came(policy):
    """A correction leaves the groups before it, and brings the rest as one."""
    for seed in range(20):
        rng = random.Random(seed)
        make, words = makers(policy, rng), [random_word(rng) for _ in range(9)]
        found, groups = edited(make, words, rng)
        assert found == typed(make, words, groups), (words, groups)


@pytest.mark.parametrize("policy", POLICIES)
def test_whatever_was_edited_before_all_words_are_read_to_the_end(policy):
    for seed in range(N_SEQUENCES // len(POLICIES)):
        rng = random.Random(seed)
        make, words = makers(policy, rng), drawn(rng, 9)
        sources = [source for source, _ in typed(make, words, [len(words)])]
        assert [source for source, _ in edited(make, words, rng)[0]] == sources


@pytest.mark.parametrize("policy", POLICIES)
def test_word_by_word_the_same_captions_come_everywhere(policy):
    for seed in range(N_SEQUENCES // len(POLICIES)):
        rng = random.Random(seed)
        make, words = makers(policy, rng), drawn(rng, 9)
        wanted = typed(make, words, [1] * len(words))
        captions = " ".join(caption for _, caption in wanted).split()
        assert as_a_talk(make, words) == captions, words
        if any(is_strange(source) for source, _ in wanted):
            continue  # files and test sets copy what no model can read
        assert in_the_terminal(make, words, live=True) == captions, words
        if len(wanted) == 1:
            assert as_a_line(make, words) == captions, words
            assert by_a_foreign_loop(make, words) == captions, words


@pytest.mark.parametrize("end", [".", ""])
def test_a_sentence_that_turns_out_to_be_in_another_script_has_no_caption_however_it_comes(end):
    make, words = makers("read:1", random.Random(0)), ("ab", "漢字漢字" + end)
    assert typed(make, words, [1, 1]) == typed(make, words, [2]) == [(words, "")]
    more = ("ab", "漢字漢字", *"cd de fg gh ab".split())
    slowly, at_once = typed(make, more, [1] * 7), typed(make, more, [7])
    assert [source for source, _ in slowly] == [source for source, _ in at_once]
    assert slowly != [(more, "")] != at_once
