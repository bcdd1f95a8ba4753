"""The network on ONNX Runtime: what it keeps, what it writes where, and what it refuses.

That it computes what torch computes is tested in ``tests/contract/test_onnx.py``.
"""

import numpy as np
import pytest

from engine.errors import ModelError
from engine.layout.planner import Eviction
from engine.layout.rows import Row
from engine.runtime.causal_model import Ask
from engine.runtime.loader import load_weights
from engine.runtime.onnx import onnx_store
from engine.runtime.onnx.onnx_store import OnnxStore
from engine.settings import LayoutSettings, ModelSettings
from tests.support.fakes import save_plain_model

pytestmark = pytest.mark.usefixtures("papers")  # other layouts and methods

ROWS = [Row(20 + 7 * n % 350, n, 0) for n in range(12)]


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    folder = save_plain_model(tmp_path_factory.mktemp("graph"))
    return load_weights(ModelSettings(directory=folder, device="cpu"))


def decoded(model, n_steps=8):
    """The logits of some steps after a first pass."""
    model.feed(ROWS)
    start = len(ROWS)
    return [model.feed([Row(9 + n, start + n, 1 + n)]) for n in range(n_steps)]


def test_single_rows_of_lanes_are_computed_in_one_pass_as_each_alone(weights, monkeypatch):
    store, alone = weights.new_store(8, 40), [weights.new_model(40) for _ in range(8)]
    for lane, model in enumerate(alone):
        store.compute(Ask(lane, ROWS[: 2 + lane]))
        model.feed(ROWS[: 2 + lane])
    run, ran = OnnxStore._run, []
    monkeypatch.setattr(OnnxStore, "_run", lambda one, *its: ran.append(one) or run(one, *its))
    for n, lanes in enumerate([(0, 3, 7), (1, 2), range(8)]):
        rows = {lane: [Row(30 + lane, 12 + n, 1)] for lane in lanes}
        found = store.feed([Ask(lane, rows[lane], (5,), keep_states=True) for lane in lanes])
        for lane, one in zip(lanes, found, strict=True):
            logits = alone[lane].feed(rows[lane])
            assert one.logits[5] == -np.inf
            np.testing.assert_allclose(one.logits[6:], logits[6:], rtol=0, atol=1e-5)
            assert one.states.shape == (1, weights.width)
    assert sum(one is store for one in ran) == 4  # a lane far from the others has its own pass


def test_rows_of_a_pass_that_arrive_out_of_order_stay_in_that_order_in_the_cache(weights):
    """As for a pending target that stands behind source words which were read after it."""
    late = [Row(40, 90, 1), Row(41, 12, 1), Row(42, 13, 1), Row(43, 91, 1)]
    one, other = weights.new_model(40), weights.new_model(40)
    for model in (one, other):
        model.feed(ROWS)
    wanted = one.feed(late)
    for row in sorted(late, key=lambda row: row.position):
        found = other.feed([row])
    assert np.abs(found - wanted).max() < 1e-4
    one.truncate(13)
    other.truncate(12)
    other.feed(late[1:3] + late[:1])  # the pending target has seen both of them
    keys, values = one._store.layers[:, 0], one._store.layers[:, 1]
    assert np.allclose(keys[..., 12, :], other._store.layers[:, 0, ..., 14, :], atol=1e-5)
    assert np.allclose(values[..., 12, :], other._store.layers[:, 1, ..., 14, :], atol=1e-5)
    assert one._store.book.places[0, 0, 12] == 90


def test_a_pass_whose_last_row_is_not_the_last_in_sight_is_refused(weights):
    with pytest.raises(ValueError, match="must come last in the order of sight"):
        weights.new_model(4).feed([Row(1, 3, 0), Row(2, 2, 0)])


def test_positions_beyond_the_first_tables_are_computed_alike(weights, monkeypatch):
    wanted = decoded(weights.new_model(40))
    monkeypatch.setattr(onnx_store, "_FIRST_POSITIONS", 4)
    for found, expected in zip(decoded(weights.new_model(40)), wanted, strict=True):
        assert np.array_equal(found, expected)


def test_rows_that_moved_up_answer_as_rows_that_were_fed_there(weights):
    model, moved = weights.new_model(40), weights.new_model(40)
    model.feed(ROWS[:4])
    model.feed([row._replace(position=row.position + 20, time=1) for row in ROWS[:6]])
    model.evict(Eviction(0, 4, 20))
    moved.feed([row._replace(time=1) for row in ROWS[:6]])
    # what the later rows saw of the earlier ones is in their values still: only keys are compared
    keys, wanted = model._store.layers[0, 0], moved._store.layers[0, 0]  # of the first layer
    assert np.allclose(keys[..., :6, :], wanted[..., :6, :], atol=1e-5)
    assert model.n_rows == 6


def test_a_layout_that_counts_keys_is_refused(weights):
    with pytest.raises(ModelError, match="the layout simulmask needs a model with ALiBi"):
        weights.new_model(4).use(LayoutSettings(name="simulmask"))


def test_an_id_without_a_row_in_the_table_is_one_sentence(weights):
    with pytest.raises(ModelError, match=r"ONNX Runtime cannot compute the model \(.*\)"):
        weights.new_model(4).feed([Row(10**6, 0, 0)])
