import json
from pathlib import Path

import pytest

from app.__main__ import main
from engine.hub.catalogue import KNOWN_MODELS, SPEECH_MODELS, bundled_models
from engine.runtime.processor import Machine


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr("engine.speech.speed._PAUSE_S", 0.0)


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_a_program_is_told_what_the_computer_has_and_what_fits(capsys):
    assert main(["--device", "cpu", "check", "--json"]) == 0
    machine, *bundled = lines(capsys)
    models = bundled_models()
    recognisers, computing, *others = bundled[len(models) :]
    bundled = bundled[: len(models)]
    fits = [line for line in others if line["kind"] == "fit"]
    kinds = [line["kind"] for line in (machine, *bundled, recognisers, computing)]
    assert kinds == ["machine", *["bundled"] * len(models), "recognisers", "computing"]
    assert computing["gflops"] > 0
    assert [one["model"] for one in bundled] == [folder.name for folder in models]
    assert all(one["languages"] for one in bundled)
    assert {*recognisers["found"]} <= {*SPEECH_MODELS}
    assert machine["cores"] >= 1
    assert 0 < machine["free_bytes"] <= machine["memory_bytes"]
    assert [fit["model"] for fit in fits] == [model.name for model in KNOWN_MODELS]
    assert all(fit["device"] == "cpu" and fit["needed_bytes"] > 0 for fit in fits)


def test_without_torch_the_known_models_are_said_to_need_it(capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert main(["check", "--json"]) == 0
    machine, *others = lines(capsys)
    fits = [line for line in others if line["kind"] == "fit"]
    assert (machine["gpu"], machine["trouble"]) == ("", "")
    assert not any(fit["fits"] for fit in fits)
    assert {fit["words"] for fit in fits} == {
        "needs torch and transformers: pip install 'surtitle[torch]'"
    }


@pytest.mark.parametrize(
    ("found", "words"),
    [([], "none yet; surtitle listen downloads base.en"), (["tiny.en", "small"], "tiny.en, small")],
)
def test_a_person_is_told_fact_by_fact_what_is_here(capsys, monkeypatch, found, words):
    def found_whisper(name, _library):
        return Path(name) if name in found else None

    machine = Machine(processor="P\x1b[2J", cores=2, memory_bytes=2 * 10**9, free_bytes=10**9)
    monkeypatch.setattr("engine.runtime.processor.look_around", lambda: machine)
    monkeypatch.setattr("engine.speech.speech_models.found_speech_model", found_whisper)
    monkeypatch.setattr("app.cli.check.KNOWN_MODELS", ())
    monkeypatch.setattr("app.cli.check.known_offers", list)
    monkeypatch.setattr("app.cli.check.bundled_models", lambda: bundled_models()[:1])
    assert main(["check"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    first, memory, card, translator, recogniser = said.out.splitlines()
    assert first.startswith("Processor: P")
    assert "\x1b" not in first
    assert (memory, card) == (
        "Memory: 1.0 GB of 2.0 GB free",
        "Graphics card: none that torch can use",
    )
    assert translator.startswith("Translator: surtitle-")
    assert translator.endswith(", English (en) to German (de), comes with Surtitle")
    assert recogniser == f"Speech recogniser: {words}"


def translators(capsys, monkeypatch, *arguments, gflops=100.0):
    """The lines about translators that can be downloaded."""
    monkeypatch.setattr("engine.speech.speed.computer_gflops", lambda: gflops)
    monkeypatch.setattr("app.cli.check.KNOWN_MODELS", ())
    assert main(["check", *arguments]) == 0
    said = capsys.readouterr().out.splitlines()
    return [line for line in said if "to download" in line]


def test_the_translators_that_the_window_offers_are_listed_with_their_speed_here(
    capsys, monkeypatch
):
    listed = translators(capsys, monkeypatch)
    pair = "Helsinki-NLP/opus-mt-en-fr, English (en) to French (fr)"
    assert f"Translator: {pair}, 301 MB to download, keeps up here" in listed
    (large,) = [line for line in listed if "m2m100_418M" in line]
    assert "English (en) to 23 languages" in large
    assert large.endswith("too slow here")
    assert not any("German (de) to" in line for line in listed)


def test_a_chat_model_that_fits_is_not_called_fast(capsys, monkeypatch):
    monkeypatch.setattr("engine.speech.speed.computer_gflops", lambda: 100.0)
    assert main(["check"]) == 0
    fits = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Chat model")]
    assert fits
    assert all("speed not known" in line for line in fits if " fits " in line)


def test_for_two_languages_it_lists_what_translates_between_them_the_best_first(
    capsys, monkeypatch
):
    for target, best in (
        ("en", "Helsinki-NLP/opus-mt-de-en, German (de) to English (en), "),
        ("pl", "facebook/m2m100_418M, German (de) to 23 languages, "),
    ):
        languages = ("--from", "de", "--to", target)
        first, *_ = translators(capsys, monkeypatch, *languages, gflops=1e5)
        assert first.startswith(f"Translator: {best}")
