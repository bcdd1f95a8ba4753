import pytest

from benchmarks.faithfulness import Counts, n_invented, n_lost, names_of, recognised
from engine.text.written import HarmfulWords


@pytest.mark.parametrize(
    ("source", "caption", "invented", "lost"),
    [
        ("It grew by 12.5 percent.", "Es wuchs um 12,5 Prozent.", 0, 0),
        ("It grew by 12.5 percent.", "Es wuchs um 12 Prozent.", 1, 1),
        ("It grew by 12.5 percent.", "Es wuchs um 42 Prozent.", 1, 1),
        ("We meet at 9:30.", "Wir treffen uns um 9 Uhr 30.", 0, 0),
        ("We meet at nine.", "Wir treffen uns um 9.", 0, 0),
        ("We meet.", "Wir treffen uns um 9.", 1, 0),
        ("45,000 of 3 million", "45.000 von 3 Millionen", 0, 0),
    ],
)
def test_numbers_are_invented_or_lost(source, caption, invented, lost):
    words = source.split()
    assert n_invented(words, caption, "de") == invented
    assert n_lost(words, caption, "de") == lost


def test_names_stand_in_capitals_on_both_sides():
    source = "Yesterday Anna sent BX7749 to anna@example.com, in May."
    reference = "Gestern schickte Anna BX7749 an anna@example.com, im Mai."
    assert names_of(source, reference) == ["Anna", "BX7749", "anna@example.com"]
    assert names_of("It is Anna from Acme.", "C'est Anna, d'Acme.") == ["Anna", "Acme"]


def test_a_caption_is_counted():
    counts, harmful = Counts(), HarmfulWords("de")
    counts.take("Anna met Ben at 9", "Anna traf Ben um 9", "Anna traf Ben um 9", harmful, "de")
    counts.take("Anna met Ben at 9", "Anna traf Ben um 9", "Sie ermordete ihn um 8", harmful, "de")
    counts.take("Anna met Ben at 9", "Anna traf Ben um 9", "Anna traf Ben", harmful, "de")
    counts.take("He murdered them", "Er ermordete sie", "Er ermordete sie", harmful, "de")
    assert (counts.lines, counts.with_numbers, counts.numbers_right) == (4, 3, 1)
    assert (counts.numbers_invented, counts.harmful) == (1, 1)
    assert (counts.names, counts.names_kept) == (3, 2)


def test_lines_of_a_recogniser_are_the_same_in_each_run():
    pairs = [(f"Well, we met at the station {n} days ago.", "x") for n in range(50)]
    heard = recognised(pairs)
    assert heard == recognised(pairs)
    assert not any("." in source or "," in source for source, _ in heard)
    assert sum(source.islower() for source, _ in heard) > len(heard) / 2
