"""Moonshine hears people, again and again while they speak, and nothing where nobody does."""

import shutil

import numpy as np
import pytest

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError
from engine.hub.catalogue import bundled_speech_model
from engine.speech.moonshine import Moonshine, word_times
from engine.speech.speech_models import (
    found_speech_model,
    load_speech_model,
    make_recognizer,
    speech_model_folder,
)
from engine.speech.vad import SileroDetector
from tests.engine.speech.recordings import samples_of
from tests.support.sounds import music, silence, white_noise
from tests.support.spoken import word_error_rate

pytest.importorskip("sherpa_onnx")
FOLDER = bundled_speech_model()
needs_moonshine = pytest.mark.skipif(FOLDER is None, reason="needs the package moonshine-voice")

READ = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age "
    "of foolishness, it was the epoch of belief, it was the epoch of incredulity,"
)
READ_S = 13.1
"""So long the beginning of the recording in that package takes, of A Tale of Two Cities."""


@pytest.fixture(scope="module")
def moonshine():
    return load_speech_model(FOLDER, "cpu", "en")


@pytest.fixture(scope="module")
def read():
    return samples_of(FOLDER.parent / "two_cities.wav")[: round(READ_S * SAMPLE_RATE_HZ)]


def heard(model, samples):
    """What is committed of sound that comes bit by bit."""
    recognizer = make_recognizer(model, SileroDetector())
    results = []
    for at in range(0, len(samples), 1600):
        chunk = AudioChunk(samples=samples[at : at + 1600], start_s=at / SAMPLE_RATE_HZ)
        results += recognizer.feed(chunk)
    results += recognizer.flush()
    return [word for result in results for word in result.committed]


@needs_moonshine
def test_it_hears_a_reader_as_a_whole_and_while_he_reads(moonshine, read):
    """Some words are misheard, on other processors perhaps others; doubled ones would be more."""
    whole = moonshine.recognize(read, 5.0, "", whole=True)
    assert word_error_rate(" ".join(word.text for word in whole.words), READ) < 0.1
    words = heard(moonshine, np.concatenate([read, silence(1.0)]))
    assert word_error_rate(" ".join(word.text for word in words), READ) < 0.15
    for first_s, found in ((5.0, whole.words), (0.0, words)):
        times = [at_s for word in found for at_s in (word.start_s, word.end_s)]
        assert times == sorted(times)
        assert first_s + 1.0 < times[0] < first_s + 2.0, "he takes breath before"
        assert first_s + 12.0 < times[-1] < first_s + 13.1


@needs_moonshine
@pytest.mark.parametrize("sound", [silence, white_noise, music])
def test_it_hears_nothing_where_nobody_speaks(moonshine, sound):
    assert heard(moonshine, sound(20)) == []


@needs_moonshine
def test_it_hears_nothing_in_less_sound_than_a_word_takes(moonshine, read, capfd):
    for n_samples in (0, 1, 160, 1599):
        assert moonshine.recognize(read[8000 : 8000 + n_samples], 1.0, "").words == ()
    assert capfd.readouterr() == ("", ""), "the library has nothing to complain of"


@needs_moonshine
def test_it_is_found_by_its_name_and_in_a_folder_and_needs_no_library(tmp_path):
    assert speech_model_folder("moonshine.en", tmp_path / "none") == FOLDER
    assert found_speech_model("moonshine.en", tmp_path / "none") == FOLDER
    assert found_speech_model(str(FOLDER), tmp_path / "none") == FOLDER


@needs_moonshine
@pytest.mark.parametrize("name", ["encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin"])
def test_other_files_than_those_known_are_never_run(tmp_path, name):
    shutil.copytree(FOLDER, tmp_path / "model")
    with (tmp_path / "model" / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(ModelError, match=f"{name} is not that of Moonshine tiny"):
        Moonshine(tmp_path / "model")


def test_without_the_package_its_name_leads_to_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr("engine.hub.catalogue.find_spec", lambda _name: None)
    assert found_speech_model("moonshine.en", tmp_path) is None
    with pytest.raises(ModelError, match="comes with the program and is not installed"):
        speech_model_folder("moonshine.en", tmp_path)


def tone(*parts):
    """Loud and quiet by turns, for so many seconds each."""
    sounds = [np.full(round(s * SAMPLE_RATE_HZ), 0.5 * (at % 2), np.float32) for at, s in parts]
    return np.concatenate(sounds)


def test_words_stand_where_it_is_loud_and_marks_where_it_pauses():
    samples = tone((0, 0.5), (1, 0.8), (0, 0.4), (1, 1.2), (0, 0.3))
    times, quiet_s = word_times(["One", "two.", "Three", "four", "five."], samples)
    assert quiet_s == pytest.approx(0.3, abs=0.03)
    starts, ends = zip(*times, strict=True)
    assert starts == pytest.approx([0.5, 0.86, 1.7, 2.1, 2.43], abs=0.1)
    assert ends == pytest.approx([0.86, 1.3, 2.1, 2.43, 2.9], abs=0.1)


def test_a_stretch_too_short_for_a_word_gets_none():
    samples = tone((1, 0.1), (0, 0.5), (1, 2.0))
    times, _ = word_times(["Four", "words", "are", "here"], samples)
    assert times[0][0] == pytest.approx(0.6, abs=0.03)


def test_a_mark_counts_once_so_that_a_drawled_word_gets_the_stretch_behind_its_pause():
    samples = tone((0, 0.3), (1, 0.36), (0, 0.36), (1, 0.2), (0, 0.5))
    times, _ = word_times(["ask", "not."], samples)
    assert times == [pytest.approx((0.3, 0.66), abs=0.03), pytest.approx((1.02, 1.22), abs=0.03)]


def test_words_of_silence_are_spread_over_it():
    times, _ = word_times(["You", "too"], silence(1.0))
    assert times == [(0.0, 0.5), (0.5, 1.0)]
    assert word_times(["Oh"], silence(0.001))[0][0][0] == 0.0
