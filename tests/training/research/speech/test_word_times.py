import itertools
import random

import numpy as np
import pytest
import torch

from tests.support.direct.corpora import write_tones
from tests.support.direct.encoders import save_speech_encoder, tiny_encoder
from tests.support.fakes import save_tiny_model, tiny_tokenizer
from tests.support.sounds import write_sound
from training.research.__main__ import main
from training.research.speech_corpus import read_sound, read_table
from training.research.speech_measure import id_ends


def best_way(likely, ids):
    """The likeliest of all ways, one by one: after how many frames each id has ended."""
    blank, best = likely.shape[1] - 1, (-np.inf, None)
    for way in itertools.product({*ids, blank}, repeat=len(likely)):
        said = [one for one, _ in itertools.groupby(way) if one != blank]
        score = sum(likely[frame, one] for frame, one in enumerate(way))
        if said == list(ids) and score > best[0]:
            runs, ends, frame = itertools.groupby(way), [], 0
            for one, run in runs:
                frame += len(list(run))
                if one != blank:
                    ends.append(frame)
            best = score, ends
    return best[1]


def test_the_likeliest_of_all_ways_is_found():
    found = 0
    for seed in range(60):
        rng = random.Random(seed)
        logits = np.random.default_rng(seed).normal(size=(rng.randint(1, 6), 4)).astype(np.float32)
        ids = [rng.randrange(3) for _ in range(rng.randint(1, 3))]
        likely = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        expected = best_way(likely, ids)
        assert id_ends(logits, ids) == expected
        found += expected is not None
    assert 30 < found < 60


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("model"))
    save_speech_encoder(folder, tiny_encoder(torch.float32, vocabulary=len(tiny_tokenizer()) + 1))
    return folder


def test_words_that_have_no_times_get_some_and_others_keep_theirs(model, tmp_path):
    for timed in (True, False):
        table = write_tones(tmp_path / "letters.tsv", 3, timed=timed)
        command = ["speech-align", "--model", str(model), "--data", str(table)]
        assert main([*command, "--out", str(tmp_path / "timed.tsv")]) == 0
        before, after = read_table(table), read_table(tmp_path / "timed.tsv")
        assert (before == after) == timed
        for line in after:
            assert 0 < line.ends_ms[0] <= line.ends_ms[-1] <= 1000 * line.n_samples / 16_000


def test_recordings_become_a_corpus_without_times(tmp_path):
    letters = write_tones(tmp_path / "letters.tsv", 3)
    names, pairs = [], []
    for number, line in enumerate(read_table(letters)):
        names.append(f"{number}.wav")
        write_sound(tmp_path / names[-1], read_sound(letters, line))
        needs = " ".join(map(str, line.needs))
        pairs.append(f"{line.source}\t{line.target}\tletters\t{needs}\n")
    (tmp_path / "files.txt").write_text("".join(f"{name}\n" for name in names))
    (tmp_path / "pairs.tsv").write_text("".join(pairs))
    command = ["speech-align", "--pairs", str(tmp_path / "pairs.tsv")]
    command += ["--files", str(tmp_path / "files.txt"), "--out", str(tmp_path / "all.tsv")]
    assert main(command) == 0
    for line, other in zip(read_table(tmp_path / "all.tsv"), read_table(letters), strict=True):
        assert (line.source, line.needs) == (other.source, other.needs)
        assert line.ends_ms == ()
        same = read_sound(letters, other)
        np.testing.assert_allclose(read_sound(tmp_path / "all.tsv", line), same, atol=1e-4)
