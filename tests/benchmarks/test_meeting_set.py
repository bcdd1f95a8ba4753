import pytest

from benchmarks.meeting_set import SETS, Sentence, numbers_in, numbers_right, read_set, score

languages = pytest.mark.parametrize("language", sorted(SETS))


@languages
def test_the_set_is_large_and_its_names_stand_on_both_sides(language):
    sentences = read_set(language)
    assert len(sentences) >= 150
    assert len({one.source for one in sentences}) == len(sentences)
    for one in sentences:
        for name in one.names:
            assert name in one.source
            assert name in one.reference
    assert sum(bool(one.numbers) for one in sentences) >= 30
    assert sum(bool(one.names) for one in sentences) >= 30


@pytest.mark.parametrize(
    ("caption", "right"),
    [
        ("Unser Umsatz wuchs um 12,5 Prozent auf 4,2 Millionen.", True),
        ("Auf 4,2 Millionen stieg er, um 12,5 Prozent.", True),
        ("Unser Umsatz wuchs um 12.5 Prozent auf 4,2 Millionen.", False),
        ("Unser Umsatz wuchs um 12,5 Prozent.", False),
        ("Unser Umsatz wuchs um 12,5 Prozent auf 4,2 Millionen, 3 mehr.", False),
    ],
)
def test_numbers_are_right_when_all_came_and_no_other(caption, right):
    sentence = Sentence("", "Er wuchs um 12,5 Prozent auf 4,2 Millionen.", ())
    assert numbers_right(sentence, caption) == right


def test_every_language_has_the_same_sentences():
    sources = [[one.source for one in read_set(language)] for language in SETS]
    assert len(sources) == 3
    assert sources[0] == sources[1] == sources[2]


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f"])
def test_thousands_may_be_parted_by_any_space(space):
    assert numbers_in(f"Elle coûte 45{space}000 dollars, à 9{space}h{space}30.") == (
        *("45 000", "9", "30"),
    )


@languages
def test_a_perfect_translation_has_every_point(language):
    sentences = read_set(language)
    result = score("read:3", sentences, [one.reference for one in sentences], language)
    assert (round(result.bleu), result.numbers_right, result.names_kept) == (100, 100, 100)
