import pytest
import torch

from engine.runtime import load_plan
from engine.runtime.load_plan import packed_is_faster, rank_ways, time_ways

WHOLE, HALF = ("none", torch.float32), ("none", torch.bfloat16)
NF4, INT8 = ("nf4", torch.float32), ("int8", torch.float32)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Layers that are quickly packed; nothing here asks a real stop-watch."""
    monkeypatch.setattr(load_plan, "_IN", 128)
    monkeypatch.setattr(load_plan, "_OUT", 64)


def test_the_fastest_way_comes_first():
    assert rank_ways({WHOLE: 3.0, HALF: 2.0, NF4: 1.0, INT8: 9.0}) == (NF4, HALF, WHOLE, INT8)


def test_packed_weights_must_gain_a_fifth_of_the_time():
    for seconds, first in ((0.79, NF4), (0.81, WHOLE)):
        assert rank_ways({WHOLE: 1.0, NF4: seconds})[0] == first


@pytest.mark.parametrize("way", [WHOLE, HALF, NF4, INT8])
def test_what_is_timed_are_products_with_weights_kept_so(way, monkeypatch):
    if way[0] != "none":
        pytest.importorskip("bitsandbytes")
    monkeypatch.setattr(load_plan, "multiplies_packed", lambda: False)
    products = []

    def stop_watch(once):
        products.append(once())
        return float(len(products))

    assert time_ways([way], stop_watch) == {way: 30 * 1.0 + 2.0}  # thirty steps and a prompt
    assert [tuple(product.shape) for product in products] == [(1, 64), (48, 64)]
    for product in products:
        assert product.dtype == way[1]
        assert torch.isfinite(product).all()


@pytest.mark.parametrize(
    ("unpacked", "packed", "faster"),
    [
        ((8.0, 8.0), (0.5, 18.0), True),  # quick at steps makes up for slow at prompts
        ((1.0, 1.0), (0.5, 18.0), False),
        ((1.0, 0.0), (0.81, 0.0), False),  # a fifth must be gained
        ((1.0, 0.0), (0.79, 0.0), True),
    ],
)
def test_4_bits_are_multiplied_packed_where_an_utterance_is_a_fifth_faster(
    unpacked, packed, faster, monkeypatch
):
    pytest.importorskip("bitsandbytes")
    fused, seconds = [], iter([*unpacked, *packed])
    monkeypatch.setattr(load_plan, "has_fused_product", lambda: True)
    monkeypatch.setattr(load_plan, "fuse_layers", fused.append)
    assert packed_is_faster(lambda _once: next(seconds)) is faster
    assert len(fused) == 1
