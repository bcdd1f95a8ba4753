import hashlib
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from engine.errors import ModelError
from engine.models.adaptive_card import HEAD_FILE, AdaptiveCard, check_head, head_sha256
from engine.models.model_card import FILE_NAME, read_card
from engine.models.policy_head import PolicyHead, read_head
from training.trainer.tokenizer import make_card

CARD = make_card(name="tiny", languages=["de"], slot_length=16, policies=["read:3"])
WIDTH = 8
WEIGHT = np.random.default_rng(1).normal(size=(2, WIDTH)).astype(np.float32)


def saved(folder, tensors=None):
    """A head in a folder, and what a card says of it."""
    save_file({"weight": WEIGHT} if tensors is None else tensors, folder / HEAD_FILE)
    return AdaptiveCard(head_sha256=head_sha256(folder))


def test_a_head_is_read_as_it_was_saved(tmp_path):
    card = saved(tmp_path)
    check_head(tmp_path, WIDTH)
    assert np.array_equal(read_head(tmp_path, card, WIDTH).weight, WEIGHT)


def test_a_card_that_names_no_head_has_none_whatever_lies_beside_it(tmp_path):
    (tmp_path / HEAD_FILE).write_bytes(b"anything")
    assert read_head(tmp_path, None, WIDTH) is None
    assert read_head(tmp_path, AdaptiveCard(lags={"0.5": 2.0}), WIDTH) is None


def test_a_probability_is_that_of_a_softmax_over_both_rows():
    head = PolicyHead(WEIGHT.astype(np.float64))
    for seed in range(20):
        state = np.random.default_rng(seed).normal(size=WIDTH).astype(np.float32)
        logits = torch.from_numpy(head.weight @ state.astype(np.float64))
        assert head.probability(state) == pytest.approx(logits.softmax(0)[1].item(), abs=1e-12)


def test_no_probability_is_0_so_that_a_tau_of_0_always_writes():
    head = PolicyHead(np.array([[1e30], [-1e30]]))
    assert 0 < head.probability(np.array([1.0])) < 1e-200
    assert head.probability(np.array([-1.0])) == 1.0


@pytest.mark.parametrize(
    ("tensors", "fault"),
    [
        ({}, "lacks the tensor weight"),
        ({"weight": WEIGHT[:, :7]}, "in the shape [2, 7], and [2, 8] was expected"),
        ({"weight": np.concatenate([WEIGHT, WEIGHT])}, "in the shape [4, 8]"),
        ({"weight": WEIGHT.astype(np.float64)}, "has the tensor 'weight' of type F64"),
        (
            {"bias": WEIGHT},
            "has the tensor 'bias' of type F32, and weight of type F32 was expected",
        ),
        ({"weight": WEIGHT, "more": WEIGHT}, "has the tensor 'more'"),
    ],
)
def test_a_head_that_does_not_fit_is_refused_by_its_header(tmp_path, tensors, fault):
    card = saved(tmp_path, tensors)
    for read in (lambda: check_head(tmp_path, WIDTH), lambda: read_head(tmp_path, card, WIDTH)):
        with pytest.raises(ValueError, match=re.escape(fault)):
            read()


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_head_of_no_numbers_is_refused(tmp_path, wrong):
    card = saved(tmp_path, {"weight": np.where(WEIGHT > 0, WEIGHT, np.float32(wrong))})
    for read in (lambda: check_head(tmp_path, WIDTH), lambda: read_head(tmp_path, card, WIDTH)):
        with pytest.raises(ValueError, match="numbers that are none"):
            read()


def test_numbers_of_a_head_that_claims_a_huge_width_are_not_all_read(tmp_path, monkeypatch):
    width = 1 << 30
    header = json.dumps(
        {"weight": {"dtype": "F32", "shape": [2, width], "data_offsets": [0, 8 * width]}}
    ).encode()
    with (tmp_path / HEAD_FILE).open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + 8 * width)
    counted, is_finite = [], math.isfinite
    monkeypatch.setattr(math, "isfinite", lambda number: counted.append(0) or is_finite(number))
    check_head(tmp_path, width)
    assert len(counted) < 1_000_000


def test_a_head_that_is_not_the_one_of_the_card_is_refused(tmp_path):
    card = saved(tmp_path)
    saved(tmp_path, {"weight": WEIGHT * 2})
    with pytest.raises(ValueError, match="changed or damaged after its card was written"):
        read_head(tmp_path, card, WIDTH)


def test_a_huge_head_is_not_read(tmp_path):
    with (tmp_path / HEAD_FILE).open("wb") as file:
        file.truncate(1 << 40)
    card = AdaptiveCard(head_sha256=hashlib.sha256(b"").hexdigest())
    with pytest.raises(ValueError, match="is longer than"):
        read_head(tmp_path, card, WIDTH)


@pytest.mark.parametrize(
    "adaptive",
    [
        AdaptiveCard(head_sha256="0f" * 32),
        AdaptiveCard(lags={"0.1": 1.5, "0.35": 2.0, "1": 6.25}),
        AdaptiveCard(head_sha256="0f" * 32, lags={"0": 1.0}),
    ],
)
def test_what_a_card_says_of_adaptive_policies_is_saved_and_read_again(tmp_path, adaptive):
    card = replace(CARD, adaptive=adaptive)
    card.save(tmp_path)
    assert read_card(tmp_path) == card


@pytest.mark.parametrize(
    "adaptive",
    [
        3,
        [],
        {"head_sha256": "0f"},
        {"head_sha256": 3},
        {"lags": {"half": 1}},
        {"lags": {"1.5": 1}},
        {"lags": {"0.5": -1}},
        {"lags": {"0.5": 1001}},
        {"lags": {"0.5": "two"}},
        {"lags": [1.5]},
        {"lags": {f"0.{n:03}": 1.0 for n in range(21)}},
    ],
)
def test_garbled_words_of_a_card_on_adaptive_policies_are_refused(tmp_path, adaptive):
    CARD.save(tmp_path)
    path = tmp_path / FILE_NAME
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | {"adaptive": adaptive}), encoding="utf-8")
    with pytest.raises(ModelError, match="is damaged; get it again"):
        read_card(tmp_path)


def test_a_card_without_adaptive_policies_says_nothing_of_them(tmp_path):
    CARD.save(tmp_path)
    assert "adaptive" not in json.loads((tmp_path / FILE_NAME).read_text(encoding="utf-8"))
