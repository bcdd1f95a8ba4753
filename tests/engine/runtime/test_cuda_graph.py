"""Static passes say what dynamic ones say, on every architecture and whatever was cached before."""

import random

import pytest
import torch
from torch.nn import functional

from engine.errors import CacheFullError
from engine.layout.planner import make_planner
from engine.runtime.torch.tensor_cache import MAX_ROWS
from engine.runtime.torch.torch_store import slot_model
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt
from tests.support.networks import ALIBI, ARCHITECTURES, N_IDS, tiny_network, weights_of

pytestmark = pytest.mark.usefixtures("papers")  # other layouts and methods

HEADERS = bare_prompt(n_system=3, n_user=2, n_assistant=2).headers
SUPPRESSED = (3, 5, 8)


def conversation(rng, layout):
    """Passes of a random talk: rows, and how many of those cached are taken back before it."""
    planner = make_planner(HEADERS, LayoutSettings(slot_length=rng.randint(3, 9), name=layout))
    for _ in range(14):
        for _ in range(rng.choice([0, 1, 1, 2]) if planner.n_words else 2):
            planner.read([rng.randrange(N_IDS) for _ in range(rng.randint(1, 3))])
        rows = planner.write()
        yield [row._replace(id=row.id % N_IDS) for row in rows]
        planner.choose(rng.randrange(N_IDS))


def both(network, capacity=600):
    return slot_model(network, capacity, static=False), slot_model(network, capacity, static=True)


@pytest.fixture
def softmax_in_float64(monkeypatch):
    """Let Gemma 2 compute all of its attention in float64; it takes its softmax in float32.

    How a processor adds up a row in float32 hangs on how many keys the row has, hidden ones too.
    """
    softmax = functional.softmax

    def wide(scores, dim, dtype=None):
        return softmax(scores, dim, dtype=None if dtype == torch.float32 else dtype)

    monkeypatch.setattr(functional, "softmax", wide)


@pytest.mark.usefixtures("softmax_in_float64")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_static_pass_says_what_a_dynamic_one_says(architecture):
    rng = random.Random(3)
    for layout in ("slots", "simulmask") if architecture in ALIBI else ("slots", "gpe"):
        dynamic, static = both(tiny_network(architecture))
        for model in (dynamic, static):
            model.use(LayoutSettings(name=layout))
        n_small = n_rows = 0
        for rows in conversation(rng, layout):
            expected = dynamic.feed(rows)
            dynamic.truncate(dynamic.n_rows - len(rows))
            said = static.next_id(rows, SUPPRESSED)
            assert said == dynamic.next_id(rows, SUPPRESSED)
            if len(rows) <= MAX_ROWS:
                n_small += 1
                step = static._store._steps.find(len(rows), ranked=static._store._ranked)
                torch.testing.assert_close(step._logits, expected, rtol=0, atol=1e-10)
            n_rows += len(rows)
            assert static.n_rows == dynamic.n_rows == n_rows
        assert n_small > 8
        assert (static.tokens_fed, static.forwards) == (n_rows, 14)


def test_rows_that_were_taken_back_are_not_seen_again():
    rng = random.Random(1)
    dynamic, static = both(tiny_network("llama"))
    passes = list(conversation(rng, "slots"))
    for rows in passes:
        static.next_id(rows, SUPPRESSED)
    static.truncate(0)
    # later and behind, so that nothing but the number of valid rows hides the others
    later = [
        [row._replace(time=row.time + 50, position=row.position + 500) for row in rows]
        for rows in passes
    ]
    for rows in later:
        if rng.random() < 0.5:  # a probe of something else, taken back
            probe = [row._replace(id=(row.id + 1) % N_IDS) for row in rows]
            n_rows = static.n_rows
            static.next_id(probe, SUPPRESSED)
            static.truncate(n_rows)
        assert static.next_id(rows, SUPPRESSED) == dynamic.next_id(rows, SUPPRESSED)


def test_a_cache_that_grows_past_an_extent_goes_on(monkeypatch):
    monkeypatch.setattr("engine.runtime.torch.tensor_cache._FIRST_EXTENT", 16)
    rng = random.Random(5)
    dynamic, static = both(tiny_network("gemma2"), capacity=50)
    for rows in conversation(rng, "slots"):
        if static.n_rows + len(rows) > 50:
            with pytest.raises(CacheFullError):
                static.next_id(rows, SUPPRESSED)
            break
        assert static.next_id(rows, SUPPRESSED) == dynamic.next_id(rows, SUPPRESSED)
    assert {extent for _, extent, _ in static._store._steps._steps} == {16, 32, 50}
    assert static.n_rows == dynamic.n_rows > 32


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_graph_says_what_it_was_captured_from(architecture):
    network = weights_of(architecture).network.to("cuda")
    try:
        plain = slot_model(network, 600, static=False)
        graphs = slot_model(network, 600)
        for rows in conversation(random.Random(4), "slots"):
            assert graphs.next_id(rows, SUPPRESSED) == plain.next_id(rows, SUPPRESSED)
        assert all(step._graph is not None for step in graphs._store._steps._steps.values())
    finally:
        network.to("cpu")
