"""How pairs of a file become ids."""

import pytest

from tests.support.fakes import tiny_tokenizer
from training.trainer.samples.examples import TokenizedPair
from training.trainer.samples.pairs import by_characters, tokenize


@pytest.mark.parametrize("needs", [(2, 5), None])
def test_a_character_needs_what_its_word_needs_and_further_ones_of_a_token_have_no_ids(needs):
    begun = [1, 0, 2, 1]  # id 0 begins a character, 1 goes on, 2 begins two
    pair = by_characters(TokenizedPair(((7,), (8,)), ((1, 0, 1, 2), (3, 3)), needs), begun)
    assert pair.source == ((7,), (8,))
    assert pair.target == ((1, 0, 1), (2,), (), (3,), (3,))
    assert pair.needs == (None if needs is None else (2, 2, 2, 5, 5))


def test_pairs_are_encoded_word_by_word_and_the_long_ones_left_out(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("ab cd\tef gh\tone\t1 2\nab\tcd\ttwo\t\n", encoding="utf-8")
    tokenizer = tiny_tokenizer()
    long, short = tokenize({"de": path}, tokenizer, 99)
    assert [tokenizer.decode(word) for word in long.pair.source] == [" ab", " cd"]
    assert [tokenizer.decode(word) for word in long.pair.target] == [" ef", " gh"]
    assert (long.pair.needs, long.language, long.corpus) == ((1, 2), "de", "one")
    assert (short.pair.source, short.pair.needs) == (long.pair.source[:1], None)
    n_tokens = sum(map(len, long.pair.source + long.pair.target))
    assert len(list(tokenize({"de": path}, tokenizer, n_tokens))) == 2
    assert [one.corpus for one in tokenize({"de": path}, tokenizer, n_tokens - 1)] == ["two"]
    (apart, _) = tokenize({"zh": path}, tokenizer, 99)
    assert len(apart.pair.target) == len("efgh")
