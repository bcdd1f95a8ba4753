"""A live run over sound says what one masked pass says, and feeds every vector once.

Guards vectors, planner, cache, decisions and eviction together, in both layouts.
"""

import functools
import random
from collections import Counter

import numpy as np
import pytest
import torch

from engine.metrics.event_log import EventLog
from engine.runtime.sound import BlockStream
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_store import embedded
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from tests.support.direct.encoders import noise, tiny_encoder
from tests.support.direct.histories import History
from tests.support.fakes import tiny_weights
from tests.support.networks import TerseModel
from tests.support.rows import ghost
from training.research.adaptive import AdaptiveSpokenTranslator, PolicyHead, probability_of_others
from training.trainer.stream import Example, pad

LAYOUTS = ["slots", "interleaved"]

TURNED = 1e-4
"""Rotations of the library are float32, and an eviction turns keys by them."""


pytestmark = pytest.mark.usefixtures("papers")


def drawn_head(seed):
    return PolicyHead(np.random.default_rng(seed).normal(size=(2, tiny_weights().width)) * 0.3)


@functools.cache
def blocks_of(seed, seconds):
    """What a tiny encoder makes of a sound."""
    stream, rng = BlockStream(tiny_encoder(seed=seed % 3)), np.random.default_rng(seed)
    blocks = stream.feed(noise(rng, seconds)) + stream.flush()
    return [block.vectors for block in blocks]


def groups(rng, blocks):
    """The blocks as they come: some alone, some late and together."""
    start = 0
    while start < len(blocks):
        stop = start + rng.randint(1, 3)
        yield blocks[start:stop], stop >= len(blocks)
        start = stop


class Run:
    """Sound that was translated live, and what the model did."""

    def __init__(self, seed, layout, *, policy=None, seconds=8, capacity=2048, head=True):
        rng = random.Random(seed)
        self.events, self.weights = [], tiny_weights()
        taus = [0.1, 0.3, 0.7, 0.9] if head or layout == "slots" else [0.0001, 0.001, 0.01]
        settings = TranslationSettings(
            policy=policy or f"adaptive:{rng.choice(taus)}:{rng.randint(2, 9)}",
            layout=LayoutSettings(slot_length=rng.randint(3, 8), name=layout),
        )
        model = TerseModel(self.weights, capacity)
        log = EventLog(self.events)
        self.translator = AdaptiveSpokenTranslator(
            self.weights, settings, capacity=capacity, log=log, model=model
        )
        if head:
            self.translator.head = drawn_head(seed % 3)
        self.history = History(model)
        self.utterance = self.translator.open()
        for blocks, ended in groups(rng, blocks_of(seed, seconds)):
            self.utterance.hear(blocks, ended=ended)
            list(changes(self.utterance))

    @property
    def decisions(self):
        return [event for event in self.events if event["event"] == "decided"]


def in_one_pass(run):
    """The network's output for all rows ever fed, and where the rows of each pass stand in it.

    Rows that were taken back are ghosts behind all others.
    """
    entries = [entry for entry in run.history.entries if not entry.taken]
    rows = [entry.row for entry in entries]
    for number, one in enumerate(run.history.passes, start=1):
        taken = [entry for entry in one.entries if entry.taken]
        rows += ghost([entry.row for entry in taken], number)
        entries += taken
    batch = pad([Example(rows, ends_writes=False)])
    network = run.weights.network
    vectors = [torch.from_numpy(np.array(e.vector)) for e in entries if e.vector is not None]
    with torch.inference_mode():
        output = network(
            inputs_embeds=embedded(network, batch.ids, torch.stack(vectors)),
            position_ids=batch.places.encoded,
            attention_mask=batch.bias(Attention.of(network)),
            use_cache=False,
            output_hidden_states=True,
        )
    place = {id(entry): index for index, entry in enumerate(entries)}
    return output, [[place[id(entry)] for entry in one.entries] for one in run.history.passes]


def compare(run, logits, states, places, *, tolerance=1e-8):
    """Hold every pass of a run, and every decision, to what was computed at once."""
    found = Counter()
    likely = []
    for one, at in zip(run.history.passes, places, strict=True):
        may_follow = one.logits.isfinite()
        expected = logits[at[-1]][may_follow]
        torch.testing.assert_close(one.logits[may_follow], expected, rtol=0, atol=tolerance)
        found["passes"] += 1
        if one.states is not None:
            torch.testing.assert_close(one.states, states[at], rtol=0, atol=tolerance)
            found["looks"] += 1
        sources = [n for n, entry in zip(at, one.entries, strict=True) if entry.row.id < 0]
        likely.append(sources[-1] if sources else None)
    decided = iter(run.decisions)
    head, planner = run.translator.head, run.utterance.planner
    for one, at in zip(run.history.passes, likely, strict=True):
        if head is not None and one.states is None:
            continue
        if head is None:
            continue
        found["decided by the head"] += at is not None
        if at is None:
            assert next(decided)["write_probability"] == 0
        else:
            wanted = head.probability(states[at].numpy())
            assert next(decided)["write_probability"] == pytest.approx(wanted, rel=0, abs=tolerance)
    if head is not None:
        assert next(decided, None) is None
    found += Counter(event["action"] for event in run.decisions)
    found["taken back"] += any(entry.taken for entry in run.history.entries)
    found["overflowing"] += len(planner._state.phases) > 1
    found["evicted"] += run.history.n_evicted
    return found


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_live_run_has_the_logits_and_decisions_of_one_masked_pass(layout):
    found = Counter()
    for seed in range(12):
        run = Run(seed, layout)
        output, places = in_one_pass(run)
        found += compare(run, output.logits[0], output.hidden_states[-1][0], places)
        assert run.utterance.finished
    names = ["decided by the head", "read", "write", "overflowing"]
    names += ["taken back"] if layout == "slots" else []
    assert min(found[name] for name in names) > 5, found


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_without_a_head_the_model_itself_decides_as_in_one_masked_pass(layout):
    n_decided = 0
    for seed in range(4):
        run = Run(seed, layout, head=False)
        output, places = in_one_pass(run)
        compare(run, output.logits[0], output.hidden_states[-1][0], places)
        prompt = run.utterance.prompt
        if layout == "slots":
            looks = iter(run.decisions)
            likely = [
                probability_of_others(one.logits.numpy(), prompt.end_of_write)
                for one in run.history.passes
                if not one.logits.isfinite().all()
            ]
            assert all(look["write_probability"] in likely for look in looks)
        n_decided += len(run.decisions)
    assert n_decided > 20


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_was_evicted_changes_later_rows_by_its_absence_alone(layout):
    """Against a network that computes each pass from all rows, by the definition."""
    found = Counter()
    for seed in range(2):
        run = Run(seed, layout, seconds=24, capacity=120)
        logits, states = run.history.recomputed(run.weights.network)
        index_of = {id(entry): index for index, entry in enumerate(run.history.entries)}
        places = [[index_of[id(entry)] for entry in one.entries] for one in run.history.passes]
        found += compare(run, logits, states, places, tolerance=TURNED)
    names = ("decided by the head", "read", "write", "evicted")
    assert min(found[name] for name in names) > 10, found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("capacity", [120, 2048])
def test_every_vector_is_fed_once_and_no_look_that_was_taken_back_stays(layout, capacity):
    n_taken = 0
    for seed in range(3):
        run = Run(seed, layout, seconds=16, capacity=capacity)
        fed = [entry.row.id for entry in run.history.entries if entry.row.id < 0]
        assert fed == [-1 - n for n in range(2 * len(blocks_of(seed, 16)))]
        assert not any(e.taken for e in run.history.entries if e.row.id < 0)
        assert [e.row.id for e in run.history.cached] == [r.id for r in run.utterance.fed_rows()]
        assert run.translator.model.n_rows == len(run.history.cached)
        assert run.translator.counters.tokens_recomputed == 0
        n_taken += sum(entry.taken for entry in run.history.entries)
        assert n_taken == 0 or layout == "slots"
    assert n_taken > 10 or layout == "interleaved"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_cut_of_the_sound_makes_no_difference(layout):
    for seed in range(2):
        for policy in ("adaptive:0.4:5", "read:3", "offline"):
            captions = []
            for one_by_one in (True, False):
                run = Run(seed, layout, policy=policy, seconds=0.3)
                utterance, blocks = run.translator.open(), blocks_of(seed, 8)
                for start in range(0, len(blocks), 1 if one_by_one else len(blocks)):
                    stop = start + (1 if one_by_one else len(blocks))
                    ended = stop >= len(blocks)
                    utterance.hear(blocks[start:stop], ended=ended)
                    list(changes(utterance))
                captions.append((utterance.caption, utterance.fed_rows()))
            assert captions[0] == captions[1]


def test_vectors_of_evicted_rows_are_forgotten():
    run = Run(0, "slots", seconds=60, capacity=120)
    assert run.history.n_evicted > 100
    assert len(run.utterance.vectors) < 60
    assert run.utterance._marks == []


def test_returning_to_an_utterance_after_another_feeds_its_vectors_again_and_counts_them():
    run = Run(1, "slots", policy="read:2", seconds=0.3)
    translator, model = run.translator, run.translator.model
    blocks, others = blocks_of(1, 8), blocks_of(2, 8)
    one, other = translator.open(), translator.open()
    for start in range(0, 8, 2):
        for utterance, sound in ((one, blocks), (other, others)):
            utterance.hear(sound[start : start + 2], ended=start == 6)
            list(changes(utterance))
    assert translator.counters.tokens_recomputed > 0
    alone = Run(1, "slots", policy="read:2", seconds=0.3).translator
    twin = alone.open()
    for start in range(0, 8, 2):
        twin.hear(blocks[start : start + 2], ended=start == 6)
        list(changes(twin))
    assert one.caption == twin.caption
    assert model.n_rows == len(other.fed_rows())


def test_an_utterance_that_has_ended_hears_nothing_more():
    run = Run(0, "slots", seconds=0.3)
    with pytest.raises(ValueError, match="hears nothing more"):
        run.utterance.hear(blocks_of(1, 8))
