import json
import wave

import pytest

from app.__main__ import main
from tests.spoken import TINY, needs_tiny, raw, talk


@pytest.fixture
def files(tmp_path):
    source, reference = tmp_path / "talk.en", tmp_path / "talk.de"
    source.write_text("Good morning.\nThank you.\n", encoding="utf-8")
    reference.write_text("Guten Morgen.\nDanke.\n", encoding="utf-8")
    return source, reference


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_the_bundled_model_is_scored_on_a_file(files, capsys):
    assert main(["score", *map(str, files), "--json"]) == 0
    stage, one, two, score = lines(capsys)
    assert stage == {"kind": "stage", "stage": "loading"}
    assert (one["n"], two["n"], two["of"]) == (1, 2, 2)
    assert score["kind"] == "score"
    assert score["n_lines"] == 2
    assert 0 <= score["bleu"] <= 100
    assert 0 < score["laal"] <= 2.5
    assert main(["score", *map(str, files)]) == 0
    assert "bleu: " in capsys.readouterr().out


def test_files_that_do_not_belong_together_are_one_sentence(files, capsys):
    files[1].write_text("Guten Morgen.\n", encoding="utf-8")
    assert main(["score", *map(str, files)]) == 1
    assert "talk.en has 2 lines and talk.de has 1" in capsys.readouterr().err
    assert main(["score", *map(str, files), "--json"]) == 0
    assert lines(capsys)[0]["kind"] == "failed"


def test_a_file_that_is_not_there_is_one_sentence(files, tmp_path, capsys):
    assert main(["score", str(tmp_path / "none"), str(files[1])]) == 1
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.slow
@needs_tiny()
def test_a_recording_of_the_source_is_recognised_and_scored(tmp_path, capsys):
    spoken = talk(3, 3)
    source, reference, sound = (tmp_path / name for name in ("a.en", "a.de", "a.wav"))
    text = " ".join(word.text for utterance in [spoken] for word in utterance.words)
    source.write_text(f"{text}\n", encoding="utf-8")
    reference.write_text(f"{text}\n", encoding="utf-8")
    with wave.open(str(sound), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(raw(spoken.samples))
    asked = ["score", str(source), str(reference), "--sound", str(sound), "--asr", str(TINY)]
    assert main([*asked, "--json"]) == 0
    last = lines(capsys)[-1]
    assert last["kind"] == "wer"
    assert 0 <= last["wer"] < 0.3


def test_a_recogniser_that_is_not_here_is_one_sentence(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("app.score_command.score_file", lambda *_: None)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    asked = ["score", *map(str, files), "--sound", "talk.wav", "--asr", "some/recogniser"]
    assert main(asked) == 1
    assert "some/recogniser is not on this computer" in capsys.readouterr().err
