"""What the commands of training and research refuse: one sentence, and nothing is written."""

import random

import pytest

from tests.support.fakes import save_tiny_model
from tests.support.run_folders import references, translations, two_runs, write_run
from tests.support.training_runs import QUICK, write_pairs
from training.__main__ import main
from training.research.__main__ import main as research

pytestmark = pytest.mark.usefixtures("papers")  # other layouts and methods

LINES = "one two.\nthree.\n"
FILES = {
    "empty": "",
    "short": "a\n",
    "garbled": "a b\tae bd\tletters\tmany\n",
    "too-few": "one two\teins zwei\tchat\t1\n",
    "not-aligned": "a b\tae bd\tletters\n",
    "long": f"{'a ' * 200}\tae\tletters\t\n",
    "no-schedule": "a b\tae bd\tletters\t\n",
    "corpus": "One house.\tEin Haus.\treal\n",
    "test.en": LINES,
    "test.de": LINES,
    "test.talks": "a\nb\n",
    "times-late": "0.4:0.5 0.8:0.7\n1:1\n",
    "times-few": "0.4:0.5\n1:1\n",
    "times-none": "0.4 0.5\n1:1\n",
}
TEST = (
    "--source test.en --reference test.de --to de --policies read:3,wait:2 --model model --out out"
)
COMMANDS = {
    "prepare": "--from corpus --to-language de --out out",
    "augment": "--from corpus --out out",
    "align": "--from corpus --out out",
    "pretrain": "--data de=pairs --out out",
    "finetune": f"--data de=pairs --base model --out out {' '.join(QUICK)}",
    "evaluate": TEST,
    "long-form": f"{TEST} --talks test.talks",
    "compare": "good bad",
    "convert": "--run run --policy read:3 --out out",
    "policy-head": "--model model",
}
"""What works, but for the options of a row; of an option that is there twice the second counts."""

RESEARCH = {"long-form", "compare", "convert", "policy-head"}
WRONG, FAILED = 2, 1

ROWS = [
    ("prepare", "--from nowhere", FAILED, "nowhere"),
    ("prepare", "--held-out nowhere", FAILED, "nowhere"),
    ("prepare", "--held-out latin", FAILED, "latin has invalid UTF-8 in line 1"),
    ("prepare", "--to-language xx", WRONG, "expected"),
    ("prepare", "--max-words 0", WRONG, "at least 1"),
    ("prepare", "--from a b c", WRONG, "expected"),
    ("prepare", "--max-words x", WRONG, "--max-words"),
    ("augment", "--to-language de --share colour=1", WRONG, "KIND=SHARE"),
    ("augment", "--to-language de --share names=all", WRONG, "KIND=SHARE"),
    ("augment", "--to-language nl", WRONG, "no phrases in 'nl'"),
    ("align", "--from nowhere.tsv", FAILED, "nowhere.tsv"),
    ("align", "--min-agreement -0.1", WRONG, "from 0 to 1"),
    ("align", "--min-agreement 1.5", WRONG, "from 0 to 1"),
    ("align", "--min-agreement nan", WRONG, "from 0 to 1"),
    ("align", "--ratio --out pairs.json", WRONG, "pairs.json is where the statistics go"),
    ("pretrain", "--data de=nowhere.tsv", WRONG, "nowhere.tsv"),
    ("pretrain", "--data nowhere.tsv", WRONG, "NAME=VALUE"),
    ("pretrain", "--data de=", WRONG, "NAME=VALUE"),
    ("pretrain", "--weight", WRONG, "expected at least one argument"),
    ("pretrain", "--weight odd", WRONG, "NAME=VALUE"),
    ("pretrain", "--weight odd=much", WRONG, "much"),
    ("pretrain", "--vocabulary 100", WRONG, "multiple of 64"),
    ("pretrain", "--hidden 64 --heads 5", WRONG, "5 heads"),
    ("pretrain", "--heads 0", WRONG, "heads"),
    ("pretrain", "--layers 0", WRONG, "layers"),
    ("pretrain", "--slot 0", WRONG, "slot"),
    ("pretrain", "--epochs 0", WRONG, "epochs"),
    ("pretrain", "--precision fp8", WRONG, "fp8"),
    ("pretrain", "--stop-after soon", WRONG, "soon"),
    ("pretrain", "--begin-with model", WRONG, "no checkpoint"),
    ("pretrain", "--recipe adapter.toml", WRONG, "train it with finetune"),
    ("pretrain", "--data de=empty", FAILED, "is empty"),
    ("pretrain", "--data de=not-aligned", FAILED, "surtitle-train align"),
    ("pretrain", "--data de=garbled", FAILED, "surtitle-train align"),
    ("pretrain", "--data de=too-few", FAILED, "surtitle-train align"),
    ("finetune", "--targets q_proj,w_proj", WRONG, "no linear layer w_proj: it has q_proj, k_proj"),
    ("finetune", "--rank 65", WRONG, "above the base's width: 64"),
    ("finetune", "--rank 0", WRONG, "rank must be at least 1"),
    ("finetune", "--method magic", WRONG, "the method is one of exposst"),
    ("finetune", "--method simulmask", WRONG, "needs a model with ALiBi"),
    ("finetune", "--slot 0", WRONG, "slot length"),
    ("finetune", "--slot many", WRONG, "a whole number was expected"),
    ("finetune", "--recipe none", WRONG, "there is no recipe none"),
    ("finetune", "--base nowhere", WRONG, "there is no model folder nowhere"),
    ("finetune", "--base bare", FAILED, "has no chat template"),
    ("finetune", "--data de=nowhere.tsv", WRONG, "nowhere.tsv"),
    ("finetune", "--data de", WRONG, "NAME=VALUE"),
    ("finetune", "--data it=pairs", WRONG, "no system message for 'it'"),
    ("finetune", "--data de=empty", FAILED, "is empty"),
    ("finetune", "--data de=not-aligned", FAILED, "surtitle-train align"),
    ("finetune", "--data de=long --policies read-n", FAILED, "no pairs of up to 48 tokens"),
    ("finetune", "--data de=no-schedule --policies read-n", WRONG, "schedule, which read-n needs"),
    ("finetune", "--dev de=nowhere", WRONG, "a list"),
    ("finetune", "--dev de=nowhere,gone", WRONG, "nowhere was to be read"),
    ("finetune", "--dev fr=pairs,pairs", WRONG, "no language that is trained"),
    ("finetune", "--weight letters=much", WRONG, "a number was expected"),
    ("finetune", "--epochs 0", WRONG, "epochs"),
    ("finetune", "--name a/b", WRONG, "choose one with --name"),
    ("finetune", "--dev-policies read:0", WRONG, "a policy is written read:N"),
    ("evaluate", "--policies read:0", WRONG, "a policy is written read:N"),
    ("evaluate", "--policies ,", WRONG, "at least one policy"),
    ("evaluate", "--to xx", WRONG, "translates to de, fr, not to 'xx'"),
    ("evaluate", "--limit 0", WRONG, "must be at least 1, got 0"),
    ("evaluate", "--workers 0", WRONG, "must be at least 1, got 0"),
    ("evaluate", "--arrivals nowhere", FAILED, "nowhere cannot be read"),
    ("evaluate", "--arrivals short", WRONG, "short has 1 lines, fewer than the 2 of the source"),
    ("evaluate", "--arrivals times-late", WRONG, "line 1 of times-late: expected 2 words, none"),
    ("evaluate", "--arrivals times-few", WRONG, "line 1 of times-few: expected 2 words"),
    ("evaluate", "--arrivals times-none", WRONG, "line 1 of times-none: expected SAID:CAME"),
    ("evaluate", "--slot 0", WRONG, "must be at least 1, got 0"),
    ("evaluate", "--reference nowhere", FAILED, "nowhere cannot be read"),
    ("evaluate", "--reference empty", FAILED, "is empty"),
    ("evaluate", "--reference short", FAILED, "equally many"),
    ("evaluate", "--reference latin", FAILED, "UTF-8"),
    ("evaluate", "--model .", FAILED, "is no Surtitle model"),
    ("evaluate", "--out empty/out", FAILED, "expected to write"),
    ("long-form", "--policies read:0", WRONG, "a policy is written read:N"),
    ("long-form", "--policies ,", WRONG, "at least one policy"),
    ("long-form", "--limit 0", WRONG, "must be at least 1, got 0"),
    ("long-form", "--layout rows", WRONG, "'rows'"),
    ("long-form", "--to xx", WRONG, "translates to de, fr, not to 'xx'"),
    ("long-form", "--source nowhere", FAILED, "nowhere cannot be read"),
    ("long-form", "--reference nowhere", FAILED, "nowhere cannot be read"),
    ("long-form", "--talks nowhere", FAILED, "nowhere cannot be read"),
    ("compare", "nowhere", FAILED, "nowhere holds no run"),
    ("compare", "--samples 0", WRONG, "must be at least 1, got 0"),
    ("compare", "--seed -1", WRONG, "must be at least 0, got -1"),
    ("compare", "--out good/run.json", FAILED, "expected to write"),
    ("convert", "--policy read:9", WRONG, "'read:9': choose one of read:3, wait:1"),
    ("policy-head", "--data de=no-schedule", FAILED, "has too few pairs with a schedule"),
]
WITHOUT = [
    ("prepare", "", "--from"),
    ("pretrain", "--data de=pairs", "--out"),
    ("pretrain", "--out out", "--data"),
    ("finetune", "--out out", "--data"),
    ("compare", "good", "at least two runs"),
]
"""Commands from which something is missing."""


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """All that a row may name."""
    folder = tmp_path_factory.mktemp("given")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin").write_bytes(b"caf\xe9\n")
    (folder / "adapter.toml").write_text('base = "some/model"\n')
    write_pairs(folder / "pairs")
    save_tiny_model(folder / "model")
    (save_tiny_model(folder / "bare") / "chat_template.jinja").unlink()
    two_runs(folder)
    rng = random.Random(5)
    wanted = references(rng, 6)
    made = translations(rng, wanted, wrong=0.3, late=2)
    write_run(folder / "run", {"read:3": made, "wait:1": made}, wanted)
    return folder


def told(command, options, capsys):
    """Run a command; return its exit code and its one sentence."""
    run = research if command in RESEARCH else main
    try:
        code = run([command, *options.split()])
    except SystemExit as stop:  # argparse's own way
        code = stop.code
    output = capsys.readouterr()
    begin = f"{'training.research' if command in RESEARCH else 'surtitle-train'} {command}: "
    (sentence,) = (line for line in output.err.splitlines() if line.startswith(begin))
    assert "Traceback" not in output.err
    assert not output.out
    return code, sentence


@pytest.fixture
def folder(given, monkeypatch):
    monkeypatch.chdir(given)
    return given


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_what_cannot_be_is_one_sentence_and_writes_nothing(folder, capsys, row):
    command, options, code, words = row
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    found = told(command, f"{COMMANDS[command]} {options}", capsys)
    assert found[0] == code
    assert words in found[1]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("command", "options", "words"), WITHOUT)
def test_what_is_needed_is_named(capsys, command, options, words):
    code, sentence = told(command, options, capsys)
    assert code == WRONG
    assert words in sentence


def test_a_command_that_there_is_not_ends_with_the_usage(capsys):
    for argv in ([], ["nonsense"]):
        with pytest.raises(SystemExit, match="2"):
            main(argv)
        assert "usage: surtitle-train" in capsys.readouterr().err
