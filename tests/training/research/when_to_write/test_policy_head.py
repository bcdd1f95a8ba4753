import random
import shutil

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from engine.layout.rows import IGNORE
from engine.models.fingerprint import read_fingerprint
from engine.runtime.loader import load_by_torch, load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings
from tests.support.adapter_folders import factors, write_adapter
from tests.support.fakes import bare_prompt, numbered_pair, save_plain_model
from tests.support.training_runs import write_pairs
from training.errors import TrainingError
from training.research.__main__ import main
from training.research.adaptive import HEAD_FILE, AdaptiveTranslator, PolicyHead, read_head
from training.research.methods import LEVELS, nested_boundaries
from training.research.when_to_write import build_decisions, fit
from training.trainer.samples import AlignedReads, TokenizedPair, build_samples

WIDTH = 8
WEIGHT = np.random.default_rng(1).normal(size=(2, WIDTH)).astype(np.float32)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A model folder with a head of its own."""
    folder = save_plain_model(tmp_path_factory.mktemp("base"))
    assert train(folder, tmp_path_factory.mktemp("pairs")) == 0
    return folder


@pytest.fixture(scope="module")
def adapter(base, tmp_path_factory):
    """An adapter of it, with another head."""
    fingerprint = read_fingerprint(base)
    folder = tmp_path_factory.mktemp("adapters") / "tiny-en-de"
    write_adapter(folder, fingerprint, tensors=factors(fingerprint, scale=0.3))
    assert train(base, folder.parent, "--adapter", str(folder)) == 0
    return folder


def train(model, folder, *arguments):
    data = write_pairs(folder / "pairs.tsv", 40)
    command = ["policy-head", "--model", str(model), "--data", f"de={data}", "--pairs", "30"]
    return main([*command, *arguments])


def test_the_direction_that_made_the_answers_is_found():
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(4000, 12, generator=generator)
    true = torch.randn(12, generator=generator)
    torch.testing.assert_close(fit(states, (states @ true).sigmoid()), true, rtol=0, atol=0.1)


def test_a_trained_head_is_used_with_both_libraries(base):
    light = load_weights(ModelSettings(directory=base))
    heavy = load_by_torch(ModelSettings(directory=base, device="cpu"))
    assert isinstance(light, OnnxWeights)
    found = [AdaptiveTranslator(one, TranslationSettings()).head for one in (light, heavy)]
    assert found[0].weight.shape == (2, light.width) == (2, heavy.width)
    assert (found[0].weight == found[1].weight).all()
    assert abs(found[0].weight).max() > 0


def test_an_adapter_has_a_head_of_its_own_and_none_of_the_base(base, adapter, tmp_path):
    def head(folder):
        weights = load_weights(ModelSettings(directory=base, adapter=folder))
        return AdaptiveTranslator(weights, TranslationSettings()).head

    assert (head(adapter).weight != head(None).weight).any()
    other = write_adapter(tmp_path / "x", read_fingerprint(base))
    shutil.copy(base / HEAD_FILE, other)
    assert head(other) is None


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


@pytest.mark.parametrize("weight", [WEIGHT[:, :7], np.where(WEIGHT > 0, WEIGHT, np.nan), None])
def test_a_head_of_another_model_or_a_damaged_one_is_refused(tmp_path, weight):
    if weight is None:
        (tmp_path / HEAD_FILE).write_bytes(b"cut")
    else:
        save_file({"weight": np.ascontiguousarray(weight)}, tmp_path / HEAD_FILE)
    with pytest.raises(TrainingError, match=HEAD_FILE):
        read_head(tmp_path, "tiny", WIDTH)


def test_each_word_but_the_last_is_asked_at_its_last_row():
    n_overflows = 0
    for seed in range(60):
        rng = random.Random(seed)
        pair, layout = numbered_pair(rng), LayoutSettings(slot_length=rng.randint(3, 16))
        prompt, level = bare_prompt(), rng.randrange(len(LEVELS))
        decisions = build_decisions(pair, prompt, layout, level=level)
        asked = [decisions.rows[index].id for index in decisions.asked]
        assert asked == [word[-1] for word in pair.source[:-1]]
        assert len(decisions.labels) == len(asked)
        policy = AlignedReads(nested_boundaries(pair.needs, LEVELS[level]))
        (rows,) = build_samples(pair, policy, prompt, layout, marker_alone=False)
        assert list(decisions.rows) == list(rows), "the head is trained on what the model was"
        assert sum(row.label != IGNORE for row in rows) > 0
        n_overflows += sum(row.id in prompt.headers.user for row in rows) > 1
    assert n_overflows > 5


def test_the_answer_at_a_word_is_the_share_of_levels_that_write_after_it():
    words = tuple((10 + n,) for n in range(8))
    pair = TokenizedPair(words, words[:6], (1, 2, 3, 5, 6, 8))
    levels = [nested_boundaries(pair.needs, apart) for apart in LEVELS]
    assert levels == [(1, 2, 3, 5, 6, 8), (2, 5, 8), (5, 8), (5,), (8,)]
    decisions = build_decisions(pair, bare_prompt(), LayoutSettings(), level=0)
    assert decisions.labels == (0.2, 0.4, 0.2, 0.0, 0.8, 0.2, 0.0)
