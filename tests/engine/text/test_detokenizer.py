import random

import pytest

from engine.models.encoder_decoder.tokenizer import make_decoder
from engine.text.detokenizer import Detokenizer
from tests.support.fakes import tiny_tokenizer

ALPHABET = "aé漢🙂\u0627\u202e ב👩‍👩‍👧é\u00a0\t"


@pytest.fixture
def decoder():
    return tiny_tokenizer().backend_tokenizer


def spelt(text):
    return tiny_tokenizer().encode(text, add_special_tokens=False)


def random_text(rng):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(24)))


def test_feeding_one_by_one_equals_decoding_at_once(decoder):
    rng = random.Random(0)
    for _ in range(300):
        text = random_text(rng)
        detokenizer = Detokenizer(decoder)
        assert "".join(map(detokenizer.feed, spelt(text))) + detokenizer.flush() == text.lstrip()


def test_ids_that_spell_no_text_give_what_decoding_at_once_gives(decoder):
    rng = random.Random(0)
    for _ in range(500):
        ids = [rng.randrange(len(tiny_tokenizer())) for _ in range(rng.randrange(16))]
        detokenizer = Detokenizer(decoder)
        piecewise = "".join(map(detokenizer.feed, ids)) + detokenizer.flush()
        assert piecewise == decoder.decode(ids, skip_special_tokens=True).lstrip()


def test_a_character_appears_only_when_its_last_byte_has_come(decoder):
    for character in ("é", "漢", "🙂"):
        ids = spelt(character)
        assert len(ids) == len(character.encode()) > 1
        detokenizer = Detokenizer(decoder)
        pieces = [detokenizer.feed(id_) for id_ in ids]
        assert pieces == [""] * (len(ids) - 1) + [character]


def test_what_was_returned_is_never_taken_back(decoder):
    rng = random.Random(0)
    for _ in range(100):
        text = random_text(rng).lstrip()
        detokenizer = Detokenizer(decoder)
        shown = ""
        for id_ in spelt(text):
            shown += detokenizer.feed(id_)
            assert text.startswith(shown)


def test_a_character_whose_last_byte_never_comes_shows_as_a_replacement(decoder):
    detokenizer = Detokenizer(decoder)
    assert [detokenizer.feed(id_) for id_ in spelt(" a🙂")[:-1]] == ["a", "", "", ""]
    assert detokenizer.flush() == "\ufffd"


def test_flushing_twice_says_nothing_new(decoder):
    detokenizer = Detokenizer(decoder)
    detokenizer.feed(spelt("🙂")[0])
    assert detokenizer.flush() != ""
    assert detokenizer.flush() == ""


def test_markers_are_no_text(decoder):
    tokenizer = tiny_tokenizer()
    detokenizer = Detokenizer(decoder)
    assert "".join(map(detokenizer.feed, tokenizer.all_special_ids)) + detokenizer.flush() == ""


def test_bytes_that_spell_no_character_give_what_decoding_at_once_gives():
    """Byte fallback decodes a run of bytes together: one wrong byte spoils those before it."""
    tokens = ["<unk>", "</s>", "▁a", "b", *(f"<0x{byte:02X}>" for byte in "é漢🙂".encode())]
    backend = make_decoder(tokens, frozenset({"</s>"}), "<unk>")
    rng = random.Random(0)
    for _ in range(500):
        ids = [rng.randrange(1, len(tokens)) for _ in range(rng.randrange(16))]
        detokenizer = Detokenizer(backend)
        piecewise = "".join(map(detokenizer.feed, ids)) + detokenizer.flush()
        assert piecewise == backend.decode(ids, skip_special_tokens=True).lstrip()


def test_characters_of_single_bytes_appear_when_the_run_of_bytes_ends():
    tokens = ["<unk>", "▁a", *(f"<0x{byte:02X}>" for byte in "é漢".encode())]
    detokenizer = Detokenizer(make_decoder(tokens, frozenset(), "<unk>"))
    assert [detokenizer.feed(id_) for id_ in range(1, 7)] == ["a", "", "", "", "", ""]
    assert detokenizer.feed(1) == "é漢 a"
