import json

import numpy as np
import pytest
import torch

from engine.metrics.latency import length_adaptive_average_lagging
from tests.support import run_folders
from tests.support.direct.corpora import write_tones
from tests.support.direct.encoders import save_speech_encoder, tiny_encoder
from tests.support.fakes import save_tiny_model, tiny_tokenizer
from training.evaluation.runs import read_run
from training.research.__main__ import main
from training.research.speech_corpus import read_table
from training.research.speech_measure import sound_lag


def translation(delays, emitted_ms, ms):
    return run_folders.translation(
        source=("",) * len(ms), hypothesis=" ".join("x" * len(delays)), delays=tuple(delays),
        emitted_ms=tuple(emitted_ms), ms=tuple(ms),
    )  # fmt: skip


def test_lag_counts_sound_that_had_come_and_computing_that_had_to_wait():
    one = translation([1, 2, 3], [10, 20, 30], [250, 40, 50])
    lag = sound_lag([one], ["a b c"], [400.0], piece_ms=160, language="de")
    came = [160.0, 320.0, 400.0]  # the last piece is shorter
    assert lag.laal_ms == length_adaptive_average_lagging(came, 400, 3)
    queued = [160 + 10, 410 + 20, 450 + 30]  # the first piece takes until 410
    assert lag.laal_ca_ms == length_adaptive_average_lagging(queued, 400, 3)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_tones(tmp_path_factory.mktemp("corpus") / "test.tsv", 4)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("model"))
    encoder = tiny_encoder(torch.float32, vocabulary=len(tiny_tokenizer()) + 1)
    save_speech_encoder(folder, encoder)
    return folder


def evaluate(model, table, out, *arguments):
    command = ["speech-evaluate", "--model", str(model), "--data", str(table), "--to", "de"]
    return main([*command, "--out", str(out), *arguments])


@pytest.mark.slow
def test_a_run_over_a_corpus_is_a_run_folder_with_milliseconds(model, table, tmp_path):
    policies = ["read:1", "read:2", "offline"]
    assert evaluate(model, table, tmp_path / "run", "--policies", ",".join(policies)) == 0
    run = read_run(tmp_path / "run")
    assert list(run.policies) == policies
    rows = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    lines = read_table(table)
    for row in rows:
        assert row["laal_ca"] is None, "words of a text take another time than pieces of sound"
        assert row["ms_per_block_mean"] > 0
        if row["laal_ms"] is not None:
            assert 0 < row["laal_ms"] < row["laal_ca_ms"]
    lengths = [1000 * line.n_samples / 16_000 for line in lines]
    offline = run.policies["offline"].sentences
    assert any(one.translation.hypothesis for one in offline)
    for one, length_ms, line in zip(offline, lengths, lines, strict=True):
        assert one.reference == line.target
        assert len(one.translation.source) == -(-length_ms // 160)
        assert set(one.translation.delays) <= {len(one.translation.source)}
        spent_ms = [one.translation.ms[n - 1] for n in one.translation.delays]
        assert np.less_equal(one.translation.emitted_ms, spent_ms).all()
