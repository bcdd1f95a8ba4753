import random
from dataclasses import replace

import numpy as np
import pytest

from tests.support.spoken import needs_voice
from training.research.__main__ import main
from training.research.speech_corpus import (
    Request,
    Room,
    Speech,
    hear_in,
    is_here,
    known_voices,
    read_sound,
    read_table,
    said,
    trimmed,
)

WORDS = "Please open the window tomorrow.".split()


def said_by(voice, **how):
    return said(Request(text=" ".join(WORDS), voice=voice, **how))


def speech(seconds=1.0, ends=(0.5, 1.0)):
    rng = np.random.default_rng(0)
    n_samples = round(seconds * 16_000)
    return Speech(samples=rng.normal(size=n_samples).astype(np.float32) * 0.1, ends_s=ends)


@pytest.mark.parametrize("engine", ["espeak-ng", "flite"])
def test_each_engine_says_a_text_and_tells_when_words_end_if_it_can(engine):
    if not is_here(engine):
        pytest.skip(f"needs {engine}")
    one = said_by(known_voices([engine])[0])
    length_s = len(one.samples) / 16_000
    assert 1.0 < length_s < 4.0
    assert 0.02 < np.abs(one.samples).max() <= 1.0
    if engine == "flite":
        assert one.ends_s is None
    else:
        assert len(one.ends_s) == len(WORDS)
        assert list(one.ends_s) == sorted(one.ends_s)
        assert 0.1 < one.ends_s[0] < one.ends_s[-1] <= length_s
        assert one.ends_s[-1] > length_s - 0.3


def test_silence_around_a_speech_is_cut_off_and_its_words_end_earlier():
    silence = np.zeros(1600, np.float32)
    inner = speech()
    whole = Speech(samples=np.concatenate([silence, inner.samples, silence]), ends_s=(0.6, 1.1))
    cut = trimmed(whole)
    assert abs(len(cut.samples) - len(inner.samples)) < 10
    assert cut.ends_s == pytest.approx((0.5, 1.0), abs=1e-3)


def test_a_speech_in_a_room_begins_after_a_pause_and_has_the_loudness_of_the_room():
    room = Room(before_s=0.3, after_s=0.2, peak=0.7)
    heard, plain = hear_in(room, speech()), speech()
    assert len(heard.samples) == 24_000
    assert np.abs(heard.samples).max() == pytest.approx(0.7)
    assert not heard.samples[: round(0.3 * 16_000)].any()
    assert heard.ends_s == pytest.approx((0.8, 1.3))
    scale = 0.7 / np.abs(plain.samples).max()
    np.testing.assert_allclose(heard.samples[4800:20_800], plain.samples * scale, atol=1e-6)


def test_echoes_of_a_clap_fall_by_60_db_in_their_time():
    clap = np.zeros(8000, np.float32)
    clap[0] = 1
    room = Room(before_s=0.0, after_s=0.1, echo_s=0.5)
    heard = hear_in(room, replace(speech(), samples=clap, ends_s=None)).samples
    early, late = (np.sqrt(np.mean(heard[at : at + 800] ** 2)) for at in (800, 7200))
    assert 20 * np.log10(early / late) == pytest.approx(60 * 0.4 / 0.5, abs=1)


def write_aligned(path, n_pairs):
    rng = random.Random(0)
    lines = {f"{rng.choice(WORDS)} {rng.choice(WORDS)} number {n}" for n in range(n_pairs)}
    path.write_text("".join(f"{one}\tx y\tnumbers\t1 3\n" for one in sorted(lines)))
    return path


def make(pairs, out, *arguments):
    command = ["speech-data", "--pairs", str(pairs), "--out", str(out), "--train", "6"]
    command += ["--dev", "2", "--test", "3", "--engines", "espeak-ng"]
    return main([*command, "--held-back", "espeak-ng/*klatt*", *arguments])


def content(out):
    return {path.name: path.read_bytes() for path in out.iterdir()}


@needs_voice
@pytest.mark.slow
def test_a_corpus_has_sentences_and_voices_that_are_held_back(tmp_path):
    pairs = write_aligned(tmp_path / "pairs.tsv", 30)
    assert make(pairs, tmp_path / "one") == 0
    tables = {name: tmp_path / "one" / f"{name}.tsv" for name in ("train", "dev", "test")}
    lines = {name: read_table(table) for name, table in tables.items()}
    assert {name: len(own) for name, own in lines.items()} == {"train": 6, "dev": 2, "test": 3}
    sources = [{line.source for line in own} for own in lines.values()]
    assert len(set.union(*sources)) == sum(map(len, sources)) == 11
    assert all("klatt" in line.voice for line in lines["test"])
    assert not any("klatt" in line.voice for line in lines["train"] + lines["dev"])
    for line in lines["train"]:
        sound = read_sound(tables["train"], line)
        assert 0.15 < np.abs(sound).max() < 0.95
        assert 0 < line.ends_ms[0] < line.ends_ms[-1] <= 1000 * len(sound) / 16_000
        assert line.needs == (1, 3)


@needs_voice
@pytest.mark.slow
def test_the_seed_decides_a_corpus_also_one_that_was_stopped(tmp_path):
    pairs = write_aligned(tmp_path / "pairs.tsv", 30)
    assert make(pairs, tmp_path / "one") == make(pairs, tmp_path / "two") == 0
    whole = content(tmp_path / "one")
    assert whole == content(tmp_path / "two")
    (tmp_path / "two" / "test-0000.part.tsv").unlink()
    (tmp_path / "two" / "test.tsv").unlink()
    assert make(pairs, tmp_path / "two") == 0
    assert whole == content(tmp_path / "two")
    assert make(pairs, tmp_path / "three", "--seed", "2", "--dev", "0") == 0
    assert whole["train-0000.i16"] != content(tmp_path / "three")["train-0000.i16"]
