import json
import sys
import warnings

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.models.fingerprint import read_fingerprint
from engine.runtime.load_plan import pick_device
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings
from tests.support.adapter_folders import tiny_card, write_adapter
from tests.support.fakes import tiny_weights
from tests.support.strangers import refused


def refusal(directory, **settings):
    """The sentence that loading fails with."""
    return refused(ModelError, load_weights, ModelSettings(directory=directory, **settings))


def test_what_is_saved_is_loaded_again(tiny):
    loaded, made = load_weights(ModelSettings(directory=tiny)), tiny_weights(torch.float32)
    assert loaded.card == made.card
    assert not loaded.network.training
    for name, tensor in made.network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], tensor)
    text = " abc 🙂 3.5 <|end|>"
    assert loaded.tokenizer.encode(text) == made.tokenizer.encode(text)
    assert loaded.tokenizer.chat_template == made.tokenizer.chat_template
    assert loaded.decoder.decode([300, 301]) == made.decoder.decode([300, 301])


def test_a_folder_without_a_card_is_asked_as_an_instruct_model(folder):
    (folder / "surtitle.json").unlink()
    card = load_weights(ModelSettings(directory=folder, device="cpu")).card
    assert (card.name, card.policies) == (folder.name, ())
    (folder / "config.json").unlink()
    assert "it has no surtitle.json" in refusal(folder)


@pytest.mark.parametrize("n_bytes", [0, 5000])
def test_weights_that_were_cut_are_refused(folder, n_bytes):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:n_bytes])
    assert f"the model in {folder} cannot be loaded" in refusal(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused(folder, name):
    (folder / name).unlink()
    assert "cannot be loaded" in refusal(folder)


def test_weights_that_lack_a_tensor_are_refused(folder):
    """Else the library would put random numbers in its place."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["lm_head.weight"]
    save_file(tensors, path, {"format": "pt"})
    assert "cannot be loaded" in refusal(folder)


# --- adapters -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(tiny):
    return read_fingerprint(tiny)


@pytest.mark.parametrize(
    ("config", "scale"),
    [({"lora_alpha": 4}, 2.0), ({"lora_alpha": 1.5}, 0.75),
     ({"use_rslora": True, "r": 4, "lora_alpha": 3}, 1.5), ({"layers_to_transform": [1]}, 2.0)],
)  # fmt: skip
def test_the_factors_of_an_adapter_are_merged_into_the_weights(tiny, base, tmp_path, config, scale):
    write_adapter(tmp_path / "a", base, config=config)
    tensors = load_file(tmp_path / "a" / "adapter_model.safetensors")
    adapted = load_weights(ModelSettings(directory=tiny, adapter=tmp_path / "a")).network
    plain = tiny_weights(torch.float32).network
    assert not adapted.training
    n_changed = 0
    for name, weight in plain.state_dict().items():
        stem = "base_model.model." + name.removesuffix("weight")
        if f"{stem}lora_A.weight" in tensors:
            product = tensors[f"{stem}lora_B.weight"] @ tensors[f"{stem}lora_A.weight"]
            wanted = weight + scale * product
            n_changed += 1
        else:
            wanted = weight
        torch.testing.assert_close(adapted.state_dict()[name], wanted, rtol=0, atol=1e-5)
    assert n_changed == len(tensors) // 2


def test_an_adapter_says_how_the_model_is_spoken_to(folder, base, tmp_path):
    card = tiny_card(base, slot_length=8, policies=("wait:3",))
    adapter = write_adapter(tmp_path / "a", base, card=card)
    (folder / "surtitle.json").unlink()  # most bases have none
    loaded = load_weights(ModelSettings(directory=folder, adapter=adapter)).card
    assert loaded == card.model_card()
    (adapter / "surtitle.json").unlink()
    loaded = load_weights(ModelSettings(directory=folder, adapter=adapter)).card
    assert loaded.policies == ()


def test_an_adapter_of_numbers_that_are_none_is_refused(tiny, base, tmp_path):
    write_adapter(tmp_path / "a", base, scale=torch.nan)
    assert "adapter_model.safetensors holds numbers that are none" in refusal(
        tiny, adapter=tmp_path / "a"
    )


def test_an_adapter_is_merged_as_peft_merges_it_and_without_peft(tiny, base, tmp_path, monkeypatch):
    peft = pytest.importorskip("peft")
    folder = write_adapter(tmp_path / "a", base)
    (folder / "adapter_config.json").write_text(json.dumps(peft_config(folder)))
    (folder / "surtitle.json").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft 0.21 uses an old name
        plain = load_weights(ModelSettings(directory=tiny)).network
        theirs = peft.PeftModel.from_pretrained(plain, str(folder)).merge_and_unload()
    monkeypatch.setitem(sys.modules, "peft", None)  # importing it would fail
    ours = load_weights(ModelSettings(directory=tiny, adapter=folder)).network
    for name, weight in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name], weight, rtol=0, atol=1e-6)


def peft_config(folder):
    """The adapter's settings without what only old versions of peft knew."""
    config = json.loads((folder / "adapter_config.json").read_text())
    return {key: value for key, value in config.items() if key != "megatron_core"}


# --- devices --------------------------------------------------------------------------------------


def test_cuda_is_refused_where_there_is_none(tiny, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "use --device cpu or auto" in refusal(tiny, device="cuda")


def test_auto_takes_cuda_where_there_is_one(monkeypatch):
    for available, device in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda found=available: found)
        assert pick_device("auto") == torch.device(device)
    assert pick_device("cpu") == torch.device("cpu")
