"""Test conversion: the same translations as transformers', whole or not at all."""

import contextlib
import os
import shutil
import sys

import ctranslate2
import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from engine.errors import FetchCancelledError, ModelError
from engine.files import ByteCount
from engine.messages import Code
from engine.models.encoder_decoder.original import read_original
from engine.models.encoder_decoder.record import read_record
from engine.runtime.ctranslate2 import conversion
from engine.runtime.ctranslate2.conversion import held, ready_folder
from engine.runtime.ctranslate2.encoder_decoder_loader import (
    EncoderDecoderModel,
    load_encoder_decoder,
)
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings
from tests.engine.runtime.ctranslate2.tiny_models import FAMILIES, LANGUAGES, make_encoder_decoder
from tests.support.programs.run import ran


def pairs(family):
    sources = ("en",) if family == "marian" else LANGUAGES[family]
    return [(one, other) for one in sources for other in LANGUAGES[family] if one != other]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_pair_is_translated_as_transformers_does(originals, converted, family):
    vocabulary = read_original(originals[family]).vocabulary
    ids = {token: n for n, token in enumerate(vocabulary)}
    network = AutoModelForSeq2SeqLM.from_pretrained(originals[family], local_files_only=True)
    if family == "madlad":  # its outputs have weights of their own
        inputs, outputs = network.get_input_embeddings(), network.get_output_embeddings()
        assert not torch.equal(inputs.weight, outputs.weight)
    translator = ctranslate2.Translator(
        str(converted[family] / "ctranslate2-float16"), compute_type="float32", intra_threads=1
    )
    weights = load_encoder_decoder(ModelSettings(directory=converted[family], device="cpu"))
    ours = EncoderDecoderModel(translator, weights.vocabulary, 1, 1)
    words = [token for token in vocabulary if token.startswith("▁")][1:6]
    results = set()
    for source, target in pairs(family):
        tokens = [*weights.record.source_tokens(source, target), *words, "</s>"]
        prefix = weights.record.target_tokens(target)
        found = ours.translate(tokens, prefix, 12)
        assert [weights.vocabulary[one] for one in found.ids[: len(prefix)]] == prefix
        names = [weights.vocabulary[one] for one in found.ids]
        begun = [network.config.decoder_start_token_id, *(ids[name] for name in names[:-1])]
        theirs = network(
            input_ids=torch.tensor([[ids[token] for token in tokens]]),
            decoder_input_ids=torch.tensor([begun]),
        ).logits[0, :, : len(weights.vocabulary)]
        known = np.isfinite(found.logits)
        assert not known[:, ids["<unk>"]].any()
        difference = np.where(known, found.logits, 0) - np.where(known, theirs.detach(), 0)
        assert abs(difference).max() < 1e-3
        rows = found.logits[len(prefix) :]
        assert [int(row.argmax()) for row in rows] == found.ids[len(prefix) :]
        results.add(tuple(names))
    assert len(results) >= len(LANGUAGES[family])  # the language tokens count


def test_what_is_forced_stays_and_the_rest_follows_from_it(converted):
    weights = load_encoder_decoder(ModelSettings(directory=converted["m2m100"], device="cpu"))
    model = weights.new_model(0)
    source = [*weights.record.source_tokens("en", "de"), "▁the", "▁house", "</s>"]
    free = model.translate(source, ["__de__"], 9)
    tokens = [weights.vocabulary[one] for one in free.ids]
    forced = model.translate(source, tokens[:4], 9)
    assert forced.ids == free.ids
    known = np.isfinite(free.logits)
    assert abs(forced.logits[known] - free.logits[known]).max() < 1e-4
    assert model.tokens_fed == 2 * len(source) + len(free.ids) + len(forced.ids)


@pytest.mark.slow
def test_a_folder_is_converted_once_and_then_needs_no_original(original):
    said = []
    found = ready_folder(original, "int8", progress=lambda name, part: said.append((name, part)))
    assert found == original / "ctranslate2-int8"
    assert said[-1] == ("marian", 1.0)
    assert [part for _, part in said] == sorted(part for _, part in said)
    before = (found / "model.bin").stat().st_mtime_ns
    (original / "model.safetensors").unlink()
    (original / "config.json").unlink()
    weights = load_weights(ModelSettings(directory=original, device="cpu"))
    assert weights.card.name == "marian"
    assert (found / "model.bin").stat().st_mtime_ns == before
    moved = shutil.copytree(found, original.parent / "alone")
    assert load_weights(ModelSettings(directory=moved)).card == weights.card


def _nothing_half_written(folder, before):
    return sorted(path.name for path in folder.iterdir()) == before


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_a_cancelled_conversion_leaves_nothing(original):
    before = _names(original)
    steps = []
    with pytest.raises(FetchCancelledError, match="converting marian was cancelled"):
        ready_folder(
            original,
            "int8",
            progress=lambda _name, part: steps.append(part),
            cancelled=lambda: len(steps) > 0,
        )
    assert _nothing_half_written(original, before)


def _child(monkeypatch, tmp_path, source):
    """Put another program in the converter's place."""
    path = tmp_path / "child.py"
    path.write_text(source)
    monkeypatch.setattr(conversion.conversion_child, "__file__", str(path))


_HALF = """
import os, pathlib, signal, sys
out = pathlib.Path(sys.argv[2])
out.mkdir()
(out / "model.bin").write_bytes(b"half")
"""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "its process was ended .SIGKILL"),
        ("", "its process was ended .0."),
        ("""print('{"errno": 28, "words": "No space left on device"}')""",
         "cannot be written .No space left on device.; make room there"),
        ("""print('{"errno": 5, "words": "Input/output error"}')""",
         "get it again .*detail: Input/output error"),
        ("""print('{"error": "KeyError"}')""", "get it again .*detail: KeyError"),
    ],
)  # fmt: skip
def test_a_conversion_that_fails_is_one_sentence_and_leaves_nothing(
    original, tmp_path, monkeypatch, end, said
):
    before = _names(original)
    _child(monkeypatch, tmp_path, _HALF + end + "\n")
    with pytest.raises(ModelError, match=said):
        ready_folder(original, "int8")
    assert _nothing_half_written(original, before)


def test_the_rest_of_a_conversion_that_was_killed_with_its_program_is_removed(
    original, tmp_path, monkeypatch
):
    left = original / ".ctranslate2-int8.new"
    left.mkdir()
    (left / "model.bin").write_bytes(b"half")
    _child(monkeypatch, tmp_path, _HALF.replace("b'half'", "b'new'"))
    with pytest.raises(ModelError):
        ready_folder(original, "int8")
    assert not left.exists()


def test_a_disk_without_room_is_said_before_anything_is_done(original, monkeypatch):
    usage = shutil.disk_usage(original)
    monkeypatch.setattr(conversion.shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(
        ModelError, match=r"are needed in .* and 1.0 kB are free; make room"
    ) as refused:
        ready_folder(original, "int8")
    values = refused.value.message.values
    assert all(isinstance(values[name], ByteCount) for name in ("size", "free"))


_LIGHT = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
from app.__main__ import main
sys.exit(main(["translate", "--model", sys.argv[1], sys.argv[2]]))
"""


@pytest.mark.slow
def test_a_program_without_torch_converts_and_translates(originals, tmp_path):
    folder = shutil.copytree(originals["m2m100"], tmp_path / "m2m100")
    (tmp_path / "text").write_text("the old house is green\n")
    done = ran(sys.executable, "-c", _LIGHT, folder, tmp_path / "text")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert (folder / "ctranslate2-int8" / "model.bin").exists()


def test_a_licence_that_forbids_commerce_is_asked_once(converted, tmp_path):
    folder = make_encoder_decoder(tmp_path / "mine", "marian", licence="cc-by-nc-4.0")
    settings = ModelSettings(directory=folder, device="cpu")
    with pytest.raises(ModelError, match=r"licensed under cc-by-nc-4.0, which forbids") as caught:
        load_weights(settings)
    assert caught.value.message.code is Code.LICENCE_FORBIDS_COMMERCE
    assert not (folder / "ctranslate2-int8").exists()
    done = shutil.copytree(converted["marian"] / "ctranslate2-float16", tmp_path / "done")
    record = done / "encoder-decoder.json"
    record.write_text(record.read_text().replace("apache-2.0", "cc-by-nc-4.0"))
    with pytest.raises(ModelError, match="forbids commercial use"):
        ready_folder(done, "int8")
    assert ready_folder(done, "int8", accepts_licence=True) == done
    assert ready_folder(done, "int8") == done
    assert read_record(done).is_accepted


@pytest.mark.skipif(os.name != "posix", reason="Windows has no lock of a folder")
def test_who_waited_takes_what_the_other_process_made(converted, original, monkeypatch):
    monkeypatch.setattr(conversion, "_run", None)  # nothing is converted here
    other = contextlib.ExitStack()
    assert other.enter_context(held(original, lambda: True))

    def ends():
        shutil.copytree(converted["marian"] / "ctranslate2-float16", original / "ctranslate2-int8")
        other.close()
        return False

    assert ready_folder(original, "int8", cancelled=ends) == original / "ctranslate2-int8"
