"""Folders of strangers: what could run code, load something else, wait for ever or swell."""

import json
import os

import pytest
import torch

from engine.errors import ModelError
from engine.runtime.torch.torch_loader import (
    load_tokenizer,
    pretrained_network,
)
from engine.untrusted.model_folder import check_model_folder


def change(folder, name="config.json", **values):
    path = folder / name
    content = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(content | values))


def refusal(folder, judge=check_model_folder):
    with pytest.raises(ModelError) as caught:
        judge(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert message.startswith(f"the model in {folder} cannot be loaded: ")
    return message


def load(folder):
    return pretrained_network(folder, dtype=None, packing=None, device=torch.device("cpu"))


def test_a_sound_folder_is_let_through(tiny):
    check_model_folder(tiny)


# --- code, and files that are not the model's own -----------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["config.json", "tokenizer_config.json", "generation_config.json", "processor_config.json",
     "preprocessor_config.json", "special_tokens_map.json"],
)  # fmt: skip
def test_a_file_that_names_code_is_refused_before_any_library_sees_it(folder, name, monkeypatch):
    code = {"auto_map": {"AutoConfig": "evil.Evil"}}
    change(folder, name, **({"text_config": [code]} if name == "config.json" else code))
    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_pretrained", None)
    monkeypatch.setattr("transformers.PreTrainedTokenizerFast.from_pretrained", None)
    for judge in (check_model_folder, load, load_tokenizer):
        assert "names Python code of its own" in refusal(folder, judge)


@pytest.mark.parametrize(
    ("key", "value"),
    [("transformers_weights", "other.safetensors"), ("fusion_config", {"patch_embeddings": True}),
     ("attn_implementation", "kernels-community/flash-attn"),
     ("_experts_implementation", "someone/kernel")],
)  # fmt: skip
def test_a_configuration_that_loads_from_elsewhere_is_refused(folder, key, value):
    change(folder, **{key: value})
    assert key in refusal(folder)


@pytest.mark.parametrize("method", ["fp8", "gptq", "awq", None, 3])
def test_weights_in_a_packing_that_is_not_known_are_refused(folder, method):
    change(folder, quantization_config={"quant_method": method})
    assert "packed as" in refusal(folder)
    change(folder, quantization_config={"quant_method": "bitsandbytes"})
    check_model_folder(folder)


@pytest.mark.parametrize(
    "name", ["adapter_config.json", "shard-00000-model-00000-of-00001.safetensors"]
)
def test_files_that_make_a_library_load_something_else_are_refused(folder, name):
    (folder / name).write_text("{}")
    assert name in refusal(folder)


def test_a_tokenizer_that_names_files_of_its_own_is_refused(folder):
    change(folder, "tokenizer_config.json", fast_tokenizer_files=["../../x.json"])
    assert "names files of its own" in refusal(folder)


# --- what is no plain file, or too large --------------------------------------------------------

FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
         "model.safetensors", "generation_config.json", "added_tokens.json"]  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes of Unix")
@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", FILES)
def test_a_pipe_or_a_folder_in_the_place_of_a_file_is_not_waited_for(folder, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    assert f"'{name}' is no plain file" in refusal(folder)
    (folder / name).unlink()
    (folder / name).mkdir()
    assert f"'{name}' is no plain file" in refusal(folder)


def test_links_to_files_are_files(tiny, tmp_path):
    """The hub's own cache is made of links."""
    for path in tiny.iterdir():
        (tmp_path / path.name).symlink_to(path)
    check_model_folder(tmp_path)
    (tmp_path / "config.json").unlink()
    (tmp_path / "config.json").symlink_to("/dev/zero")
    assert "no plain file" in refusal(tmp_path)


@pytest.mark.parametrize("name", sorted({*FILES} - {"model.safetensors"}))
def test_a_file_that_is_much_too_large_is_not_read(folder, name):
    with (folder / name).open("wb") as file:
        file.truncate(1 << 33)  # sparse
    assert "are the most" in refusal(folder)


def test_templates_in_a_folder_of_their_own_are_judged_too(folder):
    (folder / "additional_chat_templates").mkdir()
    os.mkfifo(folder / "additional_chat_templates" / "x.jinja")
    assert "no plain file" in refusal(folder)


# --- numbers that are counted up to -------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["num_hidden_layers", "num_labels", "n_layer", "num_local_experts", "n_head"]
)
def test_a_count_that_nobody_could_count_up_to_is_refused(folder, key):
    change(folder, **{key: 10**9})
    assert f"'{key}'" in refusal(folder)
    change(folder, **{key: 1, "text_config": {key: 10**9}})
    assert f"'{key}'" in refusal(folder)


@pytest.mark.parametrize("value", ["x", 0, -1, 2.5, True, 2**40, [3]])
def test_a_window_that_is_no_whole_number_is_refused(folder, value):
    change(folder, sliding_window=value)
    assert "sliding_window" in refusal(folder)


@pytest.mark.parametrize(
    "values",
    [{"num_hidden_layers": 3000}, {"vocab_size": 2**40}, {"hidden_size": 2**20},
     {"intermediate_size": 2**50}],
)  # fmt: skip
def test_a_network_larger_than_its_weights_is_not_built(folder, values, monkeypatch):
    """Only shapes are made: were numbers allocated, the test would need hundreds of gigabytes."""
    change(folder, **values)
    monkeypatch.setattr("transformers.PreTrainedModel._load_pretrained_model", None)
    assert "larger network than it has weights for" in refusal(folder, load)


# --- files that do not belong together ----------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"num_hidden_layers": 1}, "no place for its weights 'model.layers.1."),
        ({"num_hidden_layers": 4}, "its weights lack 'model.layers.2."),
        ({"hidden_size": 128}, "in another shape than its config.json asks for"),
        ({"intermediate_size": 3}, "in another shape than its config.json asks for"),
        ({"vocab_size": 385}, "in another shape than its config.json asks for"),
        ({"model_type": "evil"}, "says that it is a 'evil', which is no kind"),
        ({"model_type": None}, "says that it is a None, which is no kind"),
        ({"hidden_act": "none such"}, "make no model that is known here (KeyError)"),
        ({"num_attention_heads": 0}, "make no model that is known here (ZeroDivisionError)"),
    ],
)
def test_a_configuration_of_another_model_is_told_in_our_words(
    folder, values, reason, capfd, caplog
):
    change(folder, **values)
    assert reason in refusal(folder, load)
    assert capfd.readouterr() == ("", "")
    assert not [record for record in caplog.records if record.levelname != "INFO"]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [("bos_token", "", "names a marker that its tokenizer.json does not have"),
     ("model_max_length", "x", "its tokenizer cannot be used"),
     ("model_max_length", {}, "its tokenizer cannot be used"),
     ("unk_token", "", "its tokenizer cannot be used")],
)  # fmt: skip
def test_a_tokenizer_that_could_not_read_the_first_word_is_refused(folder, key, value, reason):
    change(folder, "tokenizer_config.json", **{key: value})
    (folder / "chat_template.jinja").unlink()
    assert reason in refusal(folder, load_tokenizer)


def test_what_a_network_gives_has_names_whatever_the_configuration_says(folder):
    change(folder, return_dict=False)
    assert load(folder)(torch.tensor([[1]])).logits.shape == (1, 1, 384)
