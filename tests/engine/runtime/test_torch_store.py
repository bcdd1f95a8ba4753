import random

import pytest
import torch

from engine.errors import CacheFullError
from engine.layout.planner import Eviction
from engine.layout.rows import IGNORE, Row
from engine.runtime.causal_model import Ask
from engine.runtime.loader import load_weights
from engine.runtime.torch import torch_store
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_store import TorchStore, slot_model
from engine.settings import LayoutSettings, ModelSettings
from tests.support.fakes import save_tiny_model, tiny_weights
from tests.support.networks import ROUNDED, tiny_network
from tests.support.rows import passes, rows_with_small_ids, sample
from training.trainer.stream import Example, pad

N_LANES = 4


def feed(store, fed):
    """The logits of the last row of each lane."""
    return [computed.logits for computed in store.feed([Ask(*one) for one in fed])]


def play(network, seed, *, atol=1e-11):
    """Feed random samples to lanes and to models of their own, in random turns; compare logits."""
    rng = random.Random(seed)
    together = TorchStore(network, N_LANES, capacity=300)
    alone = [slot_model(network, 300, static=False) for _ in range(N_LANES)]
    for model in (together, *alone):
        model.use(LayoutSettings())
    waiting = [passes(sample("slots", rng)) for _ in alone]
    n_compared = 0
    while any(waiting):
        lanes = [lane for lane in range(N_LANES) if waiting[lane] and rng.random() < 0.8]
        fed = [(lane, waiting[lane].pop(0)) for lane in lanes]
        if not fed:
            continue
        for (lane, rows), logits in zip(fed, feed(together, fed), strict=True):
            expected = alone[lane].feed(rows)
            torch.testing.assert_close(logits, expected, rtol=0, atol=atol)
            assert together.book.n_rows[lane] == alone[lane].n_rows
            n_compared += 1
            if rng.random() < 0.2:  # taken back and fed again
                n_kept = together.book.n_rows[lane] - len(rows)
                alone[lane].truncate(n_kept)
                together.book.truncate(lane, n_kept)
                waiting[lane].insert(0, rows)
    assert n_compared > 4 * N_LANES


@pytest.mark.parametrize("worth", [1, 1000])  # single rows apart, and together with several
def test_rows_computed_with_those_of_others_give_the_logits_they_give_alone(worth, monkeypatch):
    monkeypatch.setattr(torch_store, "_WORTH_A_PASS", worth)
    for seed in range(6):
        play(tiny_weights().network, seed)


@pytest.mark.parametrize(
    ("architecture", "atol"),
    [("mistral-sliding", 1e-11), ("falcon-alibi", 1e-11), *((one, 1e-5) for one in ROUNDED)],
)
def test_every_kind_of_attention_gives_the_same_side_by_side(architecture, atol):
    for seed in range(4):
        play(tiny_network(architecture), seed, atol=atol)


def test_a_lane_that_forgets_its_oldest_rows_leaves_the_others_as_they_are():
    network = tiny_weights().network
    rows = [Row(id_, id_, time=id_) for id_ in range(20)]
    gone = Eviction(start=4, stop=9, distance=5)
    alone, together = slot_model(network, 64), TorchStore(network, 2, capacity=64)
    alone.feed(rows)
    feed(together, [(0, rows), (1, rows[:7])])
    alone.evict(gone)
    together.evict(0, gone)
    new = Row(3, 15, time=20)
    torch.testing.assert_close(
        feed(together, [(0, [new])])[0], alone.feed([new]), rtol=0, atol=1e-11
    )
    other = slot_model(network, 64)
    other.feed(rows[:7])
    torch.testing.assert_close(
        feed(together, [(1, [rows[7]])])[0], other.feed([rows[7]]), rtol=0, atol=1e-11
    )


def test_rows_taken_back_are_seen_by_none_though_other_lanes_are_longer():
    network = tiny_weights().network
    rows = [Row(id_, id_, time=id_) for id_ in range(12)]
    alone, together = slot_model(network, 64), TorchStore(network, 2, capacity=64)
    alone.feed(rows)
    feed(together, [(0, rows), (1, rows)])
    alone.truncate(4)
    together.book.truncate(0, 4)
    new = Row(30, 20, time=20)
    expected = alone.feed([new])
    computed = feed(together, [(0, [new]), (1, [new])])
    torch.testing.assert_close(computed[0], expected, rtol=0, atol=1e-11)
    assert not torch.allclose(computed[1], expected, atol=1e-3)


def test_lanes_grow_past_their_first_columns_up_to_their_capacity():
    network = tiny_weights().network
    rows = [Row(id_ % 300, id_, time=id_) for id_ in range(200)]
    alone, together = slot_model(network, 200), TorchStore(network, 2, capacity=200)
    for start in range(0, 200, 40):
        part = rows[start : start + 40]
        torch.testing.assert_close(
            feed(together, [(0, rows[start : start + 1]), (1, part)])[1],
            alone.feed(part),
            rtol=0,
            atol=1e-11,
        )
    with pytest.raises(CacheFullError):
        feed(together, [(1, [Row(1, 200, time=200)])])
    with pytest.raises(ValueError, match="cannot be truncated"):
        together.book.truncate(0, 6)


def test_feeding_pass_by_pass_in_float32_equals_one_padded_batch():
    samples = [rows_with_small_ids(seed) for seed in range(6)]
    network = tiny_weights(torch.float32).network
    batch = pad([Example(rows, ends_writes=False) for rows in samples])
    with torch.inference_mode():
        at_once = network(
            input_ids=batch.ids,
            position_ids=batch.places.encoded,
            attention_mask=batch.bias(Attention.of(network)),
            use_cache=False,
        ).logits
    for number, rows in enumerate(samples):
        model = slot_model(network, len(rows))
        for fed in passes(rows):
            logits = model.feed(fed)
            index = model.n_rows - 1
            assert rows[index] == fed[-1]
            assert rows[index].label != IGNORE
            torch.testing.assert_close(logits, at_once[number, index], rtol=0, atol=1e-3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_says_what_the_cpu_says(tmp_path):
    saved = save_tiny_model(tmp_path)
    rows = rows_with_small_ids(0)
    logits = []
    for device in ("cpu", "cuda"):
        network = load_weights(ModelSettings(directory=saved, device=device)).network
        logits.append(slot_model(network, 100).feed(rows).cpu())
    torch.testing.assert_close(*logits, rtol=0, atol=1e-3)
