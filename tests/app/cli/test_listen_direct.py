"""``surtitle listen --direct``: sound, encoder, session and captions as they are."""

import wave

import numpy as np
import pytest
import torch

from app.__main__ import main
from app.config.text_io import printable
from engine.audio.chunks import AudioChunk
from engine.settings import TranslationSettings
from engine.speech.speech_models import load_direct_model, make_recognizer
from engine.translation.feed import changes
from engine.translation.spoken import SpokenTranslator
from tests.support.direct.encoders import save_speech_encoder, tiny_encoder
from tests.support.fakes import save_tiny_model, tiny_weights
from tests.support.listening_fakes import Loudness
from tests.support.sounds import write_sound


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("direct"))
    save_speech_encoder(folder, tiny_encoder(torch.float32))
    return folder


@pytest.fixture
def talk(tmp_path):
    rng = np.random.default_rng(0)
    silence = np.zeros(22_000)
    short = np.zeros(12_000)  # the gate closes, and another recogniser would join what follows
    first, second, third = (rng.uniform(0.3, 0.9, 30_000) for _ in range(3))
    parts = [silence, first, silence, second, short, third, silence]
    return write_sound(tmp_path / "talk.wav", np.concatenate(parts))


@pytest.fixture
def listen(monkeypatch, capsysbinary):
    monkeypatch.setattr("engine.speech.vad.SileroDetector", Loudness)

    def run(*options):
        exit_code = main(["listen", *map(str, options)])
        out, err = capsysbinary.readouterr()
        return exit_code, out.decode(), err.decode()

    return run


def heard_straight(direct, talk):
    model = ("--direct", "--model", direct, "--device", "cpu")
    return *model, "--source", talk, "--policy", "read:2"


def test_speech_comes_out_as_a_line_for_each_speech_without_a_recogniser(
    listen, direct, talk, tmp_path
):
    log, subtitles = tmp_path / "events.jsonl", tmp_path / "talk.srt"
    exit_code, out, err = listen(*heard_straight(direct, talk), "--log", log, "--srt", subtitles)
    assert (exit_code, "Traceback" in err) == (0, False), err
    lines = out.splitlines()
    assert len(lines) == 3
    assert log.read_text().count('"event": "heard"') > 2
    cues = subtitles.read_text(encoding="utf-8")
    assert all(word in cues for line in lines for word in line.split()[:2])


def test_captions_are_those_of_the_same_blocks_at_once(listen, direct, talk):
    with wave.open(str(talk)) as file:
        samples = np.frombuffer(file.readframes(1 << 20), "<i2").astype(np.float32) / 32768
    recognizer = make_recognizer(load_direct_model(direct), Loudness())
    results = recognizer.feed(AudioChunk(samples=samples, start_s=0.0)) + recognizer.flush()
    translator = SpokenTranslator(tiny_weights(torch.float32), TranslationSettings(policy="read:2"))
    captions, utterance = [], translator.open()
    for result in results:
        blocks = [word.vectors for word in result.committed]
        utterance.hear(blocks, ended=result.speech_ended)
        list(changes(utterance))
        if result.speech_ended:
            captions.append(" ".join(printable(utterance.caption).split()))
            utterance = translator.open()
    _, out, _ = listen(*heard_straight(direct, talk))
    assert [" ".join(line.split()) for line in out.splitlines()] == captions
    assert len(captions) == 3
    assert all(captions)


def test_a_model_that_reads_text_alone_is_one_sentence(listen, talk, tmp_path):
    exit_code, _, err = listen(
        "--direct", "--model", save_tiny_model(tmp_path / "text"), "--source", talk
    )
    assert exit_code == 1
    assert "reads text alone; choose one that was trained for speech" in err


@pytest.mark.parametrize(
    "option", [("--adapter", "mine"), ("--context", 2), ("--glossary", "x.tsv")]
)
def test_what_means_nothing_without_words_is_refused(listen, direct, talk, option):
    exit_code, _, err = listen("--direct", "--model", direct, "--source", talk, *option)
    assert exit_code == 2
    assert f"--direct is for a model that reads no words: leave out {option[0]}" in err
