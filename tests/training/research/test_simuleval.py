"""Let the real SimulEval drive our engine and rescore our runs, and compare with our own figures.

It runs in an environment of its own, which ``scripts/simuleval-environment`` makes. Without it the
tests are skipped, but never where CI runs. The last 11 lines are of rare words, which models write
in parts; ``benchmarks/interop/simuleval_agreement.py`` compares whole corpora.
"""

import json
import os
from pathlib import Path
from statistics import fmean

import pytest

from benchmarks.interop.simuleval_agreement import (
    LAGGINGS,
    PROGRAMS,
    as_the_agent_writes,
    finish_simuleval,
    our_scores,
    start_simuleval,
)
from engine.metrics.latency import average_token_delay
from tests.support.programs.run import ran
from tests.support.run_folders import work_here
from training.__main__ import main
from training.evaluation.runs import read_run
from training.research.__main__ import main as research

HERE = Path(__file__).parent
SOURCE, REFERENCE = HERE / "simuleval.en", HERE / "simuleval.de"
POLICIES = ("read:3", "wait:1")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # three processes translate the whole set
    pytest.mark.skipif(
        not (PROGRAMS / "simuleval").exists() and os.environ.get("CI") != "true",
        reason="SimulEval is not installed: scripts/simuleval-environment",
    ),
]


def ask(*command):
    """Run a program of SimulEval's environment; give its exit status, output and messages."""
    arguments = [str(PROGRAMS / command[0]), *map(str, command[1:])]
    done = ran(*arguments)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("simuleval")


@pytest.fixture(scope="module")
def runs(folder):
    """What SimulEval saw and computed, by policy, and the run folder of our own evaluation."""
    files = {policy: folder / f"{policy}.json" for policy in POLICIES}
    running = [start_simuleval(out, SOURCE, REFERENCE, one) for one, out in files.items()]
    arguments = ["--source", str(SOURCE), "--reference", str(REFERENCE), "--to", "de"]
    arguments += ["--policies", ",".join(POLICIES), "--out", str(folder / "run")]
    with pytest.MonkeyPatch.context() as patch:
        work_here(patch)
        status = main(["evaluate", *arguments])
    found = [
        finish_simuleval(process, out) for process, out in zip(running, files.values(), strict=True)
    ]
    assert status == 0
    return dict(zip(POLICIES, found, strict=True)), read_run(folder / "run")


@pytest.fixture(scope="module")
def ours(runs):
    return runs[1]


@pytest.mark.parametrize("policy", POLICIES)
def test_simuleval_sees_our_captions_and_scores_them_as_we_do(runs, ours, policy):
    found, run = runs[0][policy], ours.policies[policy]
    whole = list(as_the_agent_writes(ours, policy))
    assert [(one["prediction"], one["delays"]) for one in found["instances"]] == [
        (one.hypothesis, list(one.delays)) for one in whole
    ]
    for instance, sentence in zip(found["instances"], run.sentences, strict=True):
        assert instance["source_length"] == len(sentence.translation.source)
        assert instance["reference"] == sentence.reference + "\n"
    scores = our_scores(whole, [one.reference for one in run.sentences])
    for name in ("BLEU", *LAGGINGS):
        assert scores[name] == pytest.approx(found["scores"][name], abs=1e-6), name


@pytest.mark.parametrize("policy", POLICIES)
def test_simuleval_scores_our_converted_run_alike(folder, ours, policy):
    out = folder / f"{policy}.converted"
    arguments = ["--run", str(ours.folder), "--policy", policy, "--out", str(out)]
    assert research(["convert", *arguments]) == 0
    status, output, messages = ask("simuleval", "--score-only", "--output", out)
    assert status == 0, messages
    header, values = output.splitlines()[-2:]
    scores = dict(zip(header.split(), map(float, values.split()[1:]), strict=True))
    summary = json.loads((ours.folder / "summary.json").read_text())[POLICIES.index(policy)]
    assert summary["policy"] == policy
    for name in ("BLEU", "AL", "LAAL", "AP", "DAL"):
        assert summary[name.lower()] == pytest.approx(scores[name], abs=6e-4), name
    delays = [one.translation.delays for one in ours.policies[policy].sentences]
    as_speech = [
        average_token_delay(one, source_token=300, target_token=0) for one in delays if one
    ]
    assert fmean(as_speech) == pytest.approx(scores["ATD"], abs=6e-4)
