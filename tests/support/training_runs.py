"""Small training runs for tests: pairs word for word, the tiny base, the commands."""

import argparse
import json
import random
from contextlib import contextmanager
from pathlib import Path

from tests.support.fakes import WORD_FOR_WORD, random_word
from training.__main__ import main
from training.research import methods as research

QUICK = [
    "--rank", "4", "--batch", "8", "--warm-up", "2", "--rate", "1e-2", "--epochs", "1",
    "--device", "cpu", "--precision", "fp32", "--max-length", "48", "--pass-tokens", "256",
]  # fmt: skip
SMALL = [
    "--hidden", "64", "--layers", "1", "--heads", "2", "--feed-forward", "64",
    "--vocabulary", "320",
    "--batch-tokens", "400", "--epochs", "1", "--device", "cpu", "--precision", "fp32",
]  # fmt: skip


def pair_lines(n_pairs, seed=0, *, aligned=True):
    """Aligned lines of a language in which every word is one token."""
    rng = random.Random(seed)
    lines = []
    for _ in range(n_pairs):
        words = [rng.choice("abcdefgh") for _ in range(rng.randint(2, 7))]
        needs = " ".join(map(str, range(1, len(words) + 1))) if aligned else ""
        target = " ".join(WORD_FOR_WORD[word] for word in words)
        lines.append("\t".join((" ".join(words), target, "letters", needs)) + "\n")
    return lines


def write_pairs(path, n_pairs=24, **changes):
    path.write_text("".join(pair_lines(n_pairs, **changes)), encoding="utf-8")
    return path


def write_dev(folder, n_pairs=3):
    """Source and reference, as --dev takes them."""
    columns = [line.split("\t") for line in pair_lines(n_pairs, seed=9)]
    for column, name in enumerate(("dev.en", "dev.de")):
        text = "".join(line[column] + "\n" for line in columns)
        (folder / name).write_text(text, encoding="utf-8")
    return f"de={folder / 'dev.en'},{folder / 'dev.de'}"


def finetune(data, base, out, *arguments):
    command = ["finetune", "--data", f"de={data}", "--base", str(base), "--out", str(out)]
    return main([*command, *QUICK, *arguments])


def losses(out):
    lines = (out / "steps.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["loss"] for line in lines]


def write_words(path):
    """Sixty aligned pairs of drawn words; every third without a trusted alignment."""
    rng = random.Random(0)
    lines = []
    for index in range(60):
        words = [random_word(rng) for _ in range(rng.randint(2, 7))]
        needs = " ".join(map(str, range(1, len(words) + 1))) if index % 3 else ""
        target = " ".join(word.upper() for word in words)
        lines.append("\t".join((" ".join(words), target, "even" if index % 2 else "odd", needs)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def pretrain(data, out, *arguments):
    return main(["pretrain", "--data", f"de={data}", "--out", str(out), *SMALL, *arguments])


def told_fault(capsys):
    """The one sentence of a failure."""
    error = capsys.readouterr().err
    told = [line for line in error.splitlines() if line.startswith("surtitle-train finetune: ")]
    assert len(told) == 1
    assert "Traceback" not in error
    return told[0]


def options_of(commands):
    """One line for each argument of some commands: all that argparse knows of it, help or none."""
    subparsers = argparse.ArgumentParser().add_subparsers()
    for command in commands:
        command.add_parser(subparsers)
    lines = []
    for name, parser in subparsers.choices.items():
        assert parser.description, name
        assert callable(parser.get_default("run")), name
        for one in parser._actions[1:]:
            spelt = " ".join(one.option_strings) or one.dest
            known = {
                "dest": one.dest,
                "nargs": one.nargs,
                "default": one.default,
                "type": one.type and one.type.__name__,
                "choices": one.choices and ",".join(map(str, one.choices)),
                "required": one.required and bool(one.option_strings),
                "metavar": one.metavar,
                "const": one.const,
                "help": None if one.help else "missing",
            }
            told = [f"{key}={value}" for key, value in known.items() if value not in (None, False)]
            lines.append(" ".join((name, spelt, *told)).replace(f"{Path.cwd()}/", ""))
    return lines


@contextmanager
def added():
    """Have the layouts, methods and systems of the papers in the mappings of the product."""
    mappings = (
        research.planner.LAYOUTS, research.samples.METHODS, research.factory.TRANSLATORS,
        research.POLICIES,
    )  # fmt: skip
    before = [dict(one) for one in mappings]
    research.add()
    try:
        yield
    finally:
        for one, own in zip(mappings, before, strict=True):
            one.clear()
            one.update(own)
