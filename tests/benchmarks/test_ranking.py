import random
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from benchmarks.ranking import experiments
from benchmarks.ranking.cost_by_length import costs_of, rows_of
from benchmarks.ranking.experiments import ARMS, EXPERIMENTS, bucket
from tests.support.run_folders import references, translations, write_run
from training.data.corpus import write_lines
from training.research.comparison.paired_bootstrap import (
    BootstrapSettings,
    compare_quality,
    compare_runs,
)

WRONG = {"ExPosST-16": 0.5, "source-apart": 0.1}


class Tokenizer:
    """Three tokens in each word."""

    def encode(self, _text, **_options):
        return [0, 0, 0]


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Let commands be noted in place of being run; evaluating makes up a run."""
    commands = []

    def run(command, *arguments):
        words = [str(one) for one in arguments]
        given = dict(zip(words[::2], words[1::2], strict=False))
        commands.append((command, given))
        if command == "evaluate":
            wanted = Path(given["--reference"]).read_text(encoding="utf-8").splitlines()
            arm = next(name for name in WRONG if name in given["--out"])
            rng = random.Random(given["--out"])
            made = {
                policy: translations(rng, wanted, wrong=WRONG[arm], late=1)
                for policy in given["--policies"].split(",")
            }
            write_run(Path(given["--out"]), made, wanted)

    monkeypatch.setattr(experiments, "run", run)
    monkeypatch.setattr(experiments, "read_plain_tokenizer", lambda _folder: Tokenizer())
    wanted = references(random.Random(1), 60)
    for name in ("dev.en", "dev.de"):
        write_lines(tmp_path / name, wanted)
    return commands


def test_an_experiment_trains_decodes_and_compares_its_arms_by_buckets(ran, tmp_path, capsys):
    files = f"{tmp_path / 'dev.en'},{tmp_path / 'dev.de'}"
    experiments.main(
        ["E3", "--base", "plain=ordinary", "--data", "de=pairs.tsv", "--set", f"chat={files}",
         "--out", str(tmp_path / "out"), "--seeds", "1", "2", "--decode", "wait:3",
         "--most", "20", "--samples", "50", "--rank", "32"]
    )  # fmt: skip
    trained = [given for command, given in ran if command == "finetune"]
    assert [(one["--method"], one["--seed"]) for one in trained] == [
        ("exposst", "1"), ("source-apart", "1"), ("exposst", "2"), ("source-apart", "2"),
    ]  # fmt: skip
    assert all(one["--rank"] == "32" and one["--policies"] == "wait-k" for one in trained)
    title, scores, differences = capsys.readouterr().out.strip().split("\n\n")
    assert title == "### plain, wait-k, chat"
    head, _, slots, apart = scores.splitlines()
    assert head.split(" | ")[1:] == ["wait:3, 1-16 (20)", "wait:3, 17- (20)", "wait:3, all (40) |"]
    assert slots.startswith("| ExPosST-16 | ")
    assert "(" in apart
    (row,) = differences.splitlines()[2:]
    assert row.startswith("| source-apart | +")
    assert row.count(" p 0.020") == 3  # the smallest that 50 draws can give: 1 in 51


def test_every_experiment_names_arms_that_there_are():
    for one in EXPERIMENTS.values():
        assert set(one.arms) <= set(ARMS)
        assert set(one.baselines) <= set(one.arms)


def test_buckets_end_at_their_edges():
    assert [bucket(n, [16, 8]) for n in (1, 8, 9, 16, 17, 300)] == [
        "1-8", "1-8", "9-16", "9-16", "17-", "17-",
    ]  # fmt: skip


def test_more_runs_of_the_same_lines_make_no_difference_surer():
    rng, settings = random.Random(2), BootstrapSettings(n_samples=100, seed=1)
    wanted = references(rng, 30)
    first, second = (
        [one.hypothesis for one in translations(rng, wanted, wrong=wrong, late=1)]
        for wrong in (0.3, 0.25)
    )
    once = compare_quality(BLEU(), (first, second), wanted, settings)
    thrice = compare_runs(BLEU(), ([first] * 3, [second] * 3), wanted, settings)
    assert (thrice.low, thrice.high, thrice.p) == pytest.approx((once.low, once.high, once.p))
    assert thrice.n_sentences == 30


def test_the_runs_of_a_system_count_as_one_text():
    rng, settings = random.Random(3), BootstrapSettings(n_samples=5, seed=1)
    wanted = references(rng, 30)
    first, second = (
        [
            [one.hypothesis for one in translations(rng, wanted, wrong=wrong, late=1)]
            for _ in range(2)
        ]
        for wrong in (0.4, 0.2)
    )
    before, after = (
        BLEU().corpus_score([*one, *other], [[*wanted, *wanted]]).score
        for one, other in (first, second)
    )
    found = compare_runs(BLEU(), (first, second), wanted, settings)
    assert found.difference == pytest.approx(after - before)


def test_the_cost_of_a_line_is_divided_into_what_was_computed_first_and_again():
    def line(index, text, again):
        return [
            {"event": "line", "index": index, "at_s": 1.0},
            {"event": "arrived", "at_s": 2.0},
            {"event": "fed", "ids": [0] * 4, "n_again": again, "flops": 8 * 10**9, "at_s": 2.5},
            {"event": "written", "at_s": 3.0},
            {"event": "committed", "text": text, "at_s": 3.0},
            {"event": "fed", "ids": [0], "n_again": 0, "flops": 2 * 10**9, "at_s": 4.0},
            {"event": "line_ended", "index": index, "at_s": 5.0},
        ]

    events = [*line(-1, "warm up", 0), *line(0, "ein Haus", 3), *line(1, "ein altes Haus", 0)]
    costs = list(costs_of(events))
    assert [index for index, _ in costs] == [0, 1]
    short, long, every = rows_of("prefix", [cost for _, cost in costs], [2])
    assert short == [
        "prefix", "1-2", "1", "2.0", "3.0", "1.50", "10.000", "60.0", "1500.0", "25.0",
    ]  # fmt: skip
    assert long[1:6] == ["3-", "1", "5.0", "0.0", "0.00"]
    assert every[1:3] == ["all", "2"]
