import random
import unicodedata

import pytest

from engine.text.source import heard, is_rare, plain, read_source

FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


def read(text, **options):
    """What the model reads, and what passes it by."""
    words = read_source(text.split(), ended=True, **options)
    passed = [it for one in words for it in (*one.before, *one.after)]
    return " ".join(one.text for one in words if one.text), passed


@pytest.mark.parametrize(
    ("typed", "form"),
    [
        (unicodedata.normalize("NFD", "Müller"), "Müller"),
        ("We\u200blcome", "Welcome"),
        ("\u200eThe", "The"),
        ("co\u00adoperate", "cooperate"),
        ("\ufeffHello", "Hello"),
        ("ﬁve", "five"),
        ("１２", "12"),
        ("don’t", "don't"),
        ("“Yes”", '"Yes"'),
        ("wait…", "wait..."),
        ("½", "half"),
        ("¾", "3/4"),
        ("2½", "2.5"),
        (FAMILY, FAMILY),
        ("MÃ¼ller", "Müller"),
        ("donâ€™t", "don't"),
        ("â€œyesâ€\x9d", '"yes"'),
        ("M\ufffdller", "Mller"),
        ("AT&amp;T", "AT&T"),
        ("é", "é"),
        ("می\u200cشود", "می\u200cشود"),
    ],
)
def test_a_word_is_brought_into_one_form(typed, form):
    assert plain(typed) == form
    assert plain(form) == form


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("WE WILL START IN FIVE MINUTES.", "We will start in five minutes."),
        ("STOP!", "Stop!"),
        ("NASA WILL LAUNCH IT", "NASA will launch it"),
        ("I WANT THE PDF", "I want the PDF"),
        ("Please DO NOT touch this.", "Please do not touch this."),
        ("The US and IBM agreed.", "The US and IBM agreed."),
        ("NASA started it", "NASA started it"),
    ],
)
def test_a_sentence_in_capitals_is_read_in_small_letters(source, reads):
    assert heard(source).text == reads


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("The custmer's reprot.", "The customer's report."),
        ("An invocice (numnber 7)", "An invoice (number 7)"),
        ("THE CUSTMER WAITS", "The customer waits"),
        ("a frobnicator, please", "a Frobnicator, please"),  # nothing is near
        ("the recreationally contactless invoices", "the recreationally contactless invoices"),
        ("Custmer and Frobnicator", "Custmer and Frobnicator"),  # as names
        ("ask szymon and mariah", "ask Szymon and Mariah"),
        ("Ústí nad Labem, Anna nad Tom", "Ústí nad Labem, Anna and Tom"),
        ("a sunhat on the countertop, unadapted", "a sunhat on the countertop, unadapted"),
        ("rubles and the madre", "Rubles and the Madre"),  # no *rules*, nothing *made*
        ("thats youre problem", "that's you're problem"),
        ("hmm, uhm, kubectl, npm", "hmm, uhm, kubectl, npm"),
    ],
)
def test_a_word_that_no_model_can_know_is_spelt_as_meant_or_read_as_a_name(source, reads):
    assert read(source)[0] == reads


def test_the_terms_of_a_glossary_are_spelt_right():
    assert read("the custmer", terms={"custmer"})[0] == "the custmer"
    assert read("the custmer", english=False)[0] == "the custmer"


@pytest.mark.parametrize(
    "word",
    ["Hello,", "café", "Übung", "Surtitle™", "...", "12%", "naïve", "and/or", "well-known",
     "a_b.pdf", "anna@example.org", "https://example.org/x", "401(k)", "AT&T", "C++", "(yes)",
     "#1", "Inc.®", "\u22125"],
)  # fmt: skip
def test_words_of_a_text_are_translated(word):
    assert read(word) == (word, [])


@pytest.mark.parametrize(
    "word",
    ["😀", "👍🏽", "🇩🇪", "❤️", "Привет,", "東京", "שלום", FAMILY + "!", "→✅", "#MeToo", "@anna",
     "{count}", "{folder}.", "`ls`", "=", "<3", "-->", "|", "a^b", "--help", "/usr/bin", "A*",
     "[1]",
     "foo()", r"C:\x", "≤", "•", "∞", "3×4", "₹500", "50¢", "&&", "%s", ":smile:", "__init__"],
)  # fmt: skip
def test_signs_that_are_rare_in_texts_and_other_scripts_are_passed_on(word):
    assert read(word) == ("", [word])


def test_what_stands_at_a_word_is_passed_on_alone():
    assert read("great👍🏽!") == ("great!", ["👍🏽"])
    assert read("<i>Hello there</i>") == ("Hello there", ["<i>", "</i>"])
    assert read("~30 people") == ("30 people", ["~"])


def test_the_dash_of_a_dialogue_is_passed_on():
    assert read("- No.") == ("No.", ["-"])
    assert read("Yes - no.") == ("Yes - no.", [])


def test_a_sign_that_stands_for_a_word_is_read_as_that_word():
    assert read("Meet me @ 5.") == ("Meet me at 5.", [])


def test_who_only_hesitates_says_nothing():
    assert read("Uh.") == read("Um, uh...") == ("", [])
    assert read("Uh, yes.") == ("Uh, yes.", [])
    assert read_source(["Um,"], ended=False) == []


@pytest.mark.parametrize("word", ["Привет,", "東京", "שלום"])
def test_a_model_that_reads_any_script_translates_all_but_emoji(word):
    other = {"english": False, "any_script": True}
    assert read(word, **other) == (word, [])
    assert read(word + "😀", **other) == (word, ["😀"])
    assert read("twenty-five PERCENT 20€", **other)[0] == "twenty-five PERCENT 20€"


def test_signs_are_rare_and_letters_are_not():
    assert all(map(is_rare, "#<>{}|~^\\`=→★⋅¢₂½\ufffd"))
    assert not any(map(is_rare, "aß漢ก९.,;:!?¿«»„“”‚‘’()-–—…%&/°²€$£+' \n"))


def test_a_source_is_read_however_strange_it_is():
    rng = random.Random(1)
    for _ in range(3000):
        text = "".join(chr(rng.randrange(1, 0x2FF)) for _ in range(rng.randrange(1, 12)))
        words = read_source(text.split(), ended=True)
        assert sum(one.n_words for one in words) == len(text.split())
        assert all(" " not in part for one in words for part in one.text.split())
