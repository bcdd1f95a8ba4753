import random

from transformers import PreTrainedTokenizerFast

from engine.models.model_card import read_card
from engine.text.prompt import make_prompt
from tests.support.fakes import random_word, tiny_tokenizer, tiny_weights
from training.trainer.tokenizer import (
    ASSISTANT,
    BEGIN,
    END,
    END_OF_SOURCE,
    END_OF_WRITE,
    LANGUAGES,
    PAD,
    USER,
    language_tag,
    save_tokenizer,
    train_tokenizer,
)

MARKERS = [PAD, BEGIN, END, USER, ASSISTANT, END_OF_WRITE, END_OF_SOURCE]


def spelt(text):
    return tiny_tokenizer().encode(text, add_special_tokens=False)


def test_every_text_comes_back_from_its_ids():
    rng = random.Random(0)
    for _ in range(300):
        text = "".join(
            rng.choice("ab .,é漢🙂\u05d0\u202e\n\t\x00'12") for _ in range(rng.randrange(20))
        )
        assert tiny_tokenizer().decode(spelt(text)) == text


def test_every_marker_and_every_language_is_one_token():
    tags = [language_tag(code) for code in LANGUAGES]
    ids = [spelt(marker) for marker in [*MARKERS, *tags]]
    assert all(len(one) == 1 for one in ids)
    assert len({one for (one,) in ids}) == len(ids)


def test_digits_stand_alone():
    tokenizer = train_tokenizer(["2024 2024 2024 1945 1945"] * 50, vocabulary=320, languages=["de"])
    pieces = tokenizer.tokenize(" 2024 a99")
    assert [piece for piece in pieces if any(c.isdigit() for c in piece)] == list("202499")


def test_what_is_saved_is_loaded_again(tmp_path):
    tokenizer, card = tiny_tokenizer(), tiny_weights().card
    save_tokenizer(tokenizer, card, tmp_path)
    again = PreTrainedTokenizerFast.from_pretrained(tmp_path, local_files_only=True)
    assert read_card(tmp_path) == card
    rng = random.Random(0)
    text = " ".join(random_word(rng) for _ in range(50)) + " 漢🙂 3.5" + "".join(MARKERS)
    assert again.encode(text) == tokenizer.encode(text)
    assert make_prompt(again, card, "de") == make_prompt(tokenizer, card, "de")
