import random

import pytest
import torch

from engine.cpu_speed import rank_ways, time_ways

WHOLE, HALF = ("none", torch.float32), ("none", torch.bfloat16)
NF4, INT8 = ("nf4", torch.float32), ("int8", torch.float32)


def test_the_fastest_way_comes_first():
    assert rank_ways({WHOLE: 3.0, HALF: 2.0, NF4: 1.0, INT8: 9.0}) == (NF4, HALF, WHOLE, INT8)


def test_packed_weights_must_gain_a_fifth_of_the_time():
    for seconds, first in ((0.79, NF4), (0.81, WHOLE)):
        assert rank_ways({WHOLE: 1.0, NF4: seconds})[0] == first


def test_every_way_is_kept_for_where_the_fastest_does_not_fit():
    rng = random.Random(0)
    for _ in range(50):
        seconds = {way: rng.random() for way in (WHOLE, HALF, NF4, INT8)}
        ranked = rank_ways(seconds)
        assert sorted(map(str, ranked)) == sorted(map(str, seconds))
        assert ranked.index(WHOLE) < ranked.index(HALF) or seconds[HALF] <= seconds[WHOLE]


@pytest.mark.parametrize("way", [WHOLE, HALF, NF4, INT8])
def test_what_is_timed_is_a_product_with_weights_kept_so(way):
    if way[0] != "none":
        pytest.importorskip("bitsandbytes")
    products = []

    def stop_watch(once):
        products.append(once())
        return 1.0

    assert time_ways([way], stop_watch) == {way: 1.0}
    (product,) = products
    assert (product.shape, product.dtype) == ((1, 4096), way[1])
    assert torch.isfinite(product).all()
