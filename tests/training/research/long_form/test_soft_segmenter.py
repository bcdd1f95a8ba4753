"""Test that talks are cut as OmniSTEval cuts them, and that nothing is lost by it."""

import random

import pytest
from omnisteval.alignment import Word, align_sequences, process_alignment
from omnisteval.tokenization import tokenize_words

from training.research.long_form.soft_segmenter import soft_resegment

WORDS = ["der", "Die", "das", "Öl", "öl", "ß", "x,", "y.", "-", "!", "(", "a", "A", "ab", "ba"]
ODD_WORDS = [
    *WORDS,
    "ﬁn",
    "fin",
    "…",
    "Ａ",
    "İ",
    "ı",
    "###",
    "１２",
    "12",
    "🙂",
    "e\u0301",
    "é",
    "—",
]
CHARACTERS = "早上好我们一起去公园。，！!Amy a12Ö éﬁİ"


def words_of(rng, known, n_most):
    return [rng.choice(known) for _ in range(rng.randint(0, n_most))]


def theirs(units, references, *, spaced):
    """Let OmniSTEval say the segment of each unit; None for one that it loses."""
    reference = [Word(unit, seq_id=n) for n, own in enumerate(references) for unit in own]
    translation = [Word(unit, emission_cu=n) for n, unit in enumerate(units)]
    (reference,), (translation,) = (tokenize_words([one], None) for one in (reference, translation))
    aligned = align_sequences(reference, translation, not spaced)
    found = [None] * len(units)
    for word in process_alignment(*aligned, not spaced):
        found[word.emission_cu] = word.seq_id
    return found


def ours(text, references, language):
    parts = soft_resegment(text, references, language)
    return [n for n, part in enumerate(parts) for _ in range(part.start, part.stop)]


@pytest.mark.parametrize("known", [WORDS, ODD_WORDS], ids=["usual", "odd"])
def test_words_are_cut_where_omnisteval_cuts_them(known):
    rng = random.Random(0)
    n_lost = 0
    for _ in range(600):
        some = rng.sample(known, rng.randint(2, len(known)))
        references = [words_of(rng, some, 6) for _ in range(rng.randint(1, 6))]
        units = words_of(rng, some, 25)
        if not any(references):
            continue
        lowered = [[word.lower() for word in own] for own in references]
        expected = theirs(units, lowered, spaced=True)
        found = ours(" ".join(units), [" ".join(own) for own in references], "de")
        n_lost += expected.count(None)
        assert found == [n or 0 for n in expected]
    assert 0 < n_lost < 300


def test_characters_are_cut_where_omnisteval_cuts_them():
    rng = random.Random(1)
    for _ in range(600):
        references = ["".join(words_of(rng, CHARACTERS, 8)) for _ in range(rng.randint(1, 5))]
        text = "".join(words_of(rng, CHARACTERS, 30))
        units = list("".join(text.split()))
        plain = [list("".join(one.split()).lower()) for one in references]
        if not any(plain):
            continue
        expected = theirs(units, plain, spaced=False)
        found = ours(text, references, "zh")
        assert found == [n or 0 for n in expected]


@pytest.mark.parametrize("language", ["de", "zh"])
def test_where_there_is_nothing_to_cut_or_to_cut_by_all_is_in_the_first(language):
    assert [one.text for one in soft_resegment("", ["a", "b"], language)] == ["", ""]
    assert [one.text for one in soft_resegment(" a b ", ["", ""], language)] == ["a b", ""]
