"""Let the real SimulEval drive our engine and rescore our runs, and compare with our own figures.

It runs in an environment of its own, which ``scripts/simuleval-environment`` makes. Without it the
tests are skipped, but never where CI runs.
"""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from engine.token_delay import SPEECH, average_token_delay
from training.__main__ import main
from training.lagging import mean_laggings
from training.quality import measure_quality
from training.replay import read_events
from training.runs import read_run
from training.workers import log_paths

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PROGRAMS = ROOT / ".venv-simuleval" / "bin"
SOURCE, REFERENCE = HERE / "data" / "simuleval.en", HERE / "data" / "simuleval.de"
POLICIES = ("read:3", "wait:3")
LAGGINGS = ("AL", "LAAL", "AP", "DAL", "ATD")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # two processes translate the whole set
    pytest.mark.skipif(
        not (PROGRAMS / "simuleval").exists() and os.environ.get("CI") != "true",
        reason="SimulEval is not installed: scripts/simuleval-environment",
    ),
]


def start(*command):
    """Start a program of SimulEval's environment."""
    arguments = [str(PROGRAMS / command[0]), *map(str, command[1:])]
    pipe = subprocess.PIPE
    return subprocess.Popen(arguments, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)


def ask(*command):
    """Run such a program to its end; give its exit status, output and messages."""
    with start(*command) as process:
        output, messages = process.communicate()
        return process.returncode, output, messages


def agent(policy):
    files = ("--source", SOURCE, "--target", REFERENCE)
    types = ("--source-type", "text", "--target-type", "text")
    ours = ("--agent", ROOT / "training/simuleval_agent.py", "--to", "de", "--policy", policy)
    return (*ours, *files, *types, "--no-progress-bar")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("simuleval")


@pytest.fixture(scope="module")
def ours(folder):
    """The run folder of our own evaluation."""
    arguments = ["--source", str(SOURCE), "--reference", str(REFERENCE), "--to", "de"]
    policies = ",".join(POLICIES)
    out = folder / "run"
    assert main(["evaluate", *arguments, "--policies", policies, "--out", str(out)]) == 0
    return read_run(out)


@pytest.fixture(scope="module")
def theirs(folder, ours):
    """What SimulEval saw and computed, by policy."""
    running = {}
    for policy in POLICIES:
        lines, out = folder / f"{policy}.lines.json", folder / f"{policy}.json"
        lines.write_text(json.dumps(plain_lines(ours, policy)))
        running[policy] = start("python", HERE / "simuleval_run.py", lines, out, *agent(policy))
    for process in running.values():
        with process:
            _, messages = process.communicate()
            assert process.returncode == 0, messages
    return {policy: json.loads((folder / f"{policy}.json").read_text()) for policy in POLICIES}


def handed_over(run, policy):
    """Our translations as SimulEval must see them: what a word set off begins a new word."""
    pieces = {}  # by line, what each arriving word set off
    for path in log_paths(run.folder / "log", policy):
        for event in read_events(path):
            if event["event"] == "line":
                line = pieces[event["index"]] = []
            elif event["event"] == "arrived":
                line.append("")
            elif event["event"] == "committed":
                line[-1] += event["text"]
    for translation in translations(run, policy):
        words = [
            (word, n)
            for n, piece in enumerate(pieces[translation.index], start=1)
            for word in piece.split()
        ]
        yield replace(
            translation,
            hypothesis=" ".join(word for word, _ in words),
            delays=tuple(n for _, n in words),
            emitted_ms=(0.0,) * len(words),
        )


def translations(run, policy):
    return [one.translation for one in run.policies[policy].sentences]


def seen(translation):
    """What SimulEval sees of a translation."""
    return translation.hypothesis, list(translation.delays)


def plain_lines(run, policy):
    """The lines that have no word with which the model went on after it had read on."""
    pairs = zip(translations(run, policy), handed_over(run, policy), strict=True)
    return [one.index for one, handed in pairs if seen(one) == seen(handed)]


def assert_same_scores(translations, references, scores):
    laggings = mean_laggings(translations, references, "de")
    quality = measure_quality([one.hypothesis for one in translations], references, "de")
    assert quality.bleu == pytest.approx(scores["BLEU"], abs=0.01)
    for name in LAGGINGS:
        assert getattr(laggings, name.lower()) == pytest.approx(scores[name], abs=1e-4), name


@pytest.mark.parametrize("policy", POLICIES)
def test_simuleval_sees_the_same_words_at_the_same_time(theirs, ours, policy):
    instances = theirs[policy]["instances"]
    found = [(one["prediction"], one["delays"]) for one in instances]
    assert found == [seen(one) for one in handed_over(ours, policy)]
    for instance, sentence in zip(instances, ours.policies[policy].sentences, strict=True):
        assert instance["source_length"] == len(sentence.translation.source)
        assert instance["reference"] == sentence.reference + "\n"


@pytest.mark.parametrize("policy", POLICIES)
def test_over_100_lines_simuleval_gives_the_same_scores(theirs, ours, policy):
    lines, instances = plain_lines(ours, policy), theirs[policy]["instances"]
    sentences = [ours.policies[policy].sentences[line] for line in lines]
    plain = [one.translation for one in sentences]
    assert len(plain) >= 100
    assert [(instances[n]["prediction"], instances[n]["delays"]) for n in lines] == [
        seen(one) for one in plain
    ]
    references = [one.reference for one in sentences]
    assert_same_scores(plain, references, theirs[policy]["scores_of_lines"])


@pytest.mark.parametrize("policy", POLICIES)
def test_over_all_lines_too_if_we_cut_words_as_simuleval_does(theirs, ours, policy):
    references = [one.reference for one in ours.policies[policy].sentences]
    assert_same_scores(list(handed_over(ours, policy)), references, theirs[policy]["scores"])


@pytest.mark.parametrize("policy", POLICIES)
def test_simuleval_scores_our_converted_run_alike(folder, ours, policy):
    out = folder / f"{policy}.converted"
    arguments = ["--run", str(ours.folder), "--policy", policy, "--out", str(out)]
    assert main(["convert", "--to", "simuleval", *arguments]) == 0
    status, output, messages = ask("simuleval", "--score-only", "--output", out)
    assert status == 0, messages
    header, values = output.splitlines()[-2:]
    scores = dict(zip(header.split(), map(float, values.split()[1:]), strict=True))
    summary = json.loads((ours.folder / "summary.json").read_text())[POLICIES.index(policy)]
    assert summary["policy"] == policy
    for name in ("BLEU", "AL", "LAAL", "AP", "DAL"):
        assert summary[name.lower()] == pytest.approx(scores[name], abs=6e-4), name
    delays = [one.translation.delays for one in ours.policies[policy].sentences]
    as_speech = [average_token_delay(one, lengths=SPEECH) for one in delays if one]
    assert fmean(as_speech) == pytest.approx(scores["ATD"], abs=6e-4)


def test_what_cannot_be_is_one_sentence():
    status, _, messages = ask("simuleval", *agent("read:0"))
    assert status == 1
    assert messages.splitlines()[-1].startswith("a policy is written read:N")
    assert "Traceback" not in messages
