"""Test what is read of run folders, and which of them are refused."""

import json
import random

import pytest

from tests.support.run_folders import references, silent, translations, two_runs, write_run
from tests.support.strangers import refused
from training.errors import TrainingError, UsageError
from training.evaluation.runs import read_run
from training.evaluation.short_form import next_number
from training.research.compare import read_contenders


@pytest.fixture
def wanted():
    return references(random.Random(1), 5)


def made(wanted, late=2):
    return translations(random.Random(2), wanted, wrong=0.2, late=late)


def test_what_was_written_is_read(tmp_path, wanted):
    policies = {"read:3": made(wanted), "wait:1": made(wanted, 0)}
    run = read_run(write_run(tmp_path / "one", policies, wanted))
    assert run.name == "one"
    assert run.n_sentences == 5
    assert run.record.system == "slots"
    assert list(run.policies) == ["read:3", "wait:1"]
    for policy, translated in policies.items():
        one = run.policies[policy]
        assert [each.translation for each in one.sentences] == translated
        assert [each.reference for each in one.sentences] == wanted
    summary = json.loads((tmp_path / "one" / "summary.json").read_text())
    assert run.policies["wait:1"].scores.bleu == summary[1]["bleu"]
    assert run.policies["wait:1"].scores.laal == summary[1]["laal"]


def test_a_run_that_wrote_nothing_has_no_lagging(tmp_path, wanted):
    quiet = [silent(one) for one in made(wanted)]
    run = read_run(write_run(tmp_path / "one", {"read:3": quiet}, wanted))
    assert run.policies["read:3"].scores.laal is None
    assert run.policies["read:3"].scores.n_empty == 5


def set_summary(folder, **changes):
    path = folder / "summary.json"
    content = json.loads(path.read_text())
    content[0].update(changes)
    path.write_text(json.dumps(content))


def set_line(folder, **changes):
    path = folder / "read:3.jsonl"
    first, *others = path.read_text().splitlines(keepends=True)
    row = {**json.loads(first), **changes}
    path.write_text("".join([json.dumps(row) + "\n", *others]))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda one: (one / "run.json").unlink(), "holds no run"),
        (lambda one: (one / "run.json").write_text("{}"), "run.json cannot be read"),
        (lambda one: (one / "summary.json").unlink(), "let evaluate finish"),
        (lambda one: (one / "summary.json").write_text("[{"), "summary.json cannot be read"),
        (lambda one: (one / "summary.json").write_text("[1]"), "summary.json cannot be read"),
        (lambda one: (one / "summary.json").write_text("null"), "summary.json cannot be read"),
        (lambda one: (one / "summary.json").write_text("[{}]"), "summary.json cannot be read"),
        (lambda one: (one / "summary.json").write_text("[]"), "has no policies"),
        (lambda one: set_summary(one, bleu="high"), "'bleu' should be a number, got 'high'"),
        (lambda one: set_summary(one, bleu=None), "'bleu' should be a number, got None"),
        (lambda one: set_summary(one, laal=float("nan")), "'laal' should be a number, got nan"),
        (
            lambda one: set_summary(one, tokens_fed=1.5),
            "'tokens_fed' should be a whole number, got 1.5",
        ),
        (lambda one: set_summary(one, n_sentences=6), "must hold 6 lines"),
        (lambda one: (one / "read:3.jsonl").unlink(), "is missing: summary.json tells"),
        (lambda one: (one / "read:3.jsonl").write_bytes(b"\xff\n"), "read:3.jsonl cannot be read"),
        (lambda one: (one / "read:3.jsonl").write_text("1\n"), "read:3.jsonl cannot be read"),
        (lambda one: set_line(one, delays=3), "read:3.jsonl cannot be read"),
        (lambda one: set_line(one, delays=["a"]), "'delays[0]' should be a whole number, got 'a'"),
        (lambda one: set_line(one, reference=3), "'reference' should be text, got 3"),
        (lambda one: set_line(one, index=1), "in order"),
    ],
)
def test_a_folder_that_is_no_whole_run_is_one_sentence(tmp_path, wanted, spoil, words):
    folder = write_run(tmp_path / "one", {"read:3": made(wanted)}, wanted)
    read_run(folder)
    spoil(folder)
    assert words in refused(TrainingError, read_run, folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"language": "fr"}, "the target language of"),
        ({"source_sha256": "0123456789"}, "(source, 01234567)"),
        ({"reference_sha256": "other"}, "the reference file of"),
    ],
)
def test_runs_of_other_tests_are_refused(tmp_path, wanted, changes, words):
    first = write_run(tmp_path / "one", {"read:3": made(wanted)}, wanted)
    other = write_run(tmp_path / "two", {"read:3": made(wanted)}, wanted, **changes)
    assert words in refused(UsageError, read_contenders, [str(first), str(other)])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["good"], "at least two runs, got 1"),
        (["good", "good"], "named twice"),
        (["good:read:3", "./good:read:3"], "named twice"),
        (["good", "bad:read:3"], "for all runs or for none"),
        (["good:read:3", "bad:read:7"], "no policy 'read:7': choose one of wait:1, wait:3"),
    ],
)
def test_what_cannot_be_compared_is_a_wrong_command(tmp_path, monkeypatch, names, words):
    two_runs(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert words in refused(UsageError, read_contenders, names)


def test_the_logs_of_a_run_that_goes_on_stand_beside_those_that_are_there(tmp_path):
    assert next_number(tmp_path) == 1
    for name in ("read-3.2.jsonl", "read-3.10.jsonl", "wait-1.7.jsonl"):
        (tmp_path / name).touch()
    assert next_number(tmp_path) == 11
