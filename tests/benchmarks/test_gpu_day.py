"""What a day with a GPU does, at tiny shapes on a processor."""

import json
import re
import shutil
import time

import pytest
import torch
from safetensors.torch import load_file, save_file

from benchmarks.decode import main as decode
from benchmarks.gpu import day as gpu_day
from benchmarks.gpu import parcel
from benchmarks.gpu.report import report
from benchmarks.gpu.state import State, pack, unpack
from benchmarks.random_models import main as random_model
from engine.runtime.torch.torch_loader import pretrained_network
from tests.support.networks import save_network
from tests.support.training_runs import write_pairs
from tests.training.trainer.corpora import write_data
from training.__main__ import main as training


def dry_run(out, data, *arguments):
    return gpu_day.main([str(out), "--data", str(data), "--dry-run", *map(str, arguments)])


def make_last_steps(train):
    """What ``scripts/train-bundled`` makes after its first run, which its own test makes."""
    for name in ("annealed/model.safetensors", "exported/x", "surtitle-en-de/model.safetensors"):
        (train / name).parent.mkdir(parents=True)
        (train / name).write_text(name)
    (train / "annealed/steps.jsonl").write_text('{"rows": 9, "loss": 1.5}\n')
    (train / "evaluated/little").mkdir(parents=True)
    (train / "evaluated/little/summary.json").write_text('[{"bleu": 12.345}]')


def in_this_process(run):
    """Let the programs of a step run here, where torch is imported already."""
    mains = {"benchmarks.decode": decode, "benchmarks.random_models": random_model}
    mains["training"] = training

    def run_here(day, step, command, watch=lambda: None):
        if (main := mains.get(command[2])) is None:
            return run(day, step, command, watch)
        assert not main(list(map(str, command[3:])))
        watch()
        return ""

    return run_here


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_dry_run_takes_every_step_and_goes_on_from_pieces_on_a_bare_machine(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(gpu_day.Day, "run", in_this_process(gpu_day.Day.run))
    data, out, work = tmp_path / "data", tmp_path / "out", tmp_path / "work"
    write_data(data)
    make_last_steps(work / "train")
    aligned = write_pairs(tmp_path / "pairs.tsv", 60)
    steps = ("tests", "decode gemma-2-2b", "qlora", "train")  # the other shapes go the same way
    only = [word for step in steps for word in ("--only", step)]
    arguments = (out, data, "--aligned", aligned, "--work", work, *only)
    assert dry_run(*arguments, "--minutes", 0) == 3
    assert dry_run(*arguments, "--minutes", 14) == 0
    state = json.loads((out / "state.json").read_text())
    assert set(state["results"]) == set(steps)
    assert state["calls"] == 2
    assert len(state["results"]["qlora"]["losses"]) == 6
    assert state["results"]["train"]["BLEU"] == {"little": 12.35}
    assert state["results"]["train"]["loss"] == 1.5
    assert state["results"]["train"]["rows"] > 9  # those of both runs
    text = (out / "report.md").read_text()
    assert "dry run" in text
    assert text.count("| done |") == len(steps)
    assert re.search(r"^\| gemma-2-2b \| [\d.]+ \|", text, re.MULTILINE)

    trained = (work / "train/stable/model.safetensors").read_bytes()
    shutil.rmtree(work)
    del state["results"]["train"]
    (out / "state.json").write_text(json.dumps(state))
    assert dry_run(*arguments) == 0
    assert (work / "train/stable/model.safetensors").read_bytes() == trained
    assert "there already" in (work / "train.log").read_text()


@pytest.mark.slow
def test_a_dry_run_trains_a_cut_gemma_from_a_parcel_and_sends_it_back(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu_day.Day, "run", in_this_process(gpu_day.Day.run))
    monkeypatch.setattr(parcel, "_PIECE_BYTES", 100_000)
    base = save_network(tmp_path / "base", "gemma3")
    (base / "NOTICE").write_text("Gemma is provided under terms")
    pairs = write_pairs(tmp_path / "pairs.tsv", 60)
    data = [f"{language}={pairs}" for language in ("de", "fr")]
    parts, out = tmp_path / "parcel", tmp_path / "out"
    assert parcel.main([str(base), "--data", *data, "--out", str(parts)]) == 0
    assert len(list(parts.glob("gemma.tar.*"))) > 1
    assert dry_run(out, parts, "--work", tmp_path / "work") == 0
    found = json.loads((out / "state.json").read_text())["results"]["gemma"]
    assert found["pairs"] > 60
    parcel.open_parcel(out, tmp_path / "back")
    networks = [
        pretrained_network(one, dtype=torch.float32, packing=None, device=torch.device("cpu"))
        for one in (base, tmp_path / "back" / parcel.BASE)
    ]
    before, after = ({name: it.detach() for name, it in one.named_parameters()} for one in networks)
    moved = {name: float((before[name] - after[name]).abs().max()) for name in before}
    assert min(moved.values()) > 0  # every weight was trained on
    assert max(moved.values()) < 0.2  # from where it was
    assert (tmp_path / "back" / parcel.BASE / "NOTICE").exists()


def test_what_a_run_has_learnt_is_kept_as_differences_to_its_base(tmp_path):
    base = save_network(tmp_path / "base", "gemma3")
    run = shutil.copytree(base, tmp_path / "run")
    weights = load_file(base / "model.safetensors")
    rng = torch.Generator().manual_seed(1)
    moved = {name: it + 0.01 * torch.randn(it.shape, generator=rng) for name, it in weights.items()}
    (run / "checkpoint").mkdir()
    state = {f"model.{name}": it for name, it in moved.items()} | {
        "optimizer.0.step": torch.ones(1)
    }
    save_file(state, run / "checkpoint/state.safetensors")
    since = ["--since", str(base)]
    assert parcel.main([str(run), *since, "--out", str(tmp_path / "kept")]) == 0
    assert parcel.main([str(tmp_path / "kept"), *since, "--open", str(tmp_path / "back")]) == 0
    back = load_file(tmp_path / "back" / parcel.BASE / "model.safetensors")
    for name, it in moved.items():
        near = (back[name].float() - it).norm() / (it - weights[name]).norm()
        assert near < 0.25 or it.ndim == 1  # 4 bits of what is small, and rounding to bfloat16
    kept = sum(path.stat().st_size for path in (tmp_path / "kept").glob("gemma.tar.*"))
    assert kept < (base / "model.safetensors").stat().st_size / 2


def make_run(folder):
    (folder / "stable/checkpoint").mkdir(parents=True)
    (folder / "stable/checkpoint/state.safetensors").write_bytes(bytes(range(256)) * 100)
    (folder / "all.aligned.tsv").write_text("a\tb\n")
    return folder


def test_pieces_are_small_hold_no_data_and_become_the_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.gpu.state.PIECE_BYTES", 10_000)
    run = make_run(tmp_path / "run")
    (tmp_path / "train.tar.099").write_bytes(b"of a longer run")
    pieces = pack(run, tmp_path)
    assert sorted(pieces) == sorted(path.name for path in tmp_path.glob("train.tar.*"))
    assert len(pieces) > 2
    assert all((tmp_path / name).stat().st_size <= 10_000 for name in pieces)
    unpack(pieces, tmp_path, tmp_path / "again")
    name = "stable/checkpoint/state.safetensors"
    assert (tmp_path / "again" / name).read_bytes() == (run / name).read_bytes()
    assert not (tmp_path / "again/all.aligned.tsv").exists()


def test_a_damaged_piece_is_told_and_nothing_is_unpacked(tmp_path):
    pieces = pack(make_run(tmp_path / "run"), tmp_path)
    (tmp_path / "train.tar.000").write_bytes(b"another")
    with pytest.raises(SystemExit, match="missing or damaged"):
        unpack(pieces, tmp_path, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_command_is_ended_at_the_deadline_and_the_next_call_goes_on(tmp_path, monkeypatch):
    day = gpu_day.Day(
        out=tmp_path,
        work=tmp_path,
        data=tmp_path,
        aligned=None,
        deadline_s=time.monotonic() + 0.5,
        state=State(is_dry=True),
    )
    asleep = {"tests": lambda day: {"summary": day.run("tests", ["sleep", "600"])}}
    monkeypatch.setattr(gpu_day, "steps", lambda: asleep)
    assert gpu_day.call(day, ["tests"]) == 3
    assert gpu_day.read_state(tmp_path, is_dry=True).results == {}
    day.deadline_s = time.monotonic() + 60
    asleep["tests"] = lambda day: {"summary": day.run("tests", ["echo", "done"])}
    assert gpu_day.call(day, ["tests"]) == 0
    assert gpu_day.read_state(tmp_path, is_dry=True).results == {"tests": {"summary": "done"}}


def test_a_step_that_fails_is_told_and_tried_again(tmp_path, monkeypatch, capsys):
    state = State(is_dry=True)
    far = time.monotonic() + 60
    day = gpu_day.Day(
        out=tmp_path, work=tmp_path, data=tmp_path, aligned=None, deadline_s=far, state=state
    )
    steps = {
        "tests": lambda day: {"x": day.run("tests", ["sh", "-c", "echo no memory; exit 4"])},
        "train": lambda _day: {},
    }
    monkeypatch.setattr(gpu_day, "steps", lambda: steps)
    assert gpu_day.call(day, list(steps)) == 1
    assert "tests failed (4): no memory" in capsys.readouterr().err
    assert "train" in state.results
    assert "failed: tests failed (4): no memory" in (tmp_path / "report.md").read_text()
    steps["tests"] = lambda _day: {"summary": "2 passed"}
    assert gpu_day.call(day, list(steps)) == 0
    assert state.failures == {}


def test_the_report_says_which_aims_are_met():
    times = {"bound / decode": 0.41, "generate / decode": 7.9, "cycle / decode": 1.3}
    state = State(is_dry=True, results={"decode some": {"machine": "any", **times}})
    text = report(state, ["decode some"])
    assert "| bound / decode >= 0.4 | met |" in text
    assert "| generate / decode >= 8.0 | **not met** |" in text
    assert "| cycle / decode <= 1.3 | met |" in text


def test_a_dry_run_and_a_real_one_are_not_mixed(tmp_path):
    (tmp_path / "state.json").write_text(json.dumps({"is_dry": False}))
    with pytest.raises(SystemExit, match="holds a real run, this is a dry run"):
        dry_run(tmp_path, tmp_path)
