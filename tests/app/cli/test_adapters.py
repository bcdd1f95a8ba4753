"""``surtitle adapters``: what it says, and that it needs neither Qt nor torch."""

import hashlib
import json
import sys

import pytest

from app.__main__ import main
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import Language
from tests.support.adapter_folders import tiny_card, write_adapter
from tests.support.programs.run import ran

CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 384,
}


@pytest.fixture
def model(tmp_path):
    """What is read of a model."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text("{}")
    return folder


@pytest.fixture
def source(model, tmp_path):
    base = read_fingerprint(model)
    return write_adapter(tmp_path / "tiny-en-de", base, card=tiny_card(base))


@pytest.fixture
def adapters(tmp_path, monkeypatch, capsysbinary):
    """Run the command; give its exit code and what it said."""
    monkeypatch.setenv("SURTITLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("app.cli.adapters.bundled_adapters", list)

    def run(*arguments):
        exit_code = main(["adapters", *map(str, arguments)])
        out, err = capsysbinary.readouterr()
        return exit_code, out.decode(), err.decode()

    return run


def test_adapters_are_added_listed_and_removed(adapters, source, model):
    assert adapters("list", "--model", model) == (
        0, "no adapters: surtitle adapters add DIR adds one\n", "",
    )  # fmt: skip
    exit_code, out, err = adapters("add", source)
    assert (exit_code, err) == (0, "")
    assert out == "added tiny-en-de: surtitle translate --adapter tiny-en-de\n"
    exit_code, out, err = adapters("list", "--model", model)
    assert (exit_code, err) == (0, "")
    assert out.splitlines() == [
        "name        status  to  slot  policies  size",
        "tiny-en-de  ok      de  16    read:3    4.6 kB",
    ]
    assert adapters("remove", "tiny-en-de") == (0, "removed tiny-en-de\n", "")
    assert "no adapters" in adapters("list", "--model", model)[1]


def test_an_adapter_for_any_of_the_bundled_models_is_fine(adapters, model, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text(json.dumps({**CONFIG, "hidden_size": 32}))
    (other / "tokenizer.json").write_text("[]")
    base = read_fingerprint(model)
    folder = write_adapter(tmp_path / "tiny-en-de", base, card=tiny_card(base))
    monkeypatch.setattr("app.cli.adapters.bundled_models", lambda: [other, model])
    adapters("add", folder)
    assert "tiny-en-de  ok " in adapters("list")[1]
    assert "tiny-en-de  blocked " in adapters("list", "--model", other)[1]
    assert adapters("inspect", folder)[0] == 0


def test_the_list_says_why_an_adapter_cannot_be_used(adapters, source, model):
    adapters("add", source)
    (model / "config.json").write_text(json.dumps(CONFIG | {"num_hidden_layers": 3}))
    exit_code, out, _ = adapters("list", "--model", model)
    assert exit_code == 0
    assert out.splitlines()[1].split()[:2] == ["tiny-en-de", "blocked"]
    assert out.splitlines()[2].strip().endswith("(detail: layers 2 there and 3 here)")


def test_many_policies_and_languages_are_counted(adapters, model, tmp_path):
    base = read_fingerprint(model)
    policies = tuple(f"read:{n}" for n in range(1, 8))
    languages = dict.fromkeys(["de", "fr", "nl", "it", "ro"], Language(name="x", system="y"))
    card = tiny_card(base, policies=policies, languages=languages)
    adapters("add", write_adapter(tmp_path / "x", base, card=card))
    listed = adapters("list", "--model", model)[1]
    assert "read:1, read:2, read:3, read:4 and 3 more" in listed
    assert "de, fr, nl, it and 1 more" in listed


def test_an_adapter_is_inspected_by_folder_and_by_name(adapters, source, model):
    exit_code, out, err = adapters("inspect", source, "--model", model)
    assert (exit_code, err) == (0, "")
    told = dict(line.split(maxsplit=1) for line in out.splitlines() if "'" not in line[:6])
    assert (told["status"], told["languages"]) == ("ok", "en to de")
    weights = (source / "adapter_model.safetensors").read_bytes()
    assert told["sha256"] == hashlib.sha256(weights).hexdigest()
    adapters("add", source)
    exit_code, out, err = adapters("inspect", "tiny-en-de", "--model", model)
    assert (exit_code, err) == (0, "")
    assert out.splitlines()[1].split() == ["status", "ok"]


def test_a_blocked_adapter_is_described_and_fails(adapters, source, model):
    path = source / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    exit_code, out, err = adapters("inspect", source, "--model", model)
    assert exit_code == 1
    assert out.splitlines()[1].split() == ["status", "blocked"]
    assert err.startswith(f"surtitle adapters: the adapter in {source} cannot be used: it ")
    assert err.count("\n") == 1


def test_a_stranger_is_added_but_not_silently(adapters, model, tmp_path):
    stranger = write_adapter(tmp_path / "stranger", read_fingerprint(model), card=False)
    exit_code, out, err = adapters("add", stranger)
    assert (exit_code, out.split(":")[0]) == (0, "added stranger")
    assert "the adapter stranger was added, but it has no surtitle.json" in err
    exit_code, out, err = adapters("list", "--model", model)
    assert out.splitlines()[1].split() == ["stranger", "unknown", *"–––", "4.6", "kB"]
    assert adapters("add", stranger, "--name", "again", "--replace")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["add", "nowhere"], "its folder cannot be read"),
        (["remove", "nowhere"], "there is no adapter 'nowhere'"),
        (["remove", "../model"], "cannot be called '../model'"),
        (["inspect", "nowhere"], "there is no adapter 'nowhere'"),
        (["inspect", "x" * 5000], "there is no adapter"),
        (
            ["list", "--model", "nowhere"],
            "the model in nowhere cannot be loaded: it has no config.json",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(adapters, arguments, sentence):
    exit_code, out, err = adapters(*arguments)
    assert (exit_code, out) == (1, "")
    assert err.startswith("surtitle adapters: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_nothing_on_a_card_can_steer_the_terminal(adapters, model, tmp_path):
    base = read_fingerprint(model)
    card = tiny_card(base, description="\x1b[2J\r\nstatus  ok", licence="\x9b2J")
    exit_code, out, _ = adapters(
        "inspect", write_adapter(tmp_path / "x", base, card=card), "--model", model
    )
    assert exit_code == 0
    assert all(line.isprintable() for line in out.splitlines())
    assert out.count("\nstatus") == 1


def test_neither_qt_nor_torch_is_imported_and_any_locale_will_do(source, model, tmp_path):
    code = """
import sys
from app.__main__ import main
code = main(sys.argv[1:])
heavy = [name for name in ("torch", "transformers", "PySide6", "numpy") if name in sys.modules]
sys.exit(code or len(heavy))"""
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    plain["SURTITLE_HOME"] = str(tmp_path)
    command = [sys.executable, "-c", code, "adapters", "inspect", source, "--model", model]
    done = ran(*command, text=False, surroundings=plain)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "–".encode() in done.stdout
