import random

import pytest
import tokenizers

from engine.errors import ContextError, ModelError
from engine.models.model_card import Language
from engine.settings import TranslationSettings
from engine.text.glossary import read_glossary
from engine.text.prompt import (
    MAX_ROWS,
    Context,
    full_stop_ids,
    joined_ids,
    make_prompt,
    turn_end,
    word_ids,
    word_starts,
    words_begun,
)
from engine.text.tokenizer import PlainTokenizer
from tests.support.chat_templates import CHATML, GEMMA_LIKE, WITHOUT_SYSTEM, card, tokenizer_with
from tests.support.fakes import instructed_translator, random_word, tiny_tokenizer, tiny_weights
from tests.support.strangers import refused

STRIPPING = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message.role != 'system' %}<|{{ message.role }}|>{% endif %}"
    "{{ message.content | trim }}{% endfor %}"
)
SYSTEM_IN_FIRST_TURN = (
    "{% if messages[0].role == 'system' %}{% set lead = messages[0].content + '\n' %}"
    "{% set turns = messages[1:] %}"
    "{% else %}{% set lead = '' %}{% set turns = messages %}{% endif %}"
    "{% for message in turns %}<|{{ message.role }}|>{{ lead if loop.first }}{{ message.content }}"
    "{% endfor %}"
)


def text_of(ids):
    return tiny_tokenizer().decode(ids)


def headers_of(template, system="<|de|>"):
    languages = {"de": Language(name="German", system=system)}
    headers = make_prompt(tokenizer_with(template), card(languages=languages), "de").headers
    return tuple(map(text_of, headers))


def refusal(template, **changes):
    said = refused(ModelError, make_prompt, tokenizer_with(template), card(**changes), "de")
    assert "tiny" in said
    return said


def test_the_headers_of_our_own_models_are_one_token_each_but_for_the_system_prompt():
    for language in ("de", "fr"):
        headers = make_prompt(tiny_tokenizer(), card(), language).headers
        assert tuple(map(len, headers)) == (2, 1, 1, 1)
        assert tuple(map(text_of, headers)) == (
            f"<|begin|><|{language}|>",
            "<|user|>",
            "<|assistant|>",
            "<|user|>",
        )


def test_headers_are_read_off_the_template():
    assert headers_of(CHATML, "Translate to German.") == (
        "<|begin|>system\nTranslate to German.",
        "<|end|>\n<|begin|>user\n",
        "<|end|>\n<|begin|>assistant\n",
        "<|end|>\n<|begin|>user\n",
    )


def test_a_template_that_strips_messages_has_the_same_headers():
    assert headers_of(STRIPPING, " Translate. ") == (
        "<|begin|>Translate.",
        "<|user|>",
        "<|assistant|>",
        "<|user|>",
    )


def test_headers_and_texts_put_together_are_the_conversation():
    tokenizer = tokenizer_with(CHATML)
    prompt = make_prompt(tokenizer, card(), "fr")
    conversation = tokenizer.apply_chat_template(
        [
            {"role": "system", "content": "<|fr|>"},
            {"role": "user", "content": "one two"},
            {"role": "assistant", "content": "un deux"},
            {"role": "user", "content": "three"},
        ],
        tokenize=False,
    )
    system, user, assistant, _ = map(text_of, prompt.headers)
    pieced = f"{system}{user}one two{assistant}un deux{user}three"
    assert conversation.startswith(pieced)


@pytest.mark.parametrize("template", [None, 3, [], {}, {"tool_use": CHATML}, {"default": None}])
def test_a_model_without_a_template_is_refused(template):
    assert "has no chat template" in refusal(template)


def test_of_several_templates_the_default_one_is_taken():
    several = {"tool_use": STRIPPING, "default": CHATML}
    assert headers_of(several, "Translate.") == headers_of(CHATML, "Translate.")


@pytest.mark.parametrize(
    "template",
    [
        "",
        "{{ messages[-1].content }}",
        "{% for message in messages %}{{ message.content | upper }}{% endfor %}",
        "{% for message in messages %}{{ message.content }}{{ message.content }}{% endfor %}",
        "{% for message in messages %}{{ message.content | reverse }}{% endfor %}",
    ],
)
def test_a_template_that_alters_messages_is_refused(template):
    assert "alters messages" in refusal(template)


def test_a_template_that_puts_the_system_text_into_the_first_turn_has_no_first_header():
    assert headers_of(SYSTEM_IN_FIRST_TURN, "Translate.") == (
        "<|user|>Translate.\n",
        "<|user|>",
        "<|assistant|>",
        "",
    )


def test_a_template_without_a_system_role_gets_the_system_text_before_the_first_source():
    assert headers_of(WITHOUT_SYSTEM, "Translate.") == (
        "<|user|>Translate.\n\n",
        "<|user|>",
        "<|assistant|>",
        "",
    )


def test_a_template_that_tells_the_date_tells_the_same_one_every_day():
    today = "{{ strftime_now('%d %b %Y') }}"
    dated = f"{{{{ date_string if date_string is defined else {today[3:-3]} }}}}{CHATML}"
    assert headers_of(dated, "Translate.")[0].startswith("26 Jul 2024")


@pytest.mark.parametrize(
    "template",
    ["{{ raise_exception('no') }}", "{% for message in messages %}{{ message.content }"],
)
def test_a_template_that_cannot_be_rendered_is_refused_in_one_sentence(template):
    assert "chat template" in refusal(template)


@pytest.mark.parametrize("marker", ["end_of_source", "end_of_write", "end_of_target"])
def test_a_marker_the_tokenizer_does_not_know_is_refused(marker):
    template = tiny_tokenizer().chat_template
    assert "does not know the marker '<|nobody|>'" in refusal(template, **{marker: "<|nobody|>"})


def test_an_unknown_language_is_refused():
    with pytest.raises(ModelError, match="not to 'xx'"):
        make_prompt(tiny_tokenizer(), card(), "xx")


def test_a_policy_may_choose_only_the_marker_that_ends_its_writes():
    prompt = make_prompt(tiny_tokenizer(), card(), "de")
    assert set(tiny_tokenizer().all_special_ids) <= prompt.markers
    assert prompt.markers - prompt.suppressed(ends_writes=True) == {prompt.end_of_write}
    assert prompt.markers - prompt.suppressed(ends_writes=False) == {prompt.end_of_target}


def test_words_encoded_one_by_one_give_the_ids_of_the_text():
    rng = random.Random(0)
    extra = ["3.5", "it's", "漢字", "🙂", "(a)", "U.S.", "\u0627", "--", "don't!", "100%"]
    for _ in range(100):
        words = [rng.choice([random_word(rng), *extra]) for _ in range(rng.randint(1, 8))]
        one_by_one = [id_ for word in words for id_ in word_ids(tiny_tokenizer(), word)]
        text = " " + " ".join(words)
        assert one_by_one == tiny_tokenizer().encode(text, add_special_tokens=False)


def test_a_word_that_is_spelt_like_a_marker_is_text():
    """Else a person who types it would end the source, or the conversation."""
    tokenizer = tiny_tokenizer()
    for marker in tokenizer.all_special_tokens:
        for word in (marker, f"a{marker}b"):
            ids = word_ids(tokenizer, word)
            assert not set(ids) & set(tokenizer.all_special_ids)
            assert tokenizer.decode(ids) == " " + word


@pytest.mark.parametrize(
    ("template", "token"),
    [(CHATML, "<|end|>"), (GEMMA_LIKE, "<|end_of_write|>"), (None, "<|end|>")],
)
def test_a_turn_ends_as_the_template_ends_it_and_else_as_the_tokenizer_says(template, token):
    assert turn_end(tokenizer_with(template), "someone") == token


def test_what_opens_a_turn_does_not_end_one():
    assert turn_end(tiny_tokenizer(), "tiny") == tiny_tokenizer().eos_token


class Pieces:
    """A tokenizer whose tokens are named; a word is cut into letters, or is a token itself."""

    def __init__(self, *tokens):
        self.tokens = tokens

    def __len__(self):
        return len(self.tokens)

    def encode(self, text, **_):
        text = text.replace(" ", "▁")
        parts = [text] if text in self.tokens else text
        return [self.tokens.index(part) for part in parts]

    def convert_ids_to_tokens(self, ids):
        return [self.tokens[id_] for id_ in ids]


def test_a_full_stop_is_what_it_adds_to_its_word_and_else_encoded_alone():
    apart = Pieces("▁", "a", "b", ".")
    assert full_stop_ids(apart, "ab", "") == ()
    assert full_stop_ids(apart, "ab", ".") == (3,)
    assert full_stop_ids(apart, "ab", "..") == (3, 3)
    together = Pieces("▁", "a", "b", ".", "▁ab.")
    assert full_stop_ids(together, "ab", ".") == (3,)


def test_a_word_joins_the_one_before_unless_the_tokenizer_adds_a_blank():
    assert joined_ids(Pieces("▁", "a", "b"), "ba") == [2, 1]
    for mark in ("▁b", "Ġb"):
        adding = Pieces(mark, "a")
        adding.encode = lambda *_, **__: [0, 1]
        assert joined_ids(adding, "ba") == []


@pytest.mark.parametrize(
    ("language", "tokens", "begun"),
    [
        ("de", ("▁", "▁ab", "cd", "Ġef"), [1, 1, 0, 1]),
        ("zh", ("▁", "▁今天", "好", "a b"), [0, 2, 1, 2]),
        ("zh", ("<0x20>", "<0x21>", "<0x7F>", "<0x80>", "<0xBF>", "<0xC0>"), [0, 1, 1, 0, 0, 1]),
        ("zh", ("Ġ", "Ġa", "ä", "¡", "¿", "À", "Ģ", "Ń", "ń"), [0, 1, 1, 0, 0, 1, 0, 0, 1]),
        ("zh", ("¡", "¿"), [1, 1]),
    ],
)
def test_a_token_begins_words_and_without_blanks_characters(language, tokens, begun):
    assert words_begun(Pieces(*tokens), language) == begun


def test_a_word_on_which_a_pattern_of_the_tokenizer_gives_up_is_encoded_in_parts():
    tokenizer = PlainTokenizer(
        tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0, "c": 1}, unk_token="?")),
        {},
        (),
        None,
    )
    pattern = tokenizers.Regex("(x+x+)+y")
    tokenizer.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(pattern, "isolated")
    word = "x" * 40
    with pytest.raises(BaseException, match="retry-limit-in-match over"):
        tokenizer.encode(" " + word)
    ids = word_ids(tokenizer, word)
    assert set(ids) <= {0, 1}
    assert 1 < len(ids) < 10


def test_what_the_tokens_of_a_model_begin_is_found_once_and_not_for_each_session():
    tokenizer = tiny_tokenizer()
    assert words_begun(tokenizer, "de") is words_begun(tokenizer, "de")
    assert word_starts(tokenizer) is word_starts(tokenizer)


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
    before = engine.prompt
    with pytest.raises(ContextError):
        engine.configure(TranslationSettings(glossary=terms))
    assert engine.prompt == before


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


@pytest.mark.parametrize(
    ("content", "terms"),
    [
        (
            "\ufeff# en\tde\n\nhead of state\tStaatsoberhaupt \ncache\tCache\n",
            (("head of state", "Staatsoberhaupt"), ("cache", "Cache")),
        ),
        ("Nguyen\na b\tA\nGrand Central\n",  # a name alone stays as it is
         (("Nguyen", "Nguyen"), ("a b", "A"), ("Grand Central", "Grand Central"))),
        ("budget;Haushalt\r\nprix\u2028x\x85;Preis\x0c",  # a line ends only where lines do
         (("budget", "Haushalt"), ("prix\u2028x", "Preis"))),
    ],
)  # fmt: skip
def test_a_glossary_is_read_from_lines_with_a_tab_or_a_semicolon_or_a_name(
    tmp_path, content, terms
):
    path = tmp_path / "terms"
    path.write_bytes(content.encode())
    assert read_glossary(path) == terms


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
