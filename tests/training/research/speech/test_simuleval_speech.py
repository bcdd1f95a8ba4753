"""SimulEval drives the translator of sound as we do, and measures its lag in milliseconds alike.

It runs in an environment of its own (``scripts/simuleval-environment``); without it the test is
skipped, but never where CI runs.
"""

import json
import os
import wave
from statistics import fmean

import numpy as np
import pytest
import torch

from benchmarks.interop.simuleval_agreement import PROGRAMS, ROOT, Pieces
from engine.metrics.event_log import EventLog
from engine.metrics.latency import length_adaptive_average_lagging
from engine.settings import ModelSettings
from tests.support.direct.corpora import write_tones
from tests.support.direct.encoders import save_speech_encoder, tiny_encoder
from tests.support.fakes import save_tiny_model, tiny_tokenizer
from tests.support.programs.run import ran
from training.evaluation.models import measured_model
from training.research.speech_corpus import read_sound, read_table
from training.research.speech_measure import (
    SpeechRunSettings,
    evaluate_speech,
    make_sound_system,
)
from training.research.when_to_write import save_head

PIECE_MS, N_LINES = 160, 60

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),  # two processes load all, one after the other
    pytest.mark.skipif(
        not (PROGRAMS / "simuleval").exists() and os.environ.get("CI") != "true",
        reason="SimulEval is not installed: scripts/simuleval-environment",
    ),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_tones(tmp_path_factory.mktemp("corpus") / "test.tsv", N_LINES, longest=5)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("model"))
    encoder = tiny_encoder(torch.float32, vocabulary=len(tiny_tokenizer()) + 1)
    save_speech_encoder(folder, encoder)
    generator = torch.Generator().manual_seed(0)
    save_head(ModelSettings(directory=folder), torch.randn(64, generator=generator))
    return folder


def write_waves(table, folder):
    """The corpus as SimulEval takes it: files, and a line for each."""
    paths = []
    for number, line in enumerate(lines := read_table(table)):
        paths.append(folder / f"{number}.wav")
        with wave.open(str(paths[-1]), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16_000)
            integers = (read_sound(table, line) * np.float32(32767)).round().astype("<i2")
            file.writeframes(integers.tobytes())
    (folder / "waves.txt").write_text("".join(f"{path}\n" for path in paths))
    (folder / "target.txt").write_text("".join(f"{line.target}\n" for line in lines))


def simuleval(folder, model, policy):
    out = folder / "out.json"
    agent = str(ROOT / "training/research/simuleval_speech_agent.py")
    command = [
        str(PROGRAMS / "python"), str(ROOT / "benchmarks/interop/simuleval_speech_run.py"),
        str(out), "--agent", agent, "--model", str(model), "--to", "de", "--policy", policy,
        "--source", str(folder / "waves.txt"), "--target", str(folder / "target.txt"),
        "--source-type", "speech", "--target-type", "text", "--no-progress-bar",
        "--source-segment-size", str(PIECE_MS), "--latency-metrics", "LAAL",
    ]  # fmt: skip
    environment = os.environ | {"PYTHONUTF8": "1", "PYTHONPATH": str(ROOT)}
    done = ran(*command, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.parametrize("policy", ["adaptive:0.5:4"])
def test_simuleval_hears_our_captions_and_lags_as_we_count(table, model, tmp_path, policy):
    write_waves(table, tmp_path)
    found = simuleval(tmp_path, model, policy)
    settings = SpeechRunSettings(
        model=model, data=table, language="de", policies=(policy,), out=tmp_path / "run", limit=20
    )
    evaluate_speech(settings)
    hypotheses = (tmp_path / "run" / f"{policy}.hyp").read_text(encoding="utf-8").splitlines()
    assert hypotheses == [one["prediction"] for one in found["instances"][:20]]
    own_model = measured_model(model, None, "cpu")
    system, _ = make_sound_system(settings, own_model, policy, EventLog())
    piece, lags, n_early = PIECE_MS * 16, [], 0
    assert len(found["instances"]) == N_LINES
    for line, one in zip(read_table(table), found["instances"], strict=True):
        samples, length_ms = read_sound(table, line), line.n_samples / 16
        starts = range(0, len(samples), piece)
        pieces = Pieces(
            [
                system.hear(samples[start : start + piece], ended=start == starts[-1])
                for start in starts
            ]
        )
        came = [min(n * PIECE_MS, length_ms) for n in range(1, len(starts) + 1)]
        delays = [came[n - 1] for n in pieces.whole_word_delays]
        assert one["prediction"] == " ".join("".join(pieces.added).split())
        assert one["delays"] == delays
        assert one["source_length"] == length_ms
        n_early += sum(delay < length_ms for delay in delays)
        if delays:
            n_reference = len(line.target.split())
            lags.append(length_adaptive_average_lagging(delays, length_ms, n_reference))
    assert n_early > 20
    assert found["scores"]["LAAL"] == pytest.approx(fmean(lags), abs=1e-6)
