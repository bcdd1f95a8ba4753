import argparse
import json
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from benchmarks.seqpo import __main__ as seqpo
from benchmarks.seqpo import rollouts
from benchmarks.seqpo.report import aim
from benchmarks.training import unseen_pairs
from tests.support.fakes import save_tiny_model, tiny_tokenizer
from tests.support.run_folders import references, translations, write_run
from tests.support.training_runs import write_dev, write_pairs
from training.commands import evaluate, finetune
from training.commands.recipe import settings_of
from training.data.aligned_pairs import read_aligned
from training.research.commands import seqpo as seqpo_command
from training.research.seqpo.settings import RewardSettings
from training.settings import Mixture, TrainSettings
from training.trainer.samples.methods import METHODS
from training.trainer.samples.pairs import tokenize
from training.trainer.samples.stream import Padded, Stream, epoch_order


@pytest.fixture
def called(monkeypatch):
    """The pieces that were done: each is read as its command reads it, and its files are made up.

    A run needs two calls; what learnt by reward lags by a word less with the
    first of two seeds, and translates as the start.
    """
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    for command in (seqpo_command, finetune, evaluate):
        command.add_parser(subparsers)
    pieces, settings = [], {}

    def call(piece):
        pieces.append(piece)
        module, *words = map(str, piece)
        if module == "benchmarks.seqpo.rollouts":
            given = rollouts.parse(words)
            sampling = [{"lanes": n, "s": 1.0} for n in given.lanes]
            given.out.write_text(json.dumps({"sampling": sampling, "scoring": sampling}))
            return
        assert module in {"training", "training.research"}
        given = parser.parse_args(words)
        if words[0] == "evaluate":
            decode(given)
            return
        command = {"seqpo": seqpo_command, "finetune": finetune}[words[0]]
        kind = {"seqpo": RewardSettings, "finetune": TrainSettings}[words[0]]
        read = settings_of(given, command.RECIPES, {}, {}, kind)
        if read.out.name in settings:
            assert settings[read.out.name] == read  # it goes on as it began
            (read.out / "adapter").mkdir(parents=True)
        settings[read.out.name] = read

    monkeypatch.setattr(seqpo, "call", call)
    return pieces, settings


def decode(given):
    rng = random.Random(1)
    wanted = references(rng, 30)
    arm = given.out.name.split("-")[0]
    assert (given.adapter is None) == (arm == "start")
    late = 0 if given.out.name.startswith("seqpo-4") else 1
    wrong = 0.2 if arm == "finetune" else 0.0
    policies = {
        policy: translations(rng, wanted, wrong=wrong, late=late) for policy in given.policies
    }
    write_run(given.out, policies, wanted)
    if arm == "seqpo":
        line = {"step": 1, "quality": 0.5, "lagging": 2.0, "words": 4.0, "empty_writes": 0.25}
        path = given.out.parent / given.out.name.removesuffix("-letters") / "steps.jsonl"
        path.write_text(json.dumps({**line, "divergence": 0.125}) + "\n", encoding="utf-8")


def test_the_comparison_goes_on_where_it_ended_and_reports(tmp_path, called):
    pieces, settings = called
    data = write_pairs(tmp_path / "unseen.tsv", 6)
    _, _, dev = write_dev(tmp_path, 4).partition("=")
    out = tmp_path / "out"
    command = [
        "--data", str(data), "--set", f"letters={dev}", "--out", str(out), "--arms", "seqpo",
        "finetune", "hinge", "--seeds", "4", "5", "--steps", "3", "--sources", "2", "--group", "3",
        "--lanes", "6", "--rank", "4", "--reads", "1", "2", "--more-reads", "3", "--samples", "50",
    ]  # fmt: skip
    assert seqpo.main([*command, "--minutes", "0"]) == seqpo.MORE_TO_DO
    assert pieces == []
    assert seqpo.main(command) == 0
    n_done = len(pieces)
    assert n_done == 1 + 1 + 5 * 3  # rollouts, the start, and of each run two calls and a decoding
    assert seqpo.main(command) == 0
    assert len(pieces) == n_done
    learnt, tuned = settings["seqpo-5"], settings["finetune-5"]
    assert (learnt.seqpo.steps, learnt.seqpo.sources, learnt.seqpo.group) == (3, 2, 3)
    assert settings["hinge-4"].seqpo == replace(learnt.seqpo, reward="hinge")
    n_pairs = tuned.optimisation.epochs * 6  # as many sources, as many steps
    assert (tuned.optimisation.batch_pairs, n_pairs) == (2, pytest.approx(3 * 2))
    assert {one.lora.rank for one in settings.values()} == {4}
    assert (learnt.optimisation.seed, tuned.optimisation.seed) == (5, 5)
    assert tuned.mixture.n == (1, 2)
    assert learnt.seqpo.policies == ("read:1", "read:2")
    report = (out / "report.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in report.splitlines() if line.startswith("|")]
    cells = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in reversed(rows)}
    assert cells["seqpo"][:2] == ["2", "100.0 (100.0-100.0) / 100.0 / 0.0 / 1.50"]
    assert cells["start"][:2] == ["1", "100.0 / 100.0 / 0.0 / 2.00"]
    assert cells["seqpo, 5"] == ["1", *[""] * 5, "0.500 / 2.00 / 4.0 / 25 / 0.125"]
    heads = next(index for index, row in enumerate(rows) if "equal LAAL" in row[0])
    above = {row[0].strip(): row[1].strip() for row in rows[heads + 2 : heads + 5]}
    assert above["seqpo"] == "beyond its ends"  # it lags less than any point of the start
    assert above["hinge"].startswith("+0.00 p 1.0")
    assert float(above["finetune"].split(" p ")[0]) < 0
    gained = [row for row in rows if row[0].strip() == "read:1"]  # against the start, and tuning
    assert [row[-1].strip() for row in gained] == ["less lagging", "less lagging"]
    assert gained[0][4].strip().startswith("-0.50 [-0.50, -0.50] p ")
    assert float(gained[0][1].split()[0]) == 0
    assert float(gained[1][1].split()[0]) > 0


def test_one_pass_scores_what_re_prompting_scores_with_fewer_rows(tmp_path):
    base = save_tiny_model(tmp_path / "base")
    data = write_pairs(tmp_path / "unseen.tsv", 6)
    given = ["--data", str(data), "--model", str(base), "--out", str(tmp_path / "out.json")]
    rollouts.main([*given, "--sources", "2", "--group", "2", "--lanes", "1", "4"])
    measured = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    whole, prompted = measured["scoring"]
    sources = [line.split("\t")[0].split() for line in data.read_text().splitlines()[:2]]
    n_writes = sum(-(-(len(words) + 1) // 2) for words in sources)  # under read:2, the end alone
    assert (whole["samples"], prompted["samples"]) == (2 * 2, 2 * n_writes)
    assert whole["scored"] == prompted["scored"] > 10
    assert whole["loss"] == pytest.approx(prompted["loss"], abs=1e-3)
    assert whole["rows"] < prompted["rows"]
    assert [row["lanes"] for row in measured["sampling"]] == [1, 4]


def test_a_compared_arm_has_every_seed_and_an_ablation_the_first(tmp_path):
    arguments = ["--data", "f", "--set", "a=b,c", "--out", str(tmp_path), "--seeds", "5", "3"]
    names = [run.name for run in seqpo.runs_of(seqpo.parse(arguments))]
    assert names[0] == "start"
    assert names[-2:] == ["seqpo-3", "finetune-3"]  # a whole seed before the next one
    assert set(names[1:-2]) == {f"{arm}-5" for arm in seqpo.ARMS}
    assert len(names) == len(set(names))


def difference(value, p):
    return SimpleNamespace(difference=value, p=p)


def test_an_aim_is_less_lagging_without_a_loss_or_more_quality_without_more_lagging():
    even, lost = difference(-0.2, 0.4), difference(-0.9, 0.01)
    sooner, later = difference(-0.31, 0.01), difference(0.1, 0.01)
    better = difference(1.2, 0.01)
    assert aim(even, even, sooner) == "less lagging"
    assert aim(lost, even, sooner) == aim(even, lost, sooner) == "no"
    assert aim(even, even, difference(-0.31, 0.2)) == aim(even, even, later) == "no"
    assert aim(even, better, difference(0.0, 1.0)) == "more quality"
    assert aim(even, better, later) == aim(even, difference(1.2, 0.2), even) == "no"


def test_unseen_pairs_are_those_that_no_epoch_of_the_stream_drew(tmp_path, monkeypatch, capsys):
    lines = [
        f"{source} {n}\t{source} {n}\t{corpus}\t1 1\n"
        for n in range(60)
        for source, corpus in (("usual", "usual"), ("rare", "rare"), ("none", "names"))
    ]
    lines.append("Rare, 0!\tother words\trare\t1 1\n")  # as one that is there, whatever its letters
    data = tmp_path / "all.tsv"
    data.write_text("".join(lines), encoding="utf-8")
    recipe = "max_length = 100\n[weights]\nrare = 0.3\nnames = 0\n[optimisation]\nseed = 7\n"
    (tmp_path / "mine.toml").write_text(recipe, encoding="utf-8")
    base = save_tiny_model(tmp_path / "base")
    monkeypatch.setattr(unseen_pairs, "RECIPES", tmp_path)
    out = tmp_path / "unseen.tsv"
    given = ["--data", str(data), "--tokenizer", str(base), "--out", str(out), "--words", "1", "9"]
    unseen_pairs.main([*given, "--run", "mine=2", "--most", "100"])
    stream = Stream(
        pairs=list(tokenize({"de": data}, tiny_tokenizer(), 94)),
        prompts={},
        weights={"rare": 0.3, "names": 0.0},
        method=METHODS["exposst"],
        mixture=Mixture(),
        slot_lengths=(16,),
        arrangement=Padded(100),
        seed=7,
    )
    drawn = {
        index
        for epoch in range(2)
        for index in epoch_order(stream.pairs, stream.weights, stream._rng(epoch))
    }
    chosen = {one.as_line() for one in read_aligned([out])}
    left = {line for index, line in enumerate(lines) if index not in drawn and "rare" in line}
    assert 10 < len(chosen) < 60
    same = {lines[1], lines[-1]}  # of two alike, at most one
    assert chosen - same == left - same
    assert len(chosen & same) <= 1
    assert not (1 in drawn or len(lines) - 1 in drawn) or not chosen & same
    assert f"{len(chosen):7,} rare" in capsys.readouterr().out
    unseen_pairs.main([*given, "--run", "mine=2", "--most", "5"])
    assert len(list(read_aligned([out]))) == 5
