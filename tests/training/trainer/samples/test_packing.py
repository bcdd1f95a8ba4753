import itertools
import random

import pytest
import torch

from engine.layout.rows import IGNORE
from engine.runtime.torch.attention import Attention
from tests.support.fakes import bare_prompt, numbered_pair
from tests.support.networks import ALIBI, ARCHITECTURES, tiny_network
from tests.support.rows import random_examples
from training.settings import Mixture
from training.trainer.samples.batches import pack, pad
from training.trainer.samples.loss import ForwardLoss, Markers
from training.trainer.samples.methods import METHODS
from training.trainer.samples.pairs import CorpusPair
from training.trainer.samples.stream import Packed, Stream, pack_lines

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
        "arrangement": Packed(block=5, line_rows=60),
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


def test_packing_leaves_little_room():
    examples = random_examples(0, 200)
    lines = pack_lines(examples, 512)
    assert sum(len(one.rows) for one in examples) > 0.9 * 512 * (len(lines) - 1)


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


def test_both_slot_lengths_are_drawn():
    lengths = set()
    mixture = Mixture(fixed_reads=0, aligned_reads=0, waits=0)
    for lines in itertools.islice(step_stream(mixture=mixture).steps(), 20):
        for example in lines.examples:
            source = [row.position for row in example.rows if 1000 <= row.id < 2000]
            header = next(row.position for row in example.rows if row.id == 920)
            lengths.add((header - source[0]) % 16)
    assert lengths == {0, 4, 8, 12}


def test_pairs_are_counted_in_a_step():
    (lines,) = itertools.islice(step_stream(method=METHODS["prefix"]).steps(), 1)
    assert len(lines.examples) > 5
    assert lines.n_pairs == pytest.approx(5)
