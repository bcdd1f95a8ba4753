"""What an export writes: in 8 bits, with an adapter in its weights; and what it never replaces."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from engine.layout.rows import Row
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import Calibration, read_card
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings
from engine.untrusted.file_headers import CODES
from tests.support.adapter_folders import BASE, tiny_card, write_adapter
from tests.support.fakes import save_plain_model
from training.__main__ import main


@pytest.fixture
def folder(tmp_path):
    folder = save_plain_model(tmp_path / "model")
    (folder / "README.md").write_text("about it")
    (folder / "steps.jsonl").write_text("{}")
    (folder / "checkpoint").mkdir()
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_8_bits_take_a_quarter_of_float32_and_the_folder_stays(folder, tmp_path):
    before = contents(folder)
    assert main(["export", str(folder), "--out", str(tmp_path / "out"), "--int8"]) == 0
    after = contents(tmp_path / "out")
    assert len(after["model.safetensors"]) < 0.28 * len(before["model.safetensors"])
    assert contents(folder) == before
    modes = {path.stat().st_mode for path in (tmp_path / "out").iterdir()}
    assert len(modes) == 1  # who may read the card may read the weights
    weights = hashlib.sha256(after["model.safetensors"]).hexdigest()
    assert read_card(tmp_path / "out").weights_sha256 == weights


def test_a_model_with_an_adapter_in_its_weights_computes_what_both_did(folder, tmp_path):
    base = read_fingerprint(folder)
    adapter = write_adapter(tmp_path / "adapter", base, card=tiny_card(base))
    out = tmp_path / "out"
    card = replace(read_card(folder), calibration=Calibration(slope=1.0, offset=0.0, threshold=0.5))
    card.save(folder)
    assert main(["export", str(folder), "--adapter", str(adapter), "--out", str(out)]) == 0

    def logits(settings):
        model = load_weights(settings).new_model(8)
        return model.feed([Row(5, 0, 0), Row(7, 1, 0)])

    together = logits(ModelSettings(directory=folder, adapter=adapter))
    assert np.array_equal(logits(ModelSettings(directory=out)), together)
    assert not np.allclose(logits(ModelSettings(directory=folder)), together)
    assert read_card(out).calibration is None  # that was the base's


def test_8_bits_that_an_adapter_hardly_changes_keep_the_change_on_the_whole(folder, tmp_path):
    """Each change is far less than half a step, so that rounding to the nearest would undo all."""
    packed, out = tmp_path / "packed", tmp_path / "out"
    assert main(["export", str(folder), "--out", str(packed), "--int8"]) == 0
    base = read_fingerprint(packed)
    adapter = write_adapter(tmp_path / "adapter", base, card=tiny_card(base), scale=0.003)
    wanted = ["export", str(packed), "--adapter", str(adapter), "--int8", "--out", str(out)]
    assert main(wanted) == 0
    before, after = (load_file(one / "model.safetensors") for one in (packed, out))
    changed = [name for name in before if not np.array_equal(before[name], after[name])]
    assert {name.split(".")[-3] for name in changed if name.endswith(CODES)} == {"q_proj", "v_proj"}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_not_packed(folder, tmp_path, capsys, value):
    tensors = load_file(folder / "model.safetensors")
    tensors["model.embed_tokens.weight"][3, 4] = value
    save_file(tensors, folder / "model.safetensors")
    (tmp_path / "out").mkdir()
    assert main(["export", str(folder), "--out", str(tmp_path / "out"), "--int8"]) == 1
    told = capsys.readouterr().err
    assert f"the weights of {folder} cannot be packed or changed: model.safetensors holds" in told
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_is_handed_on_without_checkpoint_and_record(folder, tmp_path):
    before = contents(folder)
    assert main(["export", str(folder), "--out", str(tmp_path / "out")]) == 0
    handed_on = contents(tmp_path / "out")
    named = before | {"surtitle.json": handed_on["surtitle.json"]}
    assert handed_on == {name: it for name, it in named.items() if name != "steps.jsonl"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(handed_on)
    assert contents(folder) == before


def test_an_adapter_of_another_model_is_refused_and_nothing_is_written(folder, tmp_path, capsys):
    adapter = write_adapter(tmp_path / "adapter", BASE)
    out = tmp_path / "out"
    assert main(["export", str(folder), "--adapter", str(adapter), "--out", str(out)]) == 1
    assert str(adapter) in capsys.readouterr().err
    assert not out.exists()


def test_the_weights_of_a_folder_are_never_replaced(folder, capsys):
    before = contents(folder)
    assert main(["export", str(folder), "--int8", "--out", str(folder)]) == 2
    assert "is the model folder itself, which stays as it is" in capsys.readouterr().err
    assert contents(folder) == before
