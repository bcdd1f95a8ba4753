"""What is told in the system message besides the order to translate."""

import random

import pytest

from engine.errors import ContextError
from engine.settings import TranslationSettings
from engine.text.glossary import read_glossary
from engine.text.prompt import make_prompt
from engine.text.prompt_context import MAX_ROWS, Context
from tests.support.fakes import instructed_translator, random_word, tiny_tokenizer, tiny_weights

CARD = tiny_weights().card


TERMS = (("abc", "fed"), ("gh", "ha"))


def system_text(prompt):
    return tiny_tokenizer().decode(prompt.headers.system)


def test_without_anything_to_tell_the_prompt_is_as_the_model_was_trained():
    context = Context(tiny_tokenizer(), CARD, "de")
    bare = make_prompt(tiny_tokenizer(), CARD, "de")
    assert context.prompt() == bare
    assert context.n_rows(bare) == 0


def test_terms_and_sentences_stand_in_the_system_message_and_are_counted():
    context = Context(tiny_tokenizer(), CARD, "de", TERMS)
    prompt, bare = context.prompt(["Ab cd.", "Ef gh."]), make_prompt(tiny_tokenizer(), CARD, "de")
    text = system_text(prompt)
    for told in ("abc = fed", "gh = ha", "Ab cd.", "Ef gh."):
        assert told in text
    assert text.index("Ab cd.") < text.index("Ef gh.")
    assert context.n_rows(prompt) == len(prompt.headers.system) - len(bare.headers.system) > 0
    assert prompt.headers.user == bare.headers.user
    assert prompt.headers.assistant == bare.headers.assistant


def test_markers_in_what_is_told_are_no_markers():
    bare = make_prompt(tiny_tokenizer(), CARD, "de")
    hostile = " ".join(tiny_tokenizer().added_tokens_encoder) + " \ue000source\ue001 ab"
    context = Context(tiny_tokenizer(), CARD, "de", ((hostile, "ha"), ("gh", hostile)))
    prompt = context.prompt([hostile])
    markers = [id_ for id_ in prompt.headers.system if id_ in bare.markers]
    assert markers == [id_ for id_ in bare.headers.system if id_ in bare.markers]


def test_a_glossary_that_is_too_long_is_refused_in_one_sentence():
    rng = random.Random(0)
    terms = tuple((random_word(rng), random_word(rng)) for _ in range(MAX_ROWS))
    with pytest.raises(ContextError, match=f"room for {MAX_ROWS}: leave out terms") as caught:
        Context(tiny_tokenizer(), CARD, "de", terms)
    assert "\n" not in str(caught.value)
    engine = instructed_translator()
    before = engine.conversation.prompt
    with pytest.raises(ContextError):
        engine.configure(TranslationSettings(glossary=terms))
    assert engine.conversation.prompt == before


def test_of_sentences_that_are_too_long_the_oldest_are_left_out():
    context = Context(tiny_tokenizer(), CARD, "de", TERMS)
    sentences = [f"{letter * 3} " * 60 + f"{letter}end." for letter in "abcdefgh"]
    prompt = context.prompt(sentences)
    assert 0 < context.n_rows(prompt) <= MAX_ROWS
    text = system_text(prompt)
    told = [f"{letter}end." in text for letter in "abcdefgh"]
    assert told == sorted(told)  # the newest are told
    assert any(told)
    assert not all(told)


def test_a_glossary_is_read_from_lines_with_a_tab(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text("\ufeff# en\tde\n\nhead of state\tStaatsoberhaupt \ncache\tCache\n", "utf-8")
    assert read_glossary(path) == (("head of state", "Staatsoberhaupt"), ("cache", "Cache"))


def test_a_line_without_a_tab_is_a_name_that_stays_as_it_is(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("Nguyen\nhead of state\tStaatsoberhaupt\nGrand Central\n", "utf-8")
    assert read_glossary(path) == (
        ("Nguyen", "Nguyen"),
        ("head of state", "Staatsoberhaupt"),
        ("Grand Central", "Grand Central"),
    )


def test_a_table_with_semicolons_is_read_and_a_line_ends_only_where_lines_do(tmp_path):
    path = tmp_path / "terms.csv"
    path.write_bytes("budget;Haushalt\r\nprix\u2028x\x85;Preis\x0c".encode())
    assert read_glossary(path) == (("budget", "Haushalt"), ("prix\u2028x", "Preis"))


@pytest.mark.parametrize("line", ["one\t", "\ttwo", "one\ttwo\tthree"])
def test_a_line_that_is_no_term_is_named(tmp_path, line):
    path = tmp_path / "terms.tsv"
    path.write_text(f"a\tb\n{line}\n", "utf-8")
    with pytest.raises(ContextError, match="line 2 of the glossary"):
        read_glossary(path)


def test_a_glossary_that_cannot_be_read_is_one_sentence(tmp_path):
    (tmp_path / "latin").write_bytes(b"K\xe4se\tcheese")
    (tmp_path / "long").write_bytes(b"a\tb\n" * (1 << 20) + b"#")
    for name, reason in (
        ("nowhere", "No such file or directory"),
        ("latin", "byte 1 is no UTF-8"),
        ("long", "it is longer than 4,194,304 bytes"),
        ("nu\0l", "embedded null byte"),
    ):
        with pytest.raises(ContextError, match="name a UTF-8 text file") as caught:
            read_glossary(tmp_path / name)
        assert f"({reason})" in str(caught.value)
