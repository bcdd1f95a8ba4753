import random

import pytest
import torch

from engine.layout.rows import Places, Row
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_store import slot_model
from tests.support.networks import (
    ALIBI,
    ARCHITECTURES,
    N_IDS,
    ROUNDED,
    WINDOW,
    stock_network,
    tiny_network,
)


def places(positions, times=None, encoded=None):
    columns = [positions, times or [0] * len(positions), encoded or positions]
    return Places(*(torch.tensor([column]) for column in columns))


def one(value):
    return places([value])


def ordinary_rows(rng, n_rows):
    return [Row(rng.randrange(N_IDS), position, 0) for position in range(n_rows)]


# --- rotary ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_bias_is_nothing_where_a_key_is_seen_and_the_lowest_number_elsewhere(dtype):
    rows = places([0, 1])
    lowest = torch.finfo(dtype).min
    expected = torch.tensor([[[[0, lowest], [0, 0]]]], dtype=dtype)
    assert torch.equal(Attention(dtype).bias(rows, rows), expected)


def test_rows_of_different_documents_do_not_see_each_other():
    rows = places([0, 1, 0, 1])
    document = torch.tensor([[0, 0, 1, 1]])
    apart = document[:, :, None] != document[:, None, :]
    seen = Attention(torch.float32).bias(rows, rows, apart=apart)[0, 0] == 0
    assert seen.tolist() == [
        [True, False, False, False],
        [True, True, False, False],
        [False, False, True, False],
        [False, False, True, True],
    ]


def test_a_window_is_judged_by_what_the_position_encoding_is_given():
    rows = places([0, 1, 2], encoded=[0, 1, 30])
    seen = Attention(torch.float32, window=5).bias(rows, rows)[0, 0] == 0
    assert seen.tolist() == [[True, False, False], [True, True, False], [False, False, True]]


def test_a_network_that_mixes_kinds_of_layers_gets_a_bias_for_each():
    attention = Attention.of(tiny_network("gemma2"))
    bias = attention.bias(one(WINDOW), places(range(WINDOW + 1)))
    full, sliding = bias["full_attention"][0, 0, 0] == 0, bias["sliding_attention"][0, 0, 0] == 0
    assert full.all()
    assert sliding.tolist() == [False] + [True] * WINDOW


@pytest.mark.parametrize(("distance", "is_seen"), [(511, True), (512, False), (513, False)])
def test_local_layers_of_gemma_3_count_positions_though_few_rows_lie_between(distance, is_seen):
    network = stock_network(
        "gemma3", num_hidden_layers=1, layer_types=["sliding_attention"], sliding_window=512
    )
    last = Row(7, distance, 2)

    def said(first):
        model = slot_model(network, 8)
        model.feed([Row(first, 0, 0), Row(5, 1, 0)])
        return model.feed([Row(6, distance - 1, 1), last])

    assert torch.equal(said(3), said(4)) is not is_seen


def test_gemma_3_with_its_window_of_512_says_through_the_cache_what_the_stock_network_says():
    network = stock_network("gemma3", sliding_window=512)
    rows = ordinary_rows(random.Random(6), 514)
    with torch.inference_mode():
        expected = network(input_ids=torch.tensor([[row.id for row in rows]])).logits[0]
    model = slot_model(network, 514)
    for start, end in ((0, 400), (400, 511), (511, 512), (512, 513), (513, 514)):
        logits = model.feed(rows[start:end])
        torch.testing.assert_close(logits, expected[end - 1], rtol=0, atol=1e-5)


# --- ALiBi ----------------------------------------------------------------------------------------


def test_alibi_counts_positions():
    attention = Attention(torch.float32, slopes=torch.tensor([0.5, 0.25]))
    bias = attention.bias(one(10), places([2, 7, 10]))
    assert bias.tolist() == [[[[-4.0, -1.5, 0.0]], [[-2.0, -0.75, 0.0]]]]


def test_simulmask_counts_visible_keys_wherever_they_stand_in_the_cache():
    attention = Attention(torch.float32, slopes=torch.tensor([1.0]))
    keys = places([900, 3, 901, 4, 2], times=[0, 0, 1, 5, 0])  # the one at 4 comes too late
    query = places([901], times=[1])
    bias = attention.bias(query, keys, ranked=True)[0, 0, 0]
    assert bias.tolist() == [-1.0, -2.0, 0.0, torch.finfo(torch.float32).min, -3.0]


def test_simulmask_is_alibi_where_nothing_is_hidden():
    attention = Attention(torch.float32, slopes=torch.tensor([1.0, 0.3]))
    for seed in range(20):
        n_rows = random.Random(seed).randint(1, 9)
        rows = places(list(range(n_rows)))
        assert torch.equal(
            attention.bias(rows, rows, ranked=True), attention.bias(rows, rows, ranked=False)
        )


@pytest.mark.parametrize("architecture", ALIBI)
def test_a_falcon_whose_alibi_comes_in_the_mask_says_what_it_said(architecture):
    ids = torch.randint(0, N_IDS, (1, 40), generator=torch.Generator().manual_seed(3))
    with torch.inference_mode():
        expected = stock_network(architecture)(input_ids=ids).logits[0]
    rows = places(list(range(40)))
    network = tiny_network(architecture)
    with torch.inference_mode():
        logits = network(
            input_ids=ids,
            position_ids=rows.encoded,
            attention_mask=Attention.of(network).bias(rows, rows),
        ).logits[0]
    # the stock bias grows with the key, in bfloat16; ours is the exact distance
    torch.testing.assert_close(logits, expected, rtol=0, atol=2e-2)
    assert expected.abs().max() > 1


# --- every architecture ---------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_ordinary_text_through_the_slot_cache_says_what_the_stock_network_says(architecture):
    rng = random.Random(5)
    rows = ordinary_rows(rng, 24)
    ids = torch.tensor([[row.id for row in rows]])
    with torch.inference_mode():
        expected = stock_network(architecture)(input_ids=ids).logits[0]
    model = slot_model(tiny_network(architecture), 40)
    tolerance = 2e-2 if architecture in ALIBI else 1e-5 if architecture in ROUNDED else 1e-9
    start = 0
    while start < len(rows):
        end = min(start + rng.randint(1, 5), len(rows))
        logits = model.feed(rows[start:end])
        torch.testing.assert_close(logits, expected[end - 1], rtol=0, atol=tolerance)
        start = end
