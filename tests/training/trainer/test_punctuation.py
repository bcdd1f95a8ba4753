import random

import numpy as np
import pytest

from engine.text.punctuation import Punctuation, SentenceMarks
from training.__main__ import main
from training.trainer.punctuation import examples, spoken, teach

TEXT = ["Is it Tom?", "It is Tom.", "We saw Tom, and he is well.", "Is he well?"] * 60


def test_a_sentence_is_its_words_as_they_are_said_with_mark_and_case():
    words = spoken("“Hello, Tom’s IBM runs!”")
    assert [(w.text, w.mark, w.form) for w in words] == [
        ("hello", 1, 1),
        ("tom's", 0, 1),
        ("ibm", 0, 2),
        ("runs", 2, 0),
    ]


@pytest.mark.parametrize("line", ["No end", "Tom @ home.", "One.", "", "a b " * 99 + "."])
def test_what_is_no_sentence_that_could_be_said_is_left_out(line):
    assert spoken(line) == []


def test_weights_that_were_taught_write_what_they_were_taught():
    given = examples([spoken(line) for line in TEXT], random.Random(0))
    marks = SentenceMarks(Punctuation(*teach(given, 20)))
    heard = "is it tom it is tom we saw tom and he is well".split()
    told = [word for one in heard for word in marks.feed(one)] + marks.pause()
    assert " ".join(told) == "Is it Tom? It is Tom. We saw Tom, and he is well."


def test_the_command_writes_weights_that_the_program_reads(tmp_path, capsys):
    text, out = tmp_path / "a.txt", tmp_path / "new" / "en.npz"
    text.write_text("\n".join(TEXT), encoding="utf-8")
    assert main(["punctuation", "--from", str(text), "--out", str(out)]) == 0
    assert "words" in capsys.readouterr().out
    with np.load(out) as file:
        assert file["weights"].dtype == np.int8
    text.write_text("nothing", encoding="utf-8")
    assert main(["punctuation", "--from", str(text), "--out", str(out)]) == 1
    assert "expected sentences with punctuation" in capsys.readouterr().err
