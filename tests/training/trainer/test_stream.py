import itertools
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
import torch

from engine.layout.rows import IGNORE
from engine.runtime.torch.attention import Attention
from tests.support.fakes import bare_prompt, numbered_pair
from tests.support.networks import ALIBI, ARCHITECTURES, tiny_network
from tests.support.rows import random_examples
from training.settings import Mixture
from training.trainer.checkpoint import Counters
from training.trainer.loss import ForwardLoss, Markers
from training.trainer.processes import OneProcess
from training.trainer.samples import METHODS, CorpusPair
from training.trainer.stream import (
    Filled,
    Stream,
    epoch_order,
    pack,
    pack_lines,
    pad,
    share_step,
    share_steps,
    steps_ahead,
)


def corpus(n_pairs, *names):
    rng = random.Random(0)
    return [
        CorpusPair(numbered_pair(rng), "de", names[index % len(names)] if names else "all")
        for index in range(n_pairs)
    ]


def stream(**changes):
    values = {
        "pairs": corpus(60),
        "prompts": {"de": bare_prompt()},
        "weights": {},
        "method": METHODS["exposst"],
        "mixture": Mixture(),
        "slot_lengths": (16,),
        "arrangement": Filled(20, 60, 5),
        "seed": 1,
    }
    return Stream(**(values | changes))


def batches_of(steps):
    """The batch of each step, as a run packs it."""
    for one in steps:
        (only,) = share_step(one, 0, 1, 1).passes
        yield only.batch


def content(batches, n_batches):
    return [
        [tensor.tolist() for tensor in (b.ids, *b.places, b.labels, b.ends_writes)]
        for b in itertools.islice(batches, n_batches)
    ]


# --- the stream -----------------------------------------------------------------------------------


@pytest.mark.parametrize("skip", [1, 7, 25])
def test_skipping_gives_the_batches_that_come_later(skip):
    n_pairs = sum(step.n_pairs for step in itertools.islice(stream().steps(), skip))
    later = content(batches_of(stream().steps(skip_pairs=round(n_pairs))), 10)
    assert later == content(batches_of(stream().steps()), skip + 10)[skip:]


def test_an_epoch_holds_every_pair_once_and_the_next_is_drawn_anew():
    batches = batches_of(stream(arrangement=Filled(1, 1)).steps())
    first, second = content(batches, 60), content(batches, 60)

    def pairs(epoch):
        """Which pairs an epoch holds, by their lengths."""
        return Counter(
            tuple(sum(first <= id_ < first + 1000 for id_ in ids[0]) for first in (1000, 2000))
            for ids, *_ in epoch
        )

    assert pairs(first) == pairs(second)
    assert first != second
    assert sorted(map(str, first)) != sorted(map(str, second))  # other policies too


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_marker_comes_alone_as_often_as_the_mixture_says(share):
    mixture = Mixture(fixed_reads=1, aligned_reads=0, waits=0, n=(1,), marker_alone=share)
    steps = stream(mixture=mixture, arrangement=Filled(1, 1)).steps()
    for batch in itertools.islice(batches_of(steps), 60):
        ids, times = batch.ids[0], batch.places.time[0]
        of_marker = times == times[ids == bare_prompt().end_of_source]
        n_words_with_it = (of_marker & (ids >= 1000) & (ids < 2000)).sum()
        assert (n_words_with_it == 0) == (share == 1)


# --- weights --------------------------------------------------------------------------------------


def test_a_corpus_stands_in_an_epoch_as_often_as_its_weight_says():
    pairs = corpus(300, "none", "half", "once", "more")
    weights = {"none": 0, "half": 0.5, "more": 2.5}
    copies = Counter(epoch_order(pairs, weights, random.Random(0)))
    counts = {
        name: [copies[index] for index, pair in enumerate(pairs) if pair.corpus == name]
        for name in ("none", "half", "once", "more")
    }
    assert set(counts["none"]) == {0}
    assert set(counts["half"]) == {0, 1}
    assert set(counts["once"]) == {1}
    assert set(counts["more"]) == {2, 3}
    assert abs(sum(counts["half"]) / 75 - 0.5) < 0.15
    assert abs(sum(counts["more"]) / 75 - 2.5) < 0.15


# --- filled lines ---------------------------------------------------------------------------------


def filled(**changes):
    return stream(arrangement=Filled(20, 90, n_lines=3), **changes)


def steps_here(taken=0):
    run = share_steps(filled(), OneProcess(torch.device("cpu")), 1, Counters(pairs=taken))
    return (only.batch for step in run for only in step.passes)


def test_filled_steps_have_one_shape_and_lose_no_pair():
    steps = list(itertools.islice(filled().steps(), 40))
    n_pairs = list(itertools.accumulate(len(one.examples) for one in steps))
    of_an_epoch = steps[: n_pairs.index(60) + 1]
    sources = Counter(
        tuple(row.id for row in example.rows if 1000 <= row.id < 2000)
        for one in of_an_epoch
        for example in one.examples
    )
    assert sources == Counter(tuple(i for w in one.pair.source for i in w) for one in corpus(60))
    assert {batch.ids.shape for batch in itertools.islice(steps_here(), 40)} == {(3, 90)}
    full = [sum(len(e.rows) for e in line) for one in of_an_epoch for line in one.lines]
    assert sum(full) / len(full) > 60  # of 90


@pytest.mark.parametrize("taken", [0, 1])
def test_steps_that_other_processes_build_are_those_of_the_run(taken):
    n_pairs = taken and round(next(filled().steps()).n_pairs)
    run = steps_ahead(filled(), 2, Counters(pairs=n_pairs))
    ahead = [
        (only.batch, step.n_pairs, step.n_rows)
        for step in itertools.islice(run, 30)
        for only in step.passes
    ]
    run.close()
    assert content((batch for batch, *_ in ahead), 30) == content(steps_here(n_pairs), 30)
    again = itertools.islice(filled().steps(skip_pairs=n_pairs), 30)
    assert [(n_pairs, n_rows) for _, n_pairs, n_rows in ahead] == [
        (one.n_pairs, sum(len(example.rows) for example in one.examples)) for one in again
    ]


def build_and_be_killed(told):
    run = steps_ahead(filled(), 2, Counters())
    next(run)
    told.send([child.pid for child in multiprocessing.active_children()])
    os.kill(os.getpid(), signal.SIGKILL)


def test_processes_that_build_steps_end_with_a_run_that_is_killed():
    context = multiprocessing.get_context("fork")
    heard, told = context.Pipe(duplex=False)
    run = context.Process(target=build_and_be_killed, args=(told,))
    run.start()
    workers = heard.recv()
    run.join()
    assert run.exitcode == -signal.SIGKILL
    assert len(workers) == 2
    deadline = time.monotonic() + 60
    while any(is_running(each) for each in workers):
        assert time.monotonic() < deadline, "they still run"
        time.sleep(0.1)


def is_running(pid):
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


pytestmark = pytest.mark.usefixtures("papers")  # other layouts and methods

MARKERS = Markers(within_target=(5,), within_writes=(2,))


def step_stream(**changes):
    rng = random.Random(1)
    values = {
        "pairs": [CorpusPair(numbered_pair(rng), "de", "a") for _ in range(23)],
        "prompts": {"de": bare_prompt()},
        "weights": {},
        "method": METHODS["exposst"],
        "mixture": Mixture(),
        "slot_lengths": (4, 16),
        "arrangement": Filled(block=5, line_rows=60),
        "seed": 3,
    }
    return Stream(**(values | changes))


def test_every_example_is_in_one_line_and_no_line_is_too_long():
    for seed in range(30):
        examples = random_examples(seed, 12)
        line_rows = random.Random(seed).randint(20, 90)
        lines = pack_lines(examples, line_rows)
        assert sorted(map(id, examples)) == sorted(id(one) for line in lines for one in line)
        for line in lines:
            assert len(line) == 1 or sum(len(one.rows) for one in line) <= line_rows


@pytest.mark.parametrize(
    ("architecture", "ranked"),
    [*((one, False) for one in ARCHITECTURES), *((one, True) for one in ALIBI)],
)
def test_a_packed_line_costs_what_its_examples_cost_alone(architecture, ranked):
    network = tiny_network(architecture)
    attention = Attention.of(network)
    examples = random_examples(4, 7, layout="simulmask" if ranked else "slots")
    loss_of = ForwardLoss(markers=MARKERS, smoothing=0.1, attention=attention, ranked=ranked)

    def summed(batch):
        return loss_of(network, batch) * (batch.labels != IGNORE).sum()

    with torch.inference_mode():
        alone = sum(summed(pad([one])) for one in examples)
        together = [
            summed(pack(lines))
            for lines in ([examples], [examples[:3], examples[3:]], [[one] for one in examples])
        ]
    for loss in together:
        torch.testing.assert_close(loss, alone, rtol=1e-5, atol=0)


def test_a_step_holds_so_many_pairs_whatever_the_method_makes_of_them():
    for name in ("exposst", "prefix", "causal"):
        stream = step_stream(method=METHODS[name])
        steps = list(itertools.islice(stream.steps(), 5))
        shares = [lines.n_pairs for lines in steps]
        assert shares == pytest.approx([5, 5, 5, 5, 3])  # 23 pairs an epoch
