import pytest

from app.captions.glossaries import (
    Fault,
    GlossaryFolder,
    fault_of,
    faults,
    sound_terms,
    write_terms,
)
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


def test_a_glossary_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    message = write_terms(tmp_path / "file" / "de.tsv", (("a", "b"),))
    assert str(tmp_path / "file" / "de.tsv") in str(message)
