import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from engine.errors import AdapterError, ModelError
from engine.layout.planner import LAYOUTS
from engine.models.adapters.adapter import (
    Status,
    inspect_adapter,
    model_card,
    read_adapter_card,
    usable_adapter,
    verify_adapter,
    write_adapter_card,
)
from engine.models.adapters.lora import WEIGHTS_FILE
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import FILE_NAME
from tests.support.adapter_folders import BASE, factors, tiny_card, write_adapter

FILES = ("adapter_config.json", "adapter_model.safetensors", "surtitle.json")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return write_adapter(tmp_path_factory.mktemp("adapter") / "tiny")


@pytest.fixture
def folder(whole, tmp_path):
    """A copy that a test may damage."""
    return Path(shutil.copytree(whole, tmp_path / "tiny"))


def reason(folder, base=BASE):
    """Why an adapter is blocked, after a check that loading says the same."""
    found = inspect_adapter(folder, base)
    assert found.status is Status.BLOCKED
    assert str(found.reason).isprintable()
    assert str(found.reason).startswith("it")
    assert len(str(found.reason)) < 400
    with pytest.raises(AdapterError) as caught:
        usable_adapter(folder, base)
    assert str(found.reason) in str(caught.value)
    return str(found.reason)


def doubt(folder, base=BASE):
    found = inspect_adapter(folder, base)
    assert found.status is Status.UNKNOWN
    assert usable_adapter(folder, base) == found
    return str(found.reason)


def test_a_sound_adapter_of_this_base_is_ok(folder):
    found = inspect_adapter(folder, BASE)
    assert (found.status, found.reason) == (Status.OK, None)
    assert found.name == "tiny"  # of its folder
    assert (found.lora.rank, found.lora.alpha, found.lora.targets) == (2, 4, {"q_proj", "v_proj"})
    assert (found.weights.layers, found.weights.dtypes) == ((0, 1), ("F32",))
    assert found.weights.n_bytes == (folder / WEIGHTS_FILE).stat().st_size
    assert found.card.slot_length == 16
    assert inspect_adapter(folder) == found
    assert usable_adapter(folder, BASE) == found


@pytest.mark.parametrize("architecture", ["llama", "falcon"])  # others: test_linear_layers.py
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft 0.21
@pytest.mark.slow
def test_what_peft_saves_is_accepted(architecture, tmp_path):
    peft = pytest.importorskip("peft")
    sizes = {"vocab_size": 32, "hidden_size": 32, "num_attention_heads": 4}
    if architecture != "falcon":
        sizes |= {"intermediate_size": 24, "num_key_value_heads": 2, "head_dim": 16}
    # of ten layers: of fewer than three peft lists whole paths, and ends of them else
    config = AutoConfig.for_model(architecture, num_hidden_layers=10, **sizes)
    config.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    base = read_fingerprint(tmp_path)
    network = AutoModelForCausalLM.from_config(config)
    lora = peft.LoraConfig(r=3, target_modules="all-linear", task_type="CAUSAL_LM")
    folder = tmp_path / "adapter"
    peft.get_peft_model(network, lora).save_pretrained(folder)
    adapter = write_adapter_card(folder, tiny_card(base))
    assert adapter == inspect_adapter(folder, base)
    assert (adapter.status, adapter.reason) == (Status.OK, None)
    assert len(adapter.weights.layers) == 10


# --- files ----------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_blocked(tmp_path):
    assert "its folder cannot be read (No such file" in reason(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    assert "its folder cannot be read (Not a directory" in reason(tmp_path / "file")
    assert "its folder cannot be read (embedded null byte)" in reason(Path("a\0b"))


def steering(folder):
    os.close(os.open(os.fsencode(folder) + b"/adapter_model.\x1b[2J\xff.bin", os.O_CREAT))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda one: (one / FILES[0]).unlink(), f"it has no {FILES[0]}; get it again"),
        (lambda one: (one / FILES[1]).unlink(), f"it has no {FILES[1]}; get it again"),
        (
            lambda one: (one / "adapter_model.bin").touch(),
            "a pickle (adapter_model.bin), which can",
        ),
        (
            lambda one: (one / "adapter_model.pkl").touch(),
            "a pickle (adapter_model.pkl), which can",
        ),
        (steering, r"a pickle (adapter_model.\x1b[2J\udcff.bin), which"),
        (lambda one: torch.save(factors(), one / FILES[1]), f"{FILES[1]} is a pickle"),
    ],
)
def test_a_file_that_is_missing_and_a_pickle_are_refused(folder, damage, told):
    damage(folder)
    assert told in reason(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_link_is_refused_wherever_it_leads(folder, name):
    shutil.move(folder / name, folder.parent / name)
    (folder / name).symlink_to(folder.parent / name)
    assert f"its {name} is no plain file" in reason(folder)


@pytest.mark.parametrize("share", [0.0, 0.9])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_cut_is_blocked(folder, name, share):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int((len(content) - 1) * share)])
    assert f"it is damaged; get it again, or choose another one (detail: {name} " in reason(folder)


def test_what_can_be_read_of_a_blocked_adapter_is_told(folder):
    content = (folder / WEIGHTS_FILE).read_bytes()
    (folder / WEIGHTS_FILE).write_bytes(content[:-1])
    found = inspect_adapter(folder, BASE)
    assert (found.card.name, found.lora.rank, found.weights) == ("tiny-en-de", 2, None)


# --- bases ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"architecture": "qwen2"}, "architecture llama there and qwen2 here"),
        ({"layers": 3}, "layers 2 there and 3 here"),
        ({"hidden_size": 128}, "hidden size 64 there and 128 here"),
        ({"vocabulary": 385}, "vocabulary 384 there and 385 here"),
        ({"tokenizer_sha256": "0e" * 32}, "tokenizer sha256 0f0f0f0f0f0f... there and 0e0e"),
    ],
)
def test_another_base_is_refused_with_what_differs(folder, change, sentence):
    told = reason(folder, replace(BASE, **change))
    assert told.startswith("it was made for 'tiny', another model than this")
    assert sentence in told
    assert inspect_adapter(folder).status is Status.OK


def test_a_card_that_names_another_base_than_the_factors_have_is_blocked(tmp_path):
    with pytest.raises(AdapterError, match=r"expected"):
        write_adapter(tmp_path / "x", card=tiny_card(replace(BASE, kv_heads=4)))
    assert "[64, 2] was expected" in reason(tmp_path / "x", replace(BASE, kv_heads=4))


def test_a_stranger_without_a_card_is_unknown_and_says_what_is_missing(tmp_path):
    folder = write_adapter(tmp_path / "stranger", card=False)
    for base in (BASE, None):
        assert "it has no surtitle.json, so its base, its slot length" in doubt(folder, base)
    found = inspect_adapter(folder, BASE)
    assert (found.name, found.card, found.lora.rank) == ("stranger", None, 2)
    assert "another number of layers: 2, not 3" in reason(folder, replace(BASE, layers=3))


@pytest.mark.usefixtures("papers")
def test_an_adapter_of_another_layout_is_unknown(tmp_path):
    folder = write_adapter(tmp_path / "x", card=tiny_card(layout="gpe"))
    assert "detail: it was trained for the layout 'gpe', and captions" in doubt(folder)


@pytest.mark.parametrize("layout", ["spiral", "", "Slots", "x\x1b[2J" * 100])
def test_an_adapter_of_a_layout_that_nobody_knows_is_blocked(folder, layout):
    path = folder / FILE_NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | {"layout": layout}))
    told = reason(folder)
    assert "choose another one (detail: it was trained for the layout '" in told
    assert ("', and this program knows " + ", ".join(LAYOUTS) in told) == (len(layout) < 100)


def test_an_adapter_of_an_architecture_that_is_not_known_is_unknown(tmp_path):
    base = replace(BASE, architecture="gpt9")
    folder = write_adapter(tmp_path / "x", tensors=factors(), card=tiny_card(base))
    for other in (base, None):
        assert "choose another adapter if they are poor" in doubt(folder, other)
        assert "the layers of 'gpt9' are not known here" in doubt(folder, other)


def test_an_adapter_with_a_prompt_of_a_later_program_is_blocked(folder):
    path = folder / FILE_NAME
    content = json.loads(path.read_text()) | {"prompt_template": "surtitle-chat-2\x1b[2J"}
    path.write_text(json.dumps(content))
    assert "it was trained with the prompt 'surtitle-chat-2\\x1b[2J', and this" in reason(folder)


# --- the whole of the weights, and the card -------------------------------------------------------


def test_changed_weights_are_found_when_all_of_them_are_read(folder):
    sha256 = verify_adapter(usable_adapter(folder, BASE))
    assert sha256 == read_adapter_card(folder).weights_sha256
    content = bytearray((folder / WEIGHTS_FILE).read_bytes())
    content[-1] ^= 1
    (folder / WEIGHTS_FILE).write_bytes(content)
    adapter = usable_adapter(folder, BASE)  # the header is as it was
    with pytest.raises(AdapterError, match="was changed or damaged after its card was written"):
        verify_adapter(adapter)


def test_an_adapter_says_how_its_base_is_spoken_to(folder, tmp_path):
    adapter = usable_adapter(folder, BASE)
    assert model_card(tmp_path, adapter) == adapter.card.model_card()
    stranger = usable_adapter(write_adapter(tmp_path / "x", card=False))
    for other in (None, stranger):
        with pytest.raises(ModelError, match="is no Surtitle model"):
            model_card(tmp_path, other)
