import random

import numpy as np
import pytest

from tests.support.spoken import needs_voice
from training.research.__main__ import main
from training.research.speech_corpus import (
    Request,
    Speech,
    is_here,
    known_voices,
    read_sound,
    read_table,
    said,
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


def write_aligned(path, n_pairs):
    rng = random.Random(0)
    lines = {f"{rng.choice(WORDS)} {rng.choice(WORDS)} number {n}" for n in range(n_pairs)}
    path.write_text("".join(f"{one}\tx y\tnumbers\t1 3\n" for one in sorted(lines)))
    return path


def make(pairs, out, *arguments):
    command = ["speech-data", "--pairs", str(pairs), "--out", str(out), "--train", "6"]
    command += ["--dev", "2", "--test", "3", "--engines", "espeak-ng"]
    return main([*command, "--held-back", "espeak-ng/*klatt*", *arguments])


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
