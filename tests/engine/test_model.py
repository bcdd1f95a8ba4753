import json
import random
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.attention import Attention
from engine.errors import ModelError
from engine.fingerprint import read_fingerprint
from engine.layout import IGNORE
from engine.model import SlotModel, load_weights, pick_device
from engine.policy import ReadN, WaitK
from engine.settings import LayoutSettings, ModelSettings
from tests.adapter_folders import tiny_card, write_adapter
from tests.fakes import bare_prompt, random_pair, save_tiny_model, tiny_weights
from training.batches import Example, pad
from training.examples import build_rows


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def folder(saved, tmp_path):
    """A copy of the tiny model's folder that a test may damage."""
    for path in saved.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def refusal(directory, **settings):
    """The sentence that loading fails with."""
    with pytest.raises(ModelError) as caught:
        load_weights(ModelSettings(directory=directory, **settings))
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


def rows_with_small_ids(seed):
    """A random sample whose ids the tiny model knows."""
    rng = random.Random(seed)
    policy = rng.choice([ReadN(2), WaitK(2)])
    layout = LayoutSettings(slot_length=rng.randint(3, 16))
    rows = build_rows(
        random_pair(rng, n_ids=370), policy, bare_prompt(), layout, marker_alone=False
    )
    return [row._replace(id=row.id % 380) for row in rows]


def passes(rows):
    """Rows grouped as they are fed."""
    times = sorted({row.time for row in rows})
    return [[row for row in rows if row.time == time] for time in times]


def test_feeding_pass_by_pass_in_float32_equals_one_padded_batch():
    samples = [rows_with_small_ids(seed) for seed in range(6)]
    network = tiny_weights(torch.float32).network
    batch = pad([Example(rows, ends_writes=False) for rows in samples])
    with torch.inference_mode():
        at_once = network(
            input_ids=batch.ids,
            position_ids=batch.places.encoded,
            attention_mask=batch.bias(Attention.of(network)),
            use_cache=False,
        ).logits
    for number, rows in enumerate(samples):
        model = SlotModel(network, len(rows))
        for fed in passes(rows):
            logits = model.feed(fed)
            index = model.n_rows - 1
            assert rows[index] == fed[-1]
            assert rows[index].label != IGNORE
            torch.testing.assert_close(logits, at_once[number, index], rtol=0, atol=1e-3)


def test_rows_and_passes_are_counted_and_never_uncounted():
    rows = rows_with_small_ids(0)
    model = SlotModel(tiny_weights().network, 100)
    for fed in passes(rows):
        model.feed(fed)
    assert (model.tokens_fed, model.forwards) == (len(rows), len(passes(rows)))
    model.truncate(0)
    assert (model.tokens_fed, model.forwards) == (len(rows), len(passes(rows)))


def test_the_likeliest_id_that_is_not_suppressed_is_chosen():
    rows = rows_with_small_ids(0)
    one, other = SlotModel(tiny_weights().network, 100), SlotModel(tiny_weights().network, 100)
    ranking = one.feed(rows).argsort(descending=True)
    assert other.next_id(rows, torch.tensor([], dtype=torch.int64)) == ranking[0]
    other.truncate(0)
    assert other.next_id(rows, ranking[:3]) == ranking[3]


# --- loading --------------------------------------------------------------------------------------


def test_what_is_saved_is_loaded_again(saved):
    loaded, tiny = load_weights(ModelSettings(directory=saved)), tiny_weights(torch.float32)
    assert loaded.card == tiny.card
    assert loaded.n_parameters == tiny.n_parameters
    assert not loaded.network.training
    for name, tensor in tiny.network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], tensor)
    text = " abc 🙂 3.5 <|end|>"
    assert loaded.tokenizer.encode(text) == tiny.tokenizer.encode(text)
    assert loaded.tokenizer.chat_template == tiny.tokenizer.chat_template
    assert loaded.decoder.decode([300, 301]) == tiny.decoder.decode([300, 301])


def test_a_small_model_computes_in_float32_on_a_cpu(tmp_path):
    save_tiny_model(tmp_path, torch.bfloat16)
    assert (
        load_weights(ModelSettings(directory=tmp_path, device="cpu")).network.dtype == torch.float32
    )


def test_a_missing_folder_is_refused(tmp_path):
    assert "nowhere is no Surtitle model" in refusal(tmp_path / "nowhere")


def test_a_folder_without_a_card_is_refused(folder):
    (folder / "surtitle.json").unlink()
    assert "it has no surtitle.json" in refusal(folder)


@pytest.mark.parametrize("n_bytes", [0, 5, 100, 5000, -1])
def test_weights_that_were_cut_are_refused(folder, n_bytes):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:n_bytes])
    assert f"the model in {folder} cannot be loaded" in refusal(folder)


def test_weights_as_a_pickle_are_refused(folder):
    (folder / "model.safetensors").unlink()
    torch.save(tiny_weights(torch.float32).network.state_dict(), folder / "pytorch_model.bin")
    assert f"the model in {folder} cannot be loaded" in refusal(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused(folder, name):
    (folder / name).unlink()
    assert "cannot be loaded" in refusal(folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"model_type": "none such"}'])
def test_a_file_that_is_garbled_is_refused_or_does_no_harm(folder, name, content):
    (folder / name).write_text(content)
    try:
        load_weights(ModelSettings(directory=folder))
    except ModelError as error:
        assert "\n" not in str(error)  # noqa: PT017  not every damage is one


def test_weights_that_lack_a_tensor_are_refused(folder):
    """Else the library would put random numbers in its place."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["lm_head.weight"]
    save_file(tensors, path, {"format": "pt"})
    assert "cannot be loaded" in refusal(folder)


def test_weights_of_another_shape_are_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 128}))
    assert "cannot be loaded" in refusal(folder)


def test_code_in_a_folder_is_not_run(folder):
    config = json.loads((folder / "config.json").read_text())
    evil = {
        "model_type": "evil",
        "auto_map": {"AutoModelForCausalLM": "evil.Evil", "AutoConfig": "evil.Evil"},
    }
    (folder / "config.json").write_text(json.dumps(config | evil))
    (folder / "evil.py").write_text("raise SystemExit('run')")
    assert "cannot be loaded" in refusal(folder)


# --- adapters -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(saved):
    return read_fingerprint(saved)


@pytest.mark.parametrize("name", ["adapter_config.json", "adapter_model.safetensors"])
def test_an_adapter_folder_that_lacks_a_file_is_refused(saved, tmp_path, name):
    for present in {"adapter_config.json", "adapter_model.safetensors"} - {name}:
        (tmp_path / present).touch()
    assert f"it has no {name}" in refusal(saved, adapter=tmp_path)


@pytest.mark.parametrize(
    ("config", "scale"),
    [({"lora_alpha": 4}, 2.0), ({"lora_alpha": 1.5}, 0.75),
     ({"use_rslora": True, "r": 4, "lora_alpha": 3}, 1.5), ({"layers_to_transform": [1]}, 2.0)],
)  # fmt: skip
def test_the_factors_of_an_adapter_are_merged_into_the_weights(
    saved, base, tmp_path, config, scale
):
    pytest.importorskip("peft")
    write_adapter(tmp_path / "a", base, config=config)
    tensors = load_file(tmp_path / "a" / "adapter_model.safetensors")
    adapted = load_weights(ModelSettings(directory=saved, adapter=tmp_path / "a")).network
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
    pytest.importorskip("peft")
    card = tiny_card(base, slot_length=8, policies=("wait:3",))
    adapter = write_adapter(tmp_path / "a", base, card=card)
    (folder / "surtitle.json").unlink()  # most bases have none
    loaded = load_weights(ModelSettings(directory=folder, adapter=adapter)).card
    assert loaded == card.model_card()
    (adapter / "surtitle.json").unlink()
    assert "it has no surtitle.json" in refusal(folder, adapter=adapter)


def test_an_adapter_of_another_base_is_refused_before_a_library_sees_it(
    saved, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "peft", None)  # importing it would fail
    write_adapter(tmp_path / "a")
    told = refusal(saved, adapter=tmp_path / "a")
    assert "it was made for 'tiny', another model than this: tokenizer sha256" in told


def test_an_adapter_whose_weights_were_changed_is_refused(saved, base, tmp_path):
    path = write_adapter(tmp_path / "a", base) / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert "was changed or damaged" in refusal(saved, adapter=tmp_path / "a")


def test_an_adapter_of_numbers_that_are_none_is_refused(saved, base, tmp_path):
    pytest.importorskip("peft")
    write_adapter(tmp_path / "a", base, scale=torch.nan)
    assert "does not fit the model: NaNs detected" in refusal(saved, adapter=tmp_path / "a")


def test_adapters_without_peft_are_told_what_to_install(saved, base, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    write_adapter(tmp_path / "a", base)
    assert "pip install 'surtitle[adapters]'" in refusal(saved, adapter=tmp_path / "a")


# --- devices --------------------------------------------------------------------------------------


def test_cuda_is_refused_where_there_is_none(saved, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "use --device cpu or auto" in refusal(saved, device="cuda")


def test_auto_takes_cuda_where_there_is_one(monkeypatch):
    for available, device in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda found=available: found)
        assert pick_device("auto") == torch.device(device)
    assert pick_device("cpu") == torch.device("cpu")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_says_what_the_cpu_says(saved):
    rows = rows_with_small_ids(0)
    logits = []
    for device in ("cpu", "cuda"):
        network = load_weights(ModelSettings(directory=saved, device=device)).network
        logits.append(SlotModel(network, 100).feed(rows).cpu())
    torch.testing.assert_close(*logits, rtol=0, atol=1e-3)
