"""What a model keeps and counts, whichever library computes it."""

import random

import numpy as np
import pytest

from engine.errors import CacheFullError
from engine.layout.rows import Row
from engine.runtime.loader import load_weights
from engine.runtime.torch.torch_store import slot_model
from engine.settings import ModelSettings
from tests.support.fakes import save_plain_model, tiny_weights


@pytest.fixture(scope="module", params=["torch", "onnx"])
def new_model(request, tmp_path_factory):
    if request.param == "torch":
        network = tiny_weights().network
        return lambda capacity: slot_model(network, capacity)
    folder = save_plain_model(tmp_path_factory.mktemp("graph"))
    return load_weights(ModelSettings(directory=folder, device="cpu")).new_model


def random_rows(rng, n_rows, first=0):
    """Rows whose positions rise; times rise row by row."""
    positions = sorted(rng.sample(range(first, first + 2 * n_rows), n_rows))
    return [
        Row(rng.randrange(380), *place)
        for place in zip(positions, range(first, first + n_rows), strict=True)
    ]


def tensors(model):
    store = model._store
    if hasattr(store, "layers"):
        return [store.layers]
    return [tensor for layer in store.cache.layers for tensor in (layer.keys, layer.values)]


def content(model):
    """Copies of everything that is valid."""
    places = model._store.book.places[:, :, : model.n_rows].copy()
    return [places, *(np.asarray(kept[..., : model.n_rows, :]).copy() for kept in tensors(model))]


def assert_same(one, other, atol=0.0):
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, its, rtol=0, atol=atol)


def test_truncating_and_feeding_again_gives_what_feeding_gave(new_model):
    rng = random.Random(0)
    for _ in range(10):
        kept, old, new = (random_rows(rng, rng.randint(1, 6), first) for first in (0, 20, 20))
        fresh, cut = new_model(40), new_model(40)
        for model in (fresh, cut):
            model.feed(kept)
        cut.feed(old)
        cut.truncate(len(kept))
        assert_same(content(cut), content(fresh))
        assert_same([cut.feed(new)], [fresh.feed(new)])
        assert_same(content(cut), content(fresh))


def test_feeding_piece_by_piece_caches_what_feeding_at_once_caches(new_model):
    rows = random_rows(random.Random(0), 12)
    at_once, piecewise = new_model(12), new_model(12)
    at_once.feed(rows)
    for start in range(0, 12, 3):
        piecewise.feed(rows[start : start + 3])
    assert piecewise.n_rows == piecewise.capacity == 12
    assert_same(content(at_once), content(piecewise), atol=1e-5)


def test_a_full_cache_refuses_and_stays_as_it_was(new_model):
    rng = random.Random(0)
    first, more, too_many = (
        random_rows(rng, n_rows, start) for n_rows, start in ((5, 0), (3, 10), (4, 10))
    )
    model, twin = new_model(8), new_model(8)
    for each in (model, twin):
        each.feed(first)
    with pytest.raises(CacheFullError) as caught:
        model.feed(too_many)
    assert (caught.value.capacity, caught.value.wanted) == (8, 9)
    assert "\n" not in str(caught.value)
    assert (model.n_rows, model.tokens_fed, model.forwards) == (5, 5, 1)
    assert_same([model.feed(more)], [twin.feed(more)])
    assert_same(content(model), content(twin))


def test_the_likeliest_id_that_is_not_suppressed_is_chosen(new_model):
    rows, one, other = random_rows(random.Random(0), 9), new_model(40), new_model(40)
    ranking = np.argsort(-np.asarray(one.feed(rows))).tolist()
    assert other.next_id(rows, ()) == ranking[0]
    other.truncate(0)
    assert other.next_id(rows, ranking[:3]) == ranking[3]


def test_rows_and_passes_are_counted_and_never_uncounted(new_model):
    model = new_model(40)
    for start in (0, 10, 20):
        model.feed(random_rows(random.Random(0), 4, start))
    n_flops = model.flops
    model.truncate(0)
    assert (model.tokens_fed, model.forwards, model.flops) == (12, 3, n_flops)
    assert n_flops > model.last_flops > 0


def test_what_feed_returned_stays_when_more_is_fed(new_model):
    model = new_model(40)
    first = model.feed(random_rows(random.Random(0), 9))
    copy = np.asarray(first).copy()
    model.feed([Row(9, 30, 30)])
    assert np.array_equal(np.asarray(first), copy)
