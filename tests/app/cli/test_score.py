import json
import wave
from dataclasses import replace

import pytest

from app.__main__ import main
from app.cli.score import score_file, score_translations
from app.config.system.text_io import TextError
from engine.metrics.replay import replay
from tests.support.listening_fakes import Loudness, Script, script, sound_of
from tests.support.spoken import TINY_STREAMING, needs_sherpa, needs_voice, raw, talk


@pytest.fixture
def files(tmp_path):
    source, reference = tmp_path / "talk.en", tmp_path / "talk.de"
    source.write_text("Good morning.\nThank you.\n", encoding="utf-8")
    reference.write_text("Guten Morgen.\nDanke.\n", encoding="utf-8")
    return source, reference


def translated(hypothesis, n_words, *, delay):
    """A line whose caption came at one word, in 100 ms of computing."""
    rows = [{"event": "session", "language": "de", "at_s": 0.0}]
    rows += [{"event": "line", "index": 0, "words": ["x"] * n_words, "at_s": 0.0}]
    for n in range(1, n_words + 1):
        rows.append({"event": "arrived", "n_words": n, "ended": n == n_words, "at_s": 0.02 * n})
        if n == delay and hypothesis:
            rows.append(
                {"event": "committed", "utterance": 1, "text": hypothesis, "at_s": 0.02 * n}
            )
    rows += [{"event": "line_ended", "index": 0, "at_s": 0.02 * (n_words + 1)}]
    return next(replay(rows))


def test_a_perfect_translation_that_waits_for_all_has_bleu_100_and_lags_by_the_line():
    words = "eins zwei drei vier fünf"
    found = score_translations([translated(words, 5, delay=5)], [words], "de")
    assert (round(found.bleu), found.laal, found.al) == (100, 5, 5)
    assert found.ms_per_word == pytest.approx(20)
    assert "nrefs:1" in found.signature


def test_lines_without_a_caption_are_counted_and_left_out_of_the_lagging():
    lines = [translated("a", 1, delay=1), translated("", 3, delay=1)]
    found = score_translations(lines, ["a", "b"], "de")
    assert (found.n_lines, found.n_empty, found.laal) == (2, 1, 1)


def test_nothing_cannot_be_scored():
    with pytest.raises(TextError, match="nothing to score"):
        score_file(None, [], print)


def write_wav(path, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(raw(samples))


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
    told = capsys.readouterr().out
    assert "\nAverage lagging (AL): " in told
    assert " ms a word\n" in told


def test_files_that_do_not_belong_together_are_one_sentence(files, capsys):
    files[1].write_text("Guten Morgen.\n", encoding="utf-8")
    assert main(["score", *map(str, files)]) == 1
    assert "the number of lines, 2 and 1" in capsys.readouterr().err
    assert main(["score", *map(str, files), "--json"]) == 0
    assert lines(capsys)[0]["kind"] == "failed"


def test_a_file_that_is_not_there_is_one_sentence(files, tmp_path, capsys):
    assert main(["score", str(tmp_path / "none"), str(files[1])]) == 1
    told = capsys.readouterr().err
    assert "cannot be read" in told
    assert "(No such file or directory)" in told


def test_a_recording_of_the_source_is_recognised_and_scored(tmp_path, capsys, monkeypatch):
    """By a recogniser that knows when each word is said, and hears one of ten as another."""
    text = "good morning to you all and thank you for coming"
    words = script(text, start_s=0.2)
    source, reference, sound = (tmp_path / name for name in ("a.en", "a.de", "a.wav"))
    for path in (source, reference):
        path.write_text(f"{text}\n", encoding="utf-8")
    write_wav(sound, sound_of(words, 5.0))
    heard = [replace(word, text="gold") if word.text == "good" else word for word in words]
    monkeypatch.setattr("engine.speech.whisper.Whisper", lambda _settings: Script(heard))
    monkeypatch.setattr("engine.speech.vad.SileroDetector", Loudness)
    monkeypatch.setattr("engine.speech.speech_models.found_speech_model", lambda *_: tmp_path)
    asked = ["score", str(source), str(reference), "--sound", str(sound)]
    assert main([*asked, "--json"]) == 0
    found = lines(capsys)
    stages = [row["stage"] for row in found if row["kind"] == "stage"]
    assert stages == ["loading", "recognising"]
    assert found[-1]["kind"] == "wer"
    assert found[-1]["wer"] == pytest.approx(0.1)


@needs_sherpa
@needs_voice
@pytest.mark.slow
def test_a_folder_of_a_streaming_model_recognises_a_recording_as_well(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("app.cli.score.score_file", lambda *_: None)
    spoken = talk(701, 2)
    source, sound = tmp_path / "a.en", tmp_path / "a.wav"
    source.write_text(f"{spoken.text}\n", encoding="utf-8")
    write_wav(sound, spoken.samples)
    asked = ["score", str(source), str(source), "--sound", str(sound)]
    assert main([*asked, "--asr", str(TINY_STREAMING), "--json"]) == 0
    assert lines(capsys)[-1]["wer"] <= 0.1


def test_a_recogniser_that_is_not_here_is_one_sentence(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("app.cli.score.score_file", lambda *_: None)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    asked = ["score", *map(str, files), "--sound", "talk.wav", "--asr", "some/recogniser"]
    assert main(asked) == 1
    assert "some/recogniser is not on this computer" in capsys.readouterr().err
