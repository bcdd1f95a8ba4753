"""A tokenizer is read without transformers, and what only transformers supports is refused."""

import json
import random

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from engine.models.encoder_decoder.tokenizer import make_decoder
from engine.text.tokenizer import Detokenizer, check_ids, read_plain_tokenizer
from tests.support.fakes import tiny_tokenizer

TOKENS = ["<unk>", "</s>", "a", "b"]


def write(folder, **settings):
    backend = Tokenizer(models.WordLevel(dict(zip(TOKENS, range(4), strict=True)), "<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.add_special_tokens([AddedToken(one, special=True) for one in ("</s>", "<eor>")])
    backend.save(str(folder / "tokenizer.json"))
    own = {"unk_token": "<unk>", "eos_token": "</s>", "extra_special_tokens": ["<eor>"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(own | settings))
    return folder


def test_words_and_markers_are_those_of_the_files(tmp_path):
    one = read_plain_tokenizer(write(tmp_path))
    assert one.encode("a c b</s>") == [2, 0, 3, 1]
    assert 1 not in one.encode("a </s>", split_special_tokens=True)
    assert (one.eos_token, one.unk_token_id, one.chat_template) == ("</s>", 0, None)
    assert one.all_special_ids == [1, 0, 4]
    assert one.added_tokens_encoder == {"</s>": 1, "<eor>": 4}
    assert one.get_vocab() == dict(zip([*TOKENS, "<eor>"], range(5), strict=True))
    assert len(one) == 5
    assert one.convert_ids_to_tokens([4, 9]) == ["<eor>", None]
    assert (one.convert_tokens_to_ids("b"), one.convert_tokens_to_ids("z")) == (3, None)


def test_a_tokenizer_may_lack_markers_and_have_a_template(tmp_path):
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
    one = read_plain_tokenizer(write(tmp_path, unk_token=None, eos_token=None))
    assert (one.eos_token, one.unk_token_id) == (None, None)
    assert one.chat_template == "{{ messages }}"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"add_prefix_space": True}, "sets 'add_prefix_space'"),
        ({"tokenizer_class": "Mine"}, "sets 'tokenizer_class' to 'Mine'"),
        ({"eos_token": "<other>"}, "marker"),
        ({"extra_special_tokens": ["<other>"]}, "marker"),
        ({"eos_token": 5}, "'eos_token'"),
    ],
)
def test_settings_that_would_change_the_ids_are_refused(tmp_path, settings, said):
    with pytest.raises(ValueError, match=said):
        read_plain_tokenizer(write(tmp_path, **settings))


def test_settings_that_change_nothing_are_taken(tmp_path):
    write(tmp_path, add_prefix_space=False, sp_model_kwargs={}, model_max_length=7)
    assert len(read_plain_tokenizer(tmp_path)) == 5


def test_every_id_needs_a_row_of_the_embeddings(tmp_path):
    one = read_plain_tokenizer(write(tmp_path))
    check_ids(one, 5)
    check_ids(one, None)
    with pytest.raises(ValueError, match="ids up to 4, and its embeddings 4 rows"):
        check_ids(one, 4)
    one.all_special_ids.append(None)
    with pytest.raises(ValueError, match="marker"):
        check_ids(one, 5)


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
        at_once = decoder.decode(ids, skip_special_tokens=True).lstrip()
        assert piecewise == at_once.replace("\ufffd", "")


def test_a_character_appears_only_when_its_last_byte_has_come(decoder):
    for character in ("é", "漢", "🙂"):
        ids = spelt(character)
        assert len(ids) == len(character.encode()) > 1
        detokenizer = Detokenizer(decoder)
        pieces = [detokenizer.feed(id_) for id_ in ids]
        assert pieces == [""] * (len(ids) - 1) + [character]


def test_a_character_whose_last_byte_never_comes_shows_nothing(decoder):
    detokenizer = Detokenizer(decoder)
    assert [detokenizer.feed(id_) for id_ in spelt(" a🙂")[:-1]] == ["a", "", "", ""]
    assert detokenizer.flush() == detokenizer.flush() == ""


def test_bytes_that_spell_no_character_give_what_decoding_at_once_gives():
    """Byte fallback decodes a run of bytes together: one wrong byte spoils those before it."""
    tokens = ["<unk>", "</s>", "▁a", "b", *(f"<0x{byte:02X}>" for byte in "é漢🙂".encode())]
    backend = make_decoder(tokens, frozenset({"</s>"}), "<unk>")
    rng = random.Random(0)
    for _ in range(500):
        ids = [rng.randrange(1, len(tokens)) for _ in range(rng.randrange(16))]
        detokenizer = Detokenizer(backend)
        piecewise = "".join(map(detokenizer.feed, ids)) + detokenizer.flush()
        at_once = backend.decode(ids, skip_special_tokens=True).lstrip()
        assert piecewise == at_once.replace("\ufffd", "")


def test_characters_of_single_bytes_appear_when_the_run_of_bytes_ends():
    tokens = ["<unk>", "▁a", *(f"<0x{byte:02X}>" for byte in "é漢".encode())]
    detokenizer = Detokenizer(make_decoder(tokens, frozenset(), "<unk>"))
    assert [detokenizer.feed(id_) for id_ in range(1, 7)] == ["a", "", "", "", "", ""]
    assert detokenizer.feed(1) == "é漢 a"
