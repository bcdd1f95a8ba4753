"""Test a line whose words are handed in one by one against the same line fed whole."""

import random
import re

import pytest
import torch

from engine.metrics.event_log import EventLog, read_events, replay
from engine.settings import TranslationSettings
from engine.translation.factory import make_system
from engine.translation.feed import feed_line
from tests.support.fakes import random_word, tiny_weights
from training.research.simuleval import WholeWords, WordByWord


def system_of(name, policy, log=None, **settings):
    settings = TranslationSettings(policy=policy, **settings)
    weights = tiny_weights(torch.float32)
    return make_system(name, weights, settings, capacity=2048, log=log or EventLog())


def pieces_of(line, words):
    return [line.feed(word, ended=n == len(words)) for n, word in enumerate(words, start=1)]


def delays_of(pieces):
    """For each word of what was handed over: when its last character was."""
    at = [n for n, piece in enumerate(pieces, start=1) for _ in piece]
    return [at[match.end() - 1] for match in re.finditer(r"\S+", "".join(pieces))]


@pytest.mark.parametrize("policy", ["read:1", "read:3", "wait:1", "wait:3", "offline"])
@pytest.mark.parametrize("name", ["slots", "retranslate"])
def test_words_and_delays_are_those_of_the_line_fed_whole(tmp_path, name, policy):
    rng = random.Random(4)
    n_lines = 4 if name == "slots" else 3
    lines = [[random_word(rng) for _ in range(rng.randint(1, 7))] for _ in range(n_lines)]
    lines[1][0] = "a" * 200  # is fed in parts
    path = tmp_path / "log.jsonl"
    with EventLog(path) as log:
        system = system_of(name, policy, log)
        for index, words in enumerate(lines):
            feed_line(system, log, index, " ".join(words))
    line = WordByWord(system_of(name, policy))
    told = list(replay(read_events(path)))
    handed = [pieces_of(line, words) for words in lines]
    assert [" ".join("".join(one).split()) for one in handed] == [one.hypothesis for one in told]
    assert [delays_of(one) for one in handed] == [list(one.delays) for one in told]
    assert sum(bool(one.delays) for one in told) > n_lines / 2


def test_of_a_growing_text_whole_words_alone_are_handed_over():
    rng = random.Random(9)
    for _ in range(300):
        text = "".join(rng.choice("ab,-é漢 \n") for _ in range(rng.randint(0, 30)))
        words, told, fed = WholeWords(), "", ""
        while fed != text:
            piece = text[len(fed) : len(fed) + rng.randint(1, 6)]
            fed += piece
            told += words.feed(piece)
            assert told.split() == fed.split()[: len(told.split())]
            n_whole = len(fed.split()) - (not fed[-1].isspace())  # the newest may go on
            assert len(told.split()) == n_whole
        assert told + words.flush() == text
        assert words.flush() == ""
