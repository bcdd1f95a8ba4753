import os
import random

import pytest

from app.captions.glossaries import (
    Fault,
    GlossaryFolder,
    fault_of,
    faults,
    read_terms,
    sound_terms,
    write_terms,
)
from engine.errors import ContextError
from engine.text.glossary import LONGEST

TERMS = (("slot", "Platz"), ("adapter", "Aufsatz"))


@pytest.mark.parametrize(
    ("term", "translation", "fault"),
    [
        ("slot", "Platz", None),
        ("slot", "", None),
        (" ", "Platz", Fault.EMPTY),
        ("a" * LONGEST, "b" * LONGEST, None),
        ("a" * (LONGEST + 1), "", Fault.LONG),
        ("a", "b" * (LONGEST + 1), Fault.LONG),
        ("two\tcells", "", Fault.BREAK),
        ("a", "two\nlines", Fault.BREAK),
        (" #a", "", Fault.REMARK),
        ("a#", "#b", None),
    ],
)
def test_each_fault_of_a_pair_has_its_name(term, translation, fault):
    assert fault_of(term, translation) is fault


def test_a_term_counts_once_whatever_its_case_and_blanks():
    pairs = [("Slot", "Platz"), (" slot ", "Schlitz"), ("SLOT", ""), ("other", "")]
    assert faults(pairs) == [None, Fault.DOUBLE, Fault.DOUBLE, None]
    assert sound_terms(pairs) == (("Slot", "Platz"), ("other", "other")), "a name stays as it is"


def test_terms_come_back_as_they_were_written(tmp_path):
    rng = random.Random(0)
    for number in range(100):
        pairs = [
            tuple("".join(rng.choice("aé漢 #=.") for _ in range(rng.randrange(6))) for _ in "ab")
            for _ in range(rng.randrange(8))
        ]
        terms = sound_terms(pairs)
        assert write_terms(tmp_path / f"{number}.tsv", terms) is None
        assert read_terms(tmp_path / f"{number}.tsv") == terms


def test_terms_beyond_the_most_are_left_out():
    many = [(f"term {number}", "x") for number in range(502)]
    assert len(sound_terms(many)) == 500
    assert faults(many)[499:] == [None, Fault.MANY, Fault.MANY]


def test_each_language_has_its_own_file_and_a_broken_one_is_one_sentence(tmp_path):
    folder = GlossaryFolder(tmp_path / "glossary")
    assert folder.read("de") == ((), None)
    assert folder.write("de", TERMS) is None
    assert folder.read("de") == (TERMS, None)
    assert folder.read("fr") == ((), None)
    assert folder.write("fr", (("slot", "créneau"),)) is None
    assert folder.read("de") == (TERMS, None)
    assert folder.read("fr") == ((("slot", "créneau"),), None)
    assert folder.path("de").name == "de.tsv"
    folder.path("fr").write_text("a tab\ttoo\tmuch\n")
    terms, failure = folder.read("fr")
    assert terms == ()
    assert "line 1 of the glossary" in str(failure)


@pytest.mark.parametrize("language", ["../de", "..", "", "a/b", "/tmp/de", "a\\b", "C:de", "d\0e"])
def test_a_language_that_is_a_path_leads_to_no_file(tmp_path, language):
    """Imported settings may name any language."""
    folder = GlossaryFolder(tmp_path / "data" / "glossary")
    assert folder.write("de", TERMS) is None
    (tmp_path / "data" / "de.tsv").write_text("secret\tx\n")
    before = {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")}
    terms, failure = folder.read(language)
    assert terms == ()
    assert "which is no language code" in str(failure)
    assert "which is no language code" in str(folder.write(language, TERMS))
    assert {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")} == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes of Unix")
def test_a_pipe_among_the_glossaries_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "de.tsv")
    terms, failure = GlossaryFolder(tmp_path).read("de")
    assert terms == ()
    path = tmp_path / "de.tsv"
    assert str(failure) == f"the glossary {path} is no regular file: replace it by one"


def test_a_file_that_cannot_be_used_is_a_sentence(tmp_path):
    folder = GlossaryFolder(tmp_path)
    folder.path("de").mkdir()
    terms, message = folder.read("de")
    assert terms == ()
    assert str(folder.path("de")) in str(message)
    folder.path("fr").write_bytes(b"\xff\0")
    terms, message = folder.read("fr")
    assert terms == ()
    assert "fr.tsv" in str(message)
    with pytest.raises(ContextError):
        read_terms(tmp_path / "none.tsv")


def test_a_glossary_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    message = write_terms(tmp_path / "file" / "de.tsv", (("a", "b"),))
    assert str(tmp_path / "file" / "de.tsv") in str(message)
