"""Test the command that makes a training file."""

import gzip
import lzma

import pytest

from training.__main__ import main
from training.data.corpus import SentencePair, read_pairs

ROWS = [
    b"Good morning.\tGuten Morgen.\tchat",
    b"Good morning.\tGuten Morgen.\tchat",  # duplicate
    b"good morning!\tguten Morgen\ttatoeba",  # near-duplicate
    b"What is the matter?\tWas ist los?\ttatoeba",  # held out
    b"Bye.\tTsch\xfcs.\tchat",  # invalid UTF-8
    b"one column",
    b"See [[there]].\tSiehe [[dort]].\ttutorial",  # markup
    b"I'd like two tickets.\tIch h\xc3\xa4tte gern zwei Karten.\tchat",
]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "train.tsv.xz"
    path.write_bytes(lzma.compress(b"\n".join(ROWS)))
    return path


@pytest.fixture
def test_set(tmp_path):
    path = tmp_path / "dev.en"
    path.write_text("What is the matter?\nShort.\n")
    path.with_suffix(".de").write_text("Was ist los?\nKurz.\n")
    return path


def prepare(corpus, out, *more):
    return main(["prepare", "--from", str(corpus), "--to-language", "de", "--out", str(out), *more])


def test_good_pairs_are_written_and_the_report_adds_up(tmp_path, corpus, test_set, capsys):
    out = tmp_path / "out.tsv.gz"
    assert prepare(corpus, out, "--held-out", str(test_set)) == 0
    assert list(read_pairs([out])) == [
        SentencePair("Good morning.", "Guten Morgen.", "chat"),
        SentencePair("I'd like two tickets.", "Ich hätte gern zwei Karten.", "chat"),
    ]
    printed = capsys.readouterr().out
    rows = [tuple(row.split(maxsplit=1)) for row in printed.splitlines() if "|" not in row]
    assert rows[:3] == [
        ("8", "read"),
        ("2", "kept (6 source words, 7 target words)"),
        ("6", "dropped"),
    ]
    assert set(rows[3:9]) == {
        ("1", "duplicate"), ("1", "near-duplicate"), ("1", "held out"), ("1", "invalid UTF-8"),
        ("1", "wrong number of columns"), ("1", "markup or URLs"),
    }  # fmt: skip
    assert sum(int(number) for number, rest in rows[10:]) == 2  # kept, by corpus
    assert "See [[there]]. | Siehe [[dort]]." in printed


def test_the_options_reach_the_rules(tmp_path):
    corpus, out = tmp_path / "train.tsv", tmp_path / "out.tsv"
    corpus.write_text("A b c d.\tEin be ce de.\nHi.\tHallo.\nHi.\tHi du.\n")
    assert prepare(corpus, out, "--max-words", "3", "--max-targets", "1") == 0
    assert out.read_text() == "Hi.\tHallo.\ttrain\n"


@pytest.mark.parametrize("content", ["What is the matter?\n", "What is the matter?\tLos!\n"])
def test_a_test_set_may_be_lines_or_a_tsv(tmp_path, corpus, content):
    held_out, out = tmp_path / "test.txt.gz", tmp_path / "out.tsv"
    held_out.write_bytes(gzip.compress(content.encode()))
    assert prepare(corpus, out, "--held-out", str(held_out)) == 0
    assert "matter" not in out.read_text()


@pytest.mark.parametrize("name", ["out.tsv", "out.tsv.gz"])
def test_a_failure_leaves_the_old_output(tmp_path, name, capsys):
    out = tmp_path / name
    out.write_text("old")
    (tmp_path / "talk.en").write_text("One apple.\nTwo pears.\n")
    (tmp_path / "talk.de").write_text("Ein Apfel.\n")
    arguments = ["--from", str(tmp_path / "talk.en"), str(tmp_path / "talk.de")]
    assert main(["prepare", *arguments, "--to-language", "de", "--out", str(out)]) == 1
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "talk.de", "talk.en"]
    error = capsys.readouterr().err
    assert error.startswith("surtitle-train prepare: expected two files of equally many lines")
    assert error.count("\n") == 1


def test_nothing_left_is_a_failure_that_names_the_main_reason(tmp_path, capsys):
    corpus, out = tmp_path / "train.tsv", tmp_path / "out.tsv"
    corpus.write_text("Hello.\t你好。\nBye.\t再见。\n")
    assert prepare(corpus, out) == 1
    assert "nothing is left of the 2 rows" in (error := capsys.readouterr().err)
    assert "2 times: wrong script" in error
    assert not out.exists()
