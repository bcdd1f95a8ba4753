"""Encoder-decoder models in the terminal: converted once, live, faults in one sentence."""

import io
import shutil
import sys
from dataclasses import replace

import pytest

from app.__main__ import main
from engine.commands import Configure
from engine.events import Notice, Ready
from engine.messages import Code
from engine.models.encoder_decoder.record import read_record
from engine.runtime.ctranslate2 import conversion
from engine.settings import ModelSettings, TranslationSettings
from engine.untrusted.safe_names import folder_of
from tests.engine.runtime.ctranslate2.tiny_models import make_encoder_decoder
from tests.support.sessions import running

TEXT = "the old house is green and we go to see the books in Rome"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A Marian from English and an M2M-100, both converted."""
    home = tmp_path_factory.mktemp("models")
    folders = {
        family: make_encoder_decoder(home / family, family) for family in ("marian", "m2m100")
    }
    for folder in folders.values():
        conversion.ready_folder(folder, "int8")
    return folders


@pytest.fixture
def original(models, tmp_path):
    """The Marian before its conversion."""
    folder = shutil.copytree(models["marian"], tmp_path / "marian")
    shutil.rmtree(folder / "ctranslate2-int8")
    return folder


@pytest.fixture
def surtitle(monkeypatch, capsysbinary):
    """Run a command in this process; return its exit code, its output and its messages."""

    def run(*arguments, stdin=""):
        stream = io.TextIOWrapper(io.BytesIO(stdin.encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        exit_code = main([*map(str, arguments)])
        out, err = capsysbinary.readouterr()
        return exit_code, out.decode(), err.decode()

    return run


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fails(ran, exit_code, *parts):
    """Check that it wrote no caption, and one sentence that says all of this."""
    code, out, err = ran
    assert (code, out) == (exit_code, "")
    sentence = err.rsplit("\n", 2)[-2]
    assert "Traceback" not in err
    assert [line for line in err.split("\n") if line.startswith("surtitle ")] == [sentence]
    for part in parts:
        assert part in sentence


def test_a_text_in_another_script_is_translated_from_its_language(models, surtitle):
    russian = "Привет, мир"
    folder = models["m2m100"]
    code, out, err = surtitle("translate", "--model", folder, "--from", "pl", stdin=russian)
    assert (code, err) == (0, "")
    assert out.strip() != russian
    code, out, err = surtitle("translate", "--model", folder, stdin=russian)
    assert (code, out.strip()) == (0, russian)
    assert "does not look like English" in err


@pytest.fixture
def from_japanese(models, tmp_path):
    """The M2M-100, which takes the token of Polish for Japanese."""
    folder = shutil.copytree(models["m2m100"], tmp_path / "m2m100")
    record = read_record(folder / "ctranslate2-int8")
    sources = {**record.sources, "ja": record.sources["pl"]}
    replace(record, sources=sources).save(folder / "ctranslate2-int8")
    return folder


def test_a_source_without_blanks_is_translated_with_a_warning(from_japanese, surtitle):
    code, out, err = surtitle("translate", "--model", from_japanese, "--from", "ja", stdin="今日は")
    assert (code, bool(out.strip())) == (0, True)
    assert err.count("without blanks between words, which was not tried") == err.count("\n") == 1


def test_a_session_says_once_that_its_source_has_no_blanks(from_japanese):
    settings = ModelSettings(directory=from_japanese, device="cpu")
    japanese = TranslationSettings(source_language="ja", policy="stable:2")
    with running(settings, translation=japanese) as (session, listener):
        assert listener.wait_for(Notice).message.code is Code.SOURCE_UNSPACED
        session.send(Configure(replace(japanese, target_language="fr")))
        session.send(Configure(replace(japanese, source_language="pl")))
        session.send(Configure(japanese))
        assert listener.wait_for(Notice).message.code is Code.SOURCE_UNSPACED
        assert len(listener.all_of(Notice)) == 2
        assert listener.all_of(Ready)[0].makes_drafts


def test_a_folder_is_converted_once_and_keeps_its_original(original, surtitle):
    _not_commercial(original, None)
    code, out, err = surtitle("convert", original, "--accept-licence")
    assert code == 0
    assert out.startswith("marian: ")
    assert "Converting marian for this computer, once: 100%" in err
    assert (original / "model.safetensors").exists()
    assert surtitle("translate", "--model", original, stdin="the house")[0] == 0
    assert surtitle("convert", original)[2] == ""  # nothing is left to do, and nothing is asked


@pytest.mark.parametrize("command", [("convert",), ("translate", "--model")])
def test_a_download_loses_its_original(original, surtitle, command, tmp_path, monkeypatch):
    monkeypatch.setenv("SURTITLE_HOME", str(tmp_path / "home"))
    name = "Helsinki-NLP/opus-mt-en-de"
    folder = tmp_path / "home" / "models" / folder_of(name)
    shutil.copytree(original, folder)
    assert surtitle(*command, name, stdin="the house")[0] == 0
    assert not (folder / "model.safetensors").exists()
    assert (folder / "ctranslate2-int8" / "model.bin").exists()


def test_what_is_no_such_model_is_not_converted(original, surtitle):
    (original / "config.json").write_text('{"model_type": "llama"}')
    fails(surtitle("convert", original), 1, "no model here that can be conv")


def _killed(folder, monkeypatch):
    """Let the converter be killed while it writes."""
    child = folder.parent / "child.py"
    child.write_text(
        "import os, pathlib, signal, sys\n"
        "out = pathlib.Path(sys.argv[2])\n"
        "out.mkdir()\n"
        "(out / 'model.bin').write_bytes(b'half')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    monkeypatch.setattr(conversion.conversion_child, "__file__", str(child))


def _full(_folder, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(conversion.shutil, "disk_usage", lambda _: usage._replace(free=1000))


def _without_tokenizer(folder, _monkeypatch):
    (folder / "source.spm").unlink()


def _not_commercial(folder, _monkeypatch):
    (folder / "README.md").write_text("---\nlicense: cc-by-nc-4.0\n---\n")


@pytest.mark.parametrize("command", ["translate", "convert"])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (_killed, "its process was ended (SIGKILL)"),
        (_full, "1.0 kB are free; make room there"),
        (_without_tokenizer, "it has no source.spm; get it again"),
        (_not_commercial, "under cc-by-nc-4.0, which forbids commercial use: accept that once"),
    ],
)
def test_a_fault_of_the_conversion_is_one_sentence_and_nothing_is_half_written(
    original, surtitle, monkeypatch, command, fault, said
):
    fault(original, monkeypatch)
    before = names(original)
    named = [original] if command == "convert" else ["--model", original]
    fails(surtitle(command, *named, stdin=TEXT), 1, said)
    assert names(original) == before


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("--from", "en", "--to", "fr"), "translates to de, not to 'fr'"),
        (("--from", "pl", "--to", "de"), "translates from en, not from 'pl'"),
        (("--from", "de", "--to", "de"), "translates from en, not from 'de'"),
    ],
)
def test_a_pair_that_a_model_does_not_know_is_one_sentence_before_it_is_converted(
    original, surtitle, pair, said
):
    before = names(original)
    fails(surtitle("translate", "--model", original, *pair, stdin=TEXT), 2, said)
    assert names(original) == before
