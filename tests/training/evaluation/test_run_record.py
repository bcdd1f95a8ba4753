from dataclasses import replace
from pathlib import Path

import pytest

from engine.settings import ModelSettings, TranslationSettings
from training.errors import TrainingError, UsageError
from training.evaluation.runs import (
    FILE_NAME,
    RunRecord,
    RunSettings,
    fingerprint,
    read_record,
)

RECORD = RunRecord(
    system="slots",
    language="de",
    model="mine",
    model_sha256="m" * 64,
    adapter_sha256=None,
    slot_length=16,
    source_sha256="s" * 64,
    reference_sha256="r" * 64,
)


def test_a_folder_keeps_to_the_run_that_claimed_it(tmp_path):
    RECORD.claim(tmp_path)
    assert read_record(tmp_path) == RECORD
    RECORD.claim(tmp_path)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"language": "fr"}, r"another language \(de, not fr\)"),
        ({"slot_length": 8}, r"another slot length \(16, not 8\)"),
        ({"adapter_sha256": "a" * 64}, "another adapter: choose another --out"),
        ({"model_sha256": "n" * 64}, "another model: choose"),
        ({"source_sha256": "t" * 64}, "another source: choose"),
        ({"batch": 4}, r"another batch \(1, not 4\)"),
        ({"quantise": "nf4"}, r"another quantise \(none, not nf4\)"),
        ({"cut_loops": True}, "another cut loops"),
    ],
)
def test_a_run_that_differs_in_what_decides_translations_is_refused(tmp_path, changed, told):
    RECORD.claim(tmp_path)
    with pytest.raises(UsageError, match=told):
        replace(RECORD, **changed).claim(tmp_path)
    assert read_record(tmp_path) == RECORD


@pytest.mark.parametrize("content", ["", "[]", '{"system": "slots"}', "\udcff"])
def test_a_record_that_is_garbled_or_not_there_is_a_sentence(tmp_path, content):
    with pytest.raises(TrainingError, match="holds no run"):
        read_record(tmp_path)
    (tmp_path / FILE_NAME).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(TrainingError, match="cannot be read"):
        read_record(tmp_path)


def test_weights_and_json_and_their_names_decide_and_other_files_do_not(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "tokenizer.json").write_text("{}")
    seen = [fingerprint(tmp_path)]
    for other in ("README.md", "old.bin", "old.model"):
        (tmp_path / other).write_text("something")
    assert fingerprint(tmp_path) == seen[0]
    (tmp_path / "tokenizer.json").write_text('{"a": 1}')
    seen.append(fingerprint(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    seen.append(fingerprint(tmp_path))
    (tmp_path / "tokenizer.json").rename(tmp_path / "config.json")
    seen.append(fingerprint(tmp_path))
    assert len(set(seen)) == 4


def settings(**given):
    model = ModelSettings(directory=Path("model"))
    translation = TranslationSettings(target_language="de")
    files = {"source": Path("a"), "reference": Path("b"), "out": Path("out")}
    return RunSettings(
        **files, model=model, translation=translation, **{"policies": ("read:3",)} | given
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"policies": ()}, "at least one policy is needed"),
        ({"policies": ("read:3", "sometimes")}, "sometimes"),
        ({"limit": 0}, "--limit"),
        ({"n_workers": 0}, "--workers"),
        ({"batch": 0}, "--batch"),
    ],
)
def test_settings_that_cannot_be_are_refused_where_they_are_made(given, told):
    with pytest.raises(ValueError, match=told):
        settings(**given)
    assert settings(limit=1, n_workers=1, batch=1).limit == 1
