"""A tokenizer is read without transformers, and what only transformers supports is refused."""

import json

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from engine.text.tokenizer import check_ids, read_plain_tokenizer

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
