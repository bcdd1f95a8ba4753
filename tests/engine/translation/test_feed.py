"""Test how a source line is fed, on the delays that its log tells."""

import random

import pytest
import torch

from engine.metrics.event_log import EventLog, read_events, replay
from engine.settings import TranslationSettings, UtteranceLimits
from engine.text.sentences import Sentence
from engine.translation.factory import make_system
from engine.translation.feed import cut_line, feed_line, feed_sentence
from tests.support.fakes import hashing_translator, random_word, tiny_weights

LIMITS = UtteranceLimits()
POLICIES = ["read:1", "read:3", "wait:1", "wait:3", "offline"]


@pytest.fixture
def translate(tmp_path):
    """Translate lines through a log: ``translate(system name, policy, lines)``."""

    def run(name, policy, lines):
        path = tmp_path / f"{name}.{policy}.jsonl"
        with EventLog(path) as log:
            weights, settings = tiny_weights(torch.float32), TranslationSettings(policy=policy)
            system = make_system(name, weights, settings, capacity=2048, log=log)
            for index, line in enumerate(lines):
                feed_line(system, log, index, line)
        return list(replay(read_events(path)))

    return run


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["slots", "retranslate"])
def test_delays_never_fall_and_end_within_the_source(translate, name, policy):
    rng = random.Random(1)
    lines = ["  ".join(random_word(rng) for _ in range(rng.randint(1, 9))) for _ in range(5)]
    told = translate(name, policy, lines)
    assert [one.source for one in told] == [tuple(line.split()) for line in lines]
    for one in told:
        assert len(one.delays) == len(one.hypothesis.split())
        assert list(one.delays) == sorted(one.delays)
        assert all(1 <= delay <= len(one.source) for delay in one.delays)
        assert len(one.ms) == len(one.source)
        if policy == "offline":
            assert set(one.delays) <= {len(one.source)}
    assert sum(len(one.delays) for one in told) > len(lines)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_line_is_translated_the_same_wherever_it_stands(translate, policy):
    rng = random.Random(2)
    lines = [" ".join(random_word(rng) for _ in range(rng.randint(1, 9))) for _ in range(6)]
    forwards = translate("slots", policy, lines)
    (alone,) = translate("slots", policy, lines[3:4])
    assert (alone.hypothesis, alone.delays) == (forwards[3].hypothesis, forwards[3].delays)


def test_wait_k_begins_word_j_when_k_plus_j_words_are_read(tmp_path):
    n_words = 0
    for seed in range(40):
        rng = random.Random(seed)
        path = tmp_path / f"{seed}.jsonl"
        with EventLog(path) as log:
            system = hashing_translator("wait:2", log=log)
            feed_line(system, log, 0, " ".join(random_word(rng) for _ in range(8)))
        (told,) = replay(read_events(path))
        caption = system._cached.caption
        if set(filter(str.isspace, caption)) <= {" "}:  # the engine's words are the field's too
            # later than that where the model had nothing to add
            assert all(delay >= min(2 + j, 8) for j, delay in enumerate(told.delays))
            n_words += len(told.delays)
    assert n_words > 40


def test_a_line_is_one_utterance_though_it_holds_several_sentences():
    assert cut_line("Yes. No! Why?", LIMITS) == [Sentence(("Yes.", "No!", "Why?"), ended=True)]


def test_a_line_over_the_limits_is_cut_and_nothing_is_lost():
    line = " ".join(f"word{n}" for n in range(500))
    parts = cut_line(line, LIMITS)
    assert len(parts) > 10
    assert " ".join(word for part in parts for word in part.words) == line
    assert cut_line("", LIMITS) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_the_last_word_that_is_fed_ends_its_utterance_also_without_a_full_stop(policy):
    rng = random.Random(3)
    for _ in range(10):
        words = [random_word(rng) for _ in range(rng.randint(1, 9))]
        caption = ""
        sentence = Sentence(tuple(words), ended=True)
        for changes in feed_sentence(hashing_translator(policy).open(), sentence):
            for change in changes:
                caption = caption[: change.kept] + change.text
        log = EventLog(rows := [])
        feed_line(hashing_translator(policy, log=log), log, 0, " ".join(words))
        (whole,) = replay(rows)
        assert " ".join(caption.split()) == whole.hypothesis, words
