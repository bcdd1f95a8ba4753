"""What fits where, what is told when nothing does, and memory that runs out all the same."""

import json
import random

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.files import ByteCount
from engine.models.fingerprint import Footprint, read_footprint
from engine.runtime import load_plan
from engine.runtime.load_plan import fitting, load_plans
from engine.runtime.loader import load_weights
from engine.runtime.torch import torch_loader
from engine.settings import ModelSettings
from tests.support.fakes import save_tiny_model

LLAMA_8B = Footprint(
    n_linear=6_979_321_856, n_rows=1_376_256, n_other=1_050_939_392, n_cached=65_536, stored_bytes=2
)


@pytest.fixture
def memory(monkeypatch):
    """Free bytes by device, and whether there is CUDA."""
    free = {"cpu": 64e9}

    def is_available():
        return "cuda" in free

    monkeypatch.setattr(load_plan, "free_bytes", lambda device: free[device.type])
    monkeypatch.setattr(torch.cuda, "is_available", is_available)
    monkeypatch.setattr(load_plan, "compute_dtype", lambda _device: torch.bfloat16)
    return free


@pytest.fixture
def saved(tmp_path):
    return save_tiny_model(tmp_path)


def chosen(**settings):
    settings = ModelSettings(directory="llama", **settings)
    plans = load_plans(settings, LLAMA_8B)
    plans = fitting("llama", plans, settings, LLAMA_8B)
    return [str(plan.kept) for plan in plans]


def refusal(**settings):
    with pytest.raises(ModelError) as caught:
        chosen(**settings)
    return str(caught.value)


def test_auto_takes_whole_weights_first_then_4_bits_then_the_processor(memory):
    pytest.importorskip("bitsandbytes")
    memory["cuda"] = 80e9
    everything = [
        "whole on cuda", "in 4 bits on cuda", "whole in bfloat16 on cpu", "in 4 bits on cpu",
    ]  # fmt: skip
    assert chosen() == everything
    for free, n_lost in ((12e9, 1), (4e9, 2)):
        memory["cuda"] = free
        assert chosen() == everything[n_lost:]
    memory["cpu"] = 12e9
    assert chosen() == everything[3:]


def test_what_was_asked_for_is_not_replaced(memory):
    memory["cuda"] = 80e9
    assert chosen(device="cpu", quantise="int8") == ["in 8 bits on cpu"]
    assert chosen(device="cuda", quantise="none") == ["whole on cuda"]
    memory["cuda"] = 12e9
    told = refusal(device="cuda", quantise="none")
    assert told == (
        "the model in llama needs 18.1 GB whole on cuda, 12.0 GB free: "
        "choose --device cuda --quantize nf4"
    )
    shortage = load_plan.LoadPlan(
        device=torch.device("cpu"), quantise="none", needed_bytes=2000, free_bytes=1000
    ).shortage
    assert all(isinstance(shortage.values[name], ByteCount) for name in ("size", "free"))
    memory["cuda"] = 1e9
    assert refusal(device="cuda").endswith("choose --device cpu --quantize none")
    memory["cpu"] = 1e9
    assert refusal().endswith("1.0 GB free: choose a smaller model, or close other programs")


def test_more_memory_never_means_a_worse_plan(memory):
    pytest.importorskip("bitsandbytes")
    ranks = {words: rank for rank, words in enumerate(
        ["whole on cuda", "in 4 bits on cuda", "whole in bfloat16 on cpu", "in 4 bits on cpu"]
    )}  # fmt: skip
    rng = random.Random(0)
    for _ in range(200):
        memory["cuda"], memory["cpu"] = rng.uniform(0, 25e9), rng.uniform(10e9, 25e9)
        before = ranks[chosen()[0]]
        memory[rng.choice(["cuda", "cpu"])] += rng.uniform(0, 10e9)
        assert ranks[chosen()[0]] <= before


def test_a_large_model_on_a_processor_computes_in_the_type_that_it_multiplies_fastest(monkeypatch):
    settings, needed = ModelSettings(directory="llama", device="cpu"), {}
    for dtype in (torch.float32, torch.bfloat16):
        monkeypatch.setattr(load_plan, "compute_dtype", lambda _device, dtype=dtype: dtype)
        whole, *_ = load_plans(settings, LLAMA_8B)
        assert (whole.quantise, whole.dtype) == ("none", dtype)
        needed[dtype] = whole.needed_bytes
    assert needed[torch.float32] == pytest.approx(2 * needed[torch.bfloat16])


def test_4_bits_are_not_for_mps(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(ModelError, match="use --quantize none or --device cpu"):
        load_plans(ModelSettings(directory="llama", device="mps", quantise="nf4"), LLAMA_8B)


def test_weights_that_do_not_fit_whole_are_loaded_in_4_bits_and_the_report_says_so(saved, memory):
    pytest.importorskip("bitsandbytes")
    footprint = read_footprint(saved)
    memory["cpu"] = 1.2 * footprint.n_bytes("nf4", 4, capacity=10)
    report = load_weights(ModelSettings(directory=saved, capacity=10)).report
    assert report.quantise == "nf4"
    (note,) = map(str, report.notes)
    assert note.startswith("the model needs 441.3 kB whole on cpu, ")
    assert ": it was loaded in 4 bits on cpu (" in note


def test_a_device_that_runs_out_of_memory_all_the_same_is_given_up_for_the_next(
    saved, memory, monkeypatch
):
    """CUDA is simulated: the estimate is kept, and then the allocator refuses."""
    memory["cuda"] = 80e9
    load, tried = torch_loader.load_network, []

    def out_of_memory(folder, *, device, **others):
        tried.append(device.type)
        if device.type == "cuda":
            msg = "CUDA out of memory. Tried to allocate 20.00 MiB."
            raise torch.OutOfMemoryError(msg)
        return load(folder, device=device, **others)

    monkeypatch.setattr(torch_loader, "load_network", out_of_memory)
    monkeypatch.setattr(torch_loader, "give_memory_back", lambda _device: tried.append("back"))
    weights = load_weights(ModelSettings(directory=saved, quantise="none"))
    assert tried == ["cuda", "back", "cpu"]
    assert "80.0 GB free and ran out of it: it was loaded whole on cpu" in str(
        weights.report.notes[0]
    )
    with pytest.raises(ModelError, match="choose a smaller model or another device") as caught:
        load_weights(ModelSettings(directory=saved, device="cuda", quantise="none"))
    assert "\n" not in str(caught.value)


# --- folders that were cut ------------------------------------------------------------------------


def sharded(saved):
    """The same weights in two files and an index."""
    tensors = load_file(saved / "model.safetensors")
    names = sorted(tensors)
    places = {}
    for number, part in enumerate((names[::2], names[1::2]), 1):
        file = f"model-{number:05}-of-00002.safetensors"
        save_file({name: tensors[name] for name in part}, saved / file, {"format": "pt"})
        places |= dict.fromkeys(part, file)
    index = {"metadata": {"total_size": 0}, "weight_map": places}
    (saved / "model.safetensors.index.json").write_text(json.dumps(index))
    (saved / "model.safetensors").unlink()
    return saved


def load_error(folder):
    with pytest.raises(ModelError) as caught:
        load_weights(ModelSettings(directory=folder, device="cpu"))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_weights_in_several_files_are_measured_and_loaded_as_those_in_one(saved):
    whole = read_footprint(saved)
    before = load_weights(ModelSettings(directory=saved, device="cpu")).network.state_dict()
    assert read_footprint(sharded(saved)) == whole
    after = load_weights(ModelSettings(directory=saved, device="cpu")).network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_file_of_several_that_is_missing_or_cut_is_named(saved):
    path = sharded(saved) / "model-00002-of-00002.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    assert "'model-00002-of-00002.safetensors' was cut: its tensors need" in load_error(saved)
    path.unlink()
    assert "it has no 'model-00002-of-00002.safetensors'" in load_error(saved)


def test_a_tokenizer_with_more_ids_than_the_embeddings_have_rows_is_refused(saved):
    tokenizer = json.loads((saved / "tokenizer.json").read_text())
    extra = dict(tokenizer["added_tokens"][0], id=5000, content="<|beyond|>")
    tokenizer["added_tokens"].append(extra)
    (saved / "tokenizer.json").write_text(json.dumps(tokenizer))
    told = load_error(saved)
    assert "its embeddings 384 rows, so they belong to two models" in told
