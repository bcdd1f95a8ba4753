"""Loops in the systems: cut, counted, logged, and nothing computed again for it."""

import itertools
import json
import random
from dataclasses import replace

import pytest
import torch

from engine.layout.rows import visible
from engine.metrics.event_log import EventLog
from engine.settings import TranslationSettings
from engine.text.prompt import word_ids
from engine.translation.feed import changes
from engine.translation.retranslator import Retranslator
from tests.support.commands import bare
from tests.support.fakes import (
    HashingModel,
    hashing_translator,
    obey,
    random_word,
    teach,
    tiny_tokenizer,
    tiny_weights,
)

POLICIES = ["read:1", "read:3", "wait:1", "wait:3", "offline"]


def phrase_for(policy):
    """Ids that no source holds in a row: letters with a blank before them, and without."""
    return random.Random(policy).sample(range(270, 384), 3)


def says_again_and_again(phrase):
    """A model that repeats a phrase for ever."""

    def next_id(utterance):
        n_words = sum(id_ not in utterance.prompt.markers for id_ in utterance.state.chosen)
        return phrase[n_words % len(phrase)]

    return next_id


def or_ends(next_id):
    """The same model, but wise enough to end a write where it would loop."""

    def wise(utterance):
        id_ = next_id(utterance)
        prompt = utterance.prompt
        end = prompt.end_of_write if utterance.policy.ends_writes else prompt.end_of_target
        return end if utterance.loops_with(id_) else id_

    return wise


def type_and_translate(engine, words):
    utterance = engine.open()
    for n_words in range(1, len(words) + 1):
        utterance.set_source(bare(words[:n_words], ended=n_words == len(words)))
        list(changes(utterance))
    return utterance


def meaning(utterance):
    """Rows without their clock: id, position, label, and who sees whom."""
    rows = utterance.fed_rows()
    position, time = (torch.tensor([row[field] for row in rows]) for field in (1, 2))
    return [(row.id, row.position) for row in rows], visible(
        position, time, position, time
    ).tolist()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_cut_loop_is_what_a_model_that_ends_there_would_have_written(policy):
    rng = random.Random(policy)
    says = says_again_and_again(phrase_for(policy))
    n_cut = 0
    for _ in range(10):
        words = [random_word(rng) for _ in range(8)]
        cutting, wise = hashing_translator(policy), hashing_translator(policy)
        obey(cutting, says)
        obey(wise, or_ends(says))
        cut, ended = type_and_translate(cutting, words), type_and_translate(wise, words)
        assert (cut.caption, cut.state.chosen) == (ended.caption, ended.state.chosen)
        assert meaning(cut) == meaning(ended)
        assert cut.finished
        assert cutting.counters.tokens_recomputed == 0
        fed_for_good = cutting.model.tokens_fed - cutting.counters.probes
        assert fed_for_good == cut.planner.n_fed == cutting.model.n_rows
        n_cut += cutting.counters.loops_cut
        assert wise.counters.loops_cut == 0
    assert n_cut >= 10


@pytest.mark.parametrize("policy", POLICIES)
def test_where_loops_are_not_cut_only_the_length_ends_them(policy, tmp_path):
    reasons = {}
    for cut_loops in (True, False):
        path = tmp_path / f"{cut_loops}.jsonl"
        with EventLog(path) as log:
            engine = hashing_translator(policy, log=log)
            engine.configure(replace(engine.settings, cut_loops=cut_loops))
            obey(engine, says_again_and_again(phrase_for(policy)))
            utterance = type_and_translate(engine, ["abc", "de", "f", "gab"])
        events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        cuts = [event["why"] for event in events if event["event"] == "cut"]
        reasons[cut_loops] = set(cuts)
        assert engine.counters.loops_cut == cuts.count("loop")
        assert utterance.finished
    assert reasons == {True: {"loop"}, False: {"length"}}


@pytest.mark.parametrize("policy", ["wait:1", "wait:3"])
def test_a_word_that_never_ends_is_cut_while_its_sentence_goes_on(policy):
    engine = hashing_translator(policy)
    begins = engine.words_begun
    first = next(id_ for id_ in range(270, 384) if begins[id_])
    within = next(id_ for id_ in range(270, 384) if not begins[id_])
    obey(engine, lambda utterance: within if utterance.n_chosen else first)
    utterance = engine.open()
    utterance.set_source(bare(["abc", "de", "f", "gab"], ended=False))
    list(changes(utterance))
    assert utterance.target == [first] + [within] * 5
    assert engine.counters.loops_cut == engine.counters.probes > 0


def test_drafts_that_loop_are_cut_and_counted():
    lengths = {}
    for cut_loops in (True, False):
        settings = TranslationSettings(policy="wait:1", cut_loops=cut_loops)
        engine = Retranslator(tiny_weights(), settings, capacity=64)
        engine.model = model = HashingModel()
        ids, feed = itertools.cycle(phrase_for("wait:1")), model.feed
        teach(model, lambda rows, _, ids=ids, feed=feed: feed(rows) and next(ids))
        utterance = engine.open()
        utterance.set_source(bare(["abc", "de"], ended=True))
        list(changes(utterance))
        assert utterance.finished
        lengths[cut_loops] = len(utterance.committed)
        assert (engine.counters.loops_cut > 0) == cut_loops
    assert lengths[True] < lengths[False]


NUMBER = "22.900"


def letters_and_number(n_letters):
    """Ids of letters without end, and after so many of them the number."""
    letters = itertools.cycle(word_ids(tiny_tokenizer(), "ab")[-2:])
    number = word_ids(tiny_tokenizer(), NUMBER)
    return itertools.chain(itertools.islice(letters, n_letters), number, letters)


def digits_said(engine):
    """What a caption has of the number when its utterance was cut."""
    utterance = engine.open()
    utterance.set_source(bare(["costs", "22,900"], ended=True))
    list(changes(utterance))
    assert utterance.finished
    return "".join(one for one in utterance.caption if one in "0123456789.")


@pytest.mark.parametrize("policy", ["read:3", "wait:3", "offline"])
def test_a_write_that_is_too_long_is_not_cut_inside_a_number(policy):
    found = set()
    for n_letters in range(30, 70):
        engine = hashing_translator(policy)
        engine.configure(replace(engine.settings, cut_loops=False))
        ids = list(itertools.islice(letters_and_number(n_letters), 200))
        obey(engine, lambda utterance, ids=ids: ids[len(utterance.target)])
        found.add(digits_said(engine))
    assert found == {"", NUMBER}


def test_a_draft_that_is_too_long_is_not_cut_inside_a_number():
    found = set()
    for n_letters in range(30, 70):
        settings = TranslationSettings(policy="offline", cut_loops=False)
        engine = Retranslator(tiny_weights(), settings, capacity=256)
        engine.model = model = HashingModel()
        ids, feed = letters_and_number(n_letters), model.feed
        teach(model, lambda rows, _, ids=ids, feed=feed: feed(rows) and next(ids))
        found.add(digits_said(engine))
    assert found == {"", NUMBER}
