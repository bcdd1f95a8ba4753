"""Test which lines are a talk."""

import pytest

from training.errors import CorpusError
from training.research.talks import Talk, read_talks


@pytest.fixture
def files(tmp_path):
    source, reference, names = (tmp_path / name for name in ("t.en", "t.de", "t.talks"))
    source.write_text("one two\nthree\n four  five six \nseven\n")
    reference.write_text("eins zwei\ndrei\nvier\n\n")
    names.write_text("a\na\nb\na\n")
    return source, reference, names


def test_without_names_all_lines_are_one_talk(files):
    (talk,) = read_talks(*files[:2])
    assert talk.words == ("one", "two", "three", "four", "five", "six", "seven")
    assert talk.references == ("eins zwei", "drei", "vier", "")
    assert talk.lengths == (2, 1, 3, 1)


def test_equal_names_one_after_another_are_a_talk(files):
    talks = read_talks(*files)
    assert [talk.lengths for talk in talks] == [(2, 1), (3,), (1,)]
    assert talks[1] == Talk((" four  five six ",), ("vier",))


def test_each_line_needs_the_name_of_a_talk(files):
    files[2].write_text("a\na\n")
    with pytest.raises(CorpusError, match=r"that has 4 and .*t\.talks has 2"):
        read_talks(*files)
