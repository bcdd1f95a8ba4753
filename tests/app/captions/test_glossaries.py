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
from engine.text.terms import LONGEST, MAX_TERMS


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
    assert sound_terms(pairs) == (("Slot", "Platz"), ("other", "other"))


def test_no_more_terms_are_used_than_a_glossary_takes():
    pairs = [(f"term {number}", "") for number in range(MAX_TERMS + 2)]
    assert faults(pairs)[MAX_TERMS - 1 :] == [None, Fault.MANY, Fault.MANY]
    assert len(sound_terms(pairs)) == MAX_TERMS


def test_each_language_has_a_file_of_its_own_which_comes_back(tmp_path):
    folder = GlossaryFolder(tmp_path / "glossaries")
    assert folder.read("de") == ((), None)
    assert folder.write("de", (("slot", "Platz"),)) is None
    assert folder.write("fr", (("slot", "créneau"),)) is None
    assert folder.read("de") == ((("slot", "Platz"),), None)
    assert folder.read("fr") == ((("slot", "créneau"),), None)
    assert folder.path("de").name == "de.tsv"


def test_a_language_that_is_a_path_is_refused_and_nothing_is_read_or_written(tmp_path):
    folder = GlossaryFolder(tmp_path / "glossaries")
    (tmp_path / "secret.tsv").write_text("a\tb\n")
    terms, message = folder.read("../secret")
    assert terms == ()
    assert message is not None
    assert folder.write("../other", (("a", "b"),)) is not None
    assert not (tmp_path / "other.tsv").exists()


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
