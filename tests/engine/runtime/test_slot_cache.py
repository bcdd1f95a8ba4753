import random

import pytest
import torch

from engine.errors import CacheFullError
from engine.layout.rows import Row
from engine.runtime.torch.torch_store import slot_model as model_of
from tests.support.fakes import tiny_weights

N_IDS = 380


def slot_model(capacity):
    return model_of(tiny_weights().network, capacity)


def random_rows(rng, n_rows, first=0):
    """Rows whose positions are not in the order of arrival; times rise row by row."""
    positions = rng.sample(range(first, first + 2 * n_rows), n_rows)
    return [
        Row(rng.randrange(N_IDS), position, time)
        for time, position in enumerate(positions, start=first)
    ]


def storage(model):
    cache = model._store.cache
    tensors = [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
    return [(tensor.data_ptr(), tensor.shape) for tensor in tensors]


def content(model):
    """Copies of everything that is valid."""
    store, n_rows = model._store, model.n_rows
    tensors = [torch.tensor(store.book.places[:, :, :n_rows])]
    for layer in store.cache.layers:
        tensors += [layer.keys[:, :, :n_rows].clone(), layer.values[:, :, :n_rows].clone()]
    return tensors


def assert_same(one, other):
    assert len(one) == len(other)
    for mine, its in zip(one, other, strict=True):
        assert torch.equal(mine, its)


def test_tensors_are_allocated_once():
    rng = random.Random(0)
    model = slot_model(64)
    before = storage(model)
    for _ in range(15):
        model.feed(random_rows(rng, rng.randint(1, 8), first=model.n_rows))
        model.truncate(rng.randint(0, min(model.n_rows, 50)))
        assert storage(model) == before


def test_truncating_and_feeding_again_gives_what_feeding_gave():
    rng = random.Random(0)
    for _ in range(10):
        kept, old, new = (random_rows(rng, rng.randint(1, 6), first) for first in (0, 20, 20))
        fresh, cut = slot_model(40), slot_model(40)
        for model in (fresh, cut):
            model.feed(kept)
        cut.feed(old)
        cut.truncate(len(kept))
        assert_same([cut.feed(new)], [fresh.feed(new)])
        assert_same(content(cut), content(fresh))


def test_truncating_keeps_the_first_rows_as_they_were():
    rng = random.Random(0)
    model, short = slot_model(40), slot_model(40)
    rows = [random_rows(rng, 5, first) for first in (0, 10)]
    model.feed(rows[0])
    short.feed(rows[0])
    model.feed(rows[1])
    model.truncate(5)
    assert_same(content(model), content(short))


def test_feeding_piece_by_piece_caches_what_feeding_at_once_caches():
    rng = random.Random(0)
    rows = random_rows(rng, 12)
    at_once, piecewise = slot_model(12), slot_model(12)
    at_once.feed(rows)
    for start in range(0, 12, 3):
        piecewise.feed(rows[start : start + 3])
    for mine, its in zip(content(at_once), content(piecewise), strict=True):
        torch.testing.assert_close(mine, its, rtol=0, atol=1e-9)


def test_a_cache_can_be_filled_to_its_last_row():
    model = slot_model(7)
    model.feed(random_rows(random.Random(0), 7))
    assert model.n_rows == model.capacity == 7


def test_a_full_cache_refuses_and_stays_as_it_was():
    rng = random.Random(0)
    first, more, too_many = (
        random_rows(rng, n_rows, start) for n_rows, start in ((5, 0), (3, 10), (4, 10))
    )
    model, twin = slot_model(8), slot_model(8)
    for each in (model, twin):
        each.feed(first)
    with pytest.raises(CacheFullError) as caught:
        model.feed(too_many)
    assert (caught.value.capacity, caught.value.wanted) == (8, 9)
    assert "\n" not in str(caught.value)
    assert (model.n_rows, model.tokens_fed, model.forwards) == (5, 5, 1)
    assert_same(content(model), content(twin))
    assert_same([model.feed(more)], [twin.feed(more)])
    assert_same(content(model), content(twin))


@pytest.mark.parametrize("n_rows", [-1, 6])
def test_only_rows_that_are_there_can_be_kept(n_rows):
    model = slot_model(8)
    model.feed(random_rows(random.Random(0), 5))
    with pytest.raises(ValueError, match=f"5 rows cannot be truncated to {n_rows}"):
        model.truncate(n_rows)
    assert model.n_rows == 5
