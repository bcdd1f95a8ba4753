import shutil
from dataclasses import replace

import pytest
import torch

from engine.errors import AdapterError, ModelError
from engine.models.adapters.adapter import Status, inspect_adapter, write_adapter_card
from engine.models.adapters.card import read_adapter_card
from engine.models.adapters.library import AdapterLibrary
from engine.models.adaptive_card import HEAD_FILE
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import read_card
from engine.runtime.loader import load_by_torch, load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.session.adapter_switcher import AdapterSwitcher
from engine.settings import ModelSettings
from tests.support.adapter_folders import factors, write_adapter
from tests.support.fakes import save_plain_model
from tests.support.training_runs import write_pairs
from training.research.__main__ import main
from training.research.when_to_write import fit


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


def test_a_trained_head_is_loaded_by_both_libraries(base):
    light = load_weights(ModelSettings(directory=base))
    heavy = load_by_torch(ModelSettings(directory=base, device="cpu"))
    assert isinstance(light, OnnxWeights), "the folder's graph still serves"
    assert light.head.weight.shape == (2, light.width) == (2, heavy.width)
    assert (light.head.weight == heavy.head.weight).all()
    assert abs(light.head.weight).max() > 0


def test_a_head_on_the_target_side_says_so_on_its_card(base, tmp_path):
    folder = shutil.copytree(base, tmp_path / "copy")
    assert train(folder, tmp_path, "--side", "target") == 0
    head = load_weights(ModelSettings(directory=folder)).head
    assert head.reads_target
    own = load_weights(ModelSettings(directory=base)).head
    assert not own.reads_target
    assert (head.weight != own.weight).any()


def test_a_layout_that_asks_the_source_has_no_row_on_the_target_side(
    base, adapter, tmp_path, capsys
):
    folder = shutil.copytree(adapter, tmp_path / "copy")
    write_adapter_card(folder, replace(read_adapter_card(folder), layout="interleaved"))
    assert train(base, tmp_path, "--adapter", str(folder), "--side", "target") == 2
    assert "--side source" in capsys.readouterr().err
    assert train(base, tmp_path, "--adapter", str(folder)) == 0


def test_the_same_command_makes_the_same_head(base, tmp_path, capsys):
    card = read_card(base)
    assert train(base, tmp_path) == 0
    assert "trained on 100 words; of the 9 words kept back" in capsys.readouterr().out
    assert read_card(base) == card


def test_an_adapter_brings_its_own_head(base, adapter):
    head = load_weights(ModelSettings(directory=base, adapter=adapter)).head
    bare = load_weights(ModelSettings(directory=base))
    assert (head.weight != bare.head.weight).any()
    switcher = AdapterSwitcher(bare)
    name = switcher.load(adapter)
    assert (switcher.use(name).head.weight == head.weight).all()
    assert switcher.use(None).head is bare.head


def test_an_adapter_without_a_card_does_not_take_the_head_of_the_base(base, tmp_path):
    fingerprint = read_fingerprint(base)
    tensors = factors(fingerprint, scale=0.3)
    folder = write_adapter(tmp_path / "x", fingerprint, tensors=tensors, card=False)
    weights = load_weights(ModelSettings(directory=base, adapter=folder))
    assert weights.head is None
    assert weights.card.adaptive is None


def test_the_library_copies_a_head_that_the_card_names(adapter, tmp_path):
    library = AdapterLibrary(tmp_path / "library")
    copy = library.add(adapter).folder
    assert (copy / HEAD_FILE).read_bytes() == (adapter / HEAD_FILE).read_bytes()
    assert inspect_adapter(copy).status is Status.OK


def test_the_library_leaves_a_head_that_no_card_names(base, tmp_path):
    folder = write_adapter(tmp_path / "x", read_fingerprint(base))
    (folder / HEAD_FILE).write_bytes(b"anything")
    assert not (AdapterLibrary(tmp_path / "library").add(folder).folder / HEAD_FILE).exists()


def cut(folder):
    (folder / HEAD_FILE).write_bytes((folder / HEAD_FILE).read_bytes()[:-1])


def unlinked(folder):
    (folder / HEAD_FILE).unlink()


def linked(folder):
    (folder / HEAD_FILE).rename(folder / "elsewhere")
    (folder / HEAD_FILE).symlink_to(folder / "elsewhere")


@pytest.mark.parametrize("damage", [cut, unlinked, linked])
def test_an_adapter_with_a_broken_head_is_blocked(adapter, tmp_path, damage):
    folder = shutil.copytree(adapter, tmp_path / "copy")
    damage(folder)
    found = inspect_adapter(folder)
    assert found.status is Status.BLOCKED
    assert HEAD_FILE in str(found.reason)


def test_an_adapter_whose_head_was_changed_is_refused_when_it_is_read(base, adapter, tmp_path):
    folder = shutil.copytree(adapter, tmp_path / "copy")
    shutil.copy(base / HEAD_FILE, folder / HEAD_FILE)
    assert inspect_adapter(folder).status is Status.OK, "headers look right"
    with pytest.raises(AdapterError, match=r"damaged; .*detail: policy_head\S+ was changed"):
        load_weights(ModelSettings(directory=base, adapter=folder))


def test_a_model_whose_head_was_changed_is_refused(base, adapter, tmp_path):
    folder = shutil.copytree(base, tmp_path / "copy")
    shutil.copy(adapter / HEAD_FILE, folder / HEAD_FILE)
    with pytest.raises(ModelError, match=r"damaged; .*detail: policy_head\S+ was changed"):
        load_weights(ModelSettings(directory=folder))


def test_a_new_head_forgets_the_lags_of_the_one_before(adapter):
    assert read_adapter_card(adapter).has_head
    assert not read_adapter_card(adapter).adaptive.lags
