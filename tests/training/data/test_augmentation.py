import random
import re
from datetime import date, time
from itertools import product
from pathlib import Path

import pytest

from training.__main__ import main
from training.data.augmentation import (
    PHRASES,
    as_recognised,
    choose,
    fill,
    join,
    swap_names,
    swap_numbers,
)
from training.data.corpus import SentencePair, read_pairs
from training.data.invented_facts import Number, in_notation

ROOT = Path(__file__).parents[3]
FIELD = re.compile(r"\{(\w+?)2?\}")
CHOICE = re.compile(r"<(\w):([^>]*)>")


def pair(source, target):
    return SentencePair(source, target, "real")


def rng(seed=1):
    return random.Random(seed)


# --- notation -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fact", "english", "german"),
    [
        (Number("12.5", unit="%"), "12.5%", "12,5 %"),
        (Number("12.5", unit="percent"), "12.5 percent", "12,5 Prozent"),
        (Number("4200"), "4200", "4200"),
        (Number("4200", grouped=True), "4,200", "4.200"),
        (Number("1234567.5", grouped=True), "1,234,567.5", "1.234.567,5"),
        (Number("4.2", unit="euros", million=True), "4.2 million euros", "4,2 Millionen Euro"),
        (Number("19.99", unit="$"), "$19.99", "19,99 $"),
        (Number("19.99", unit="€"), "€19.99", "19,99 €"),
        (Number("300", unit="pounds"), "300 pounds", "300 Pfund"),
        (date(2024, 3, 5), "March 5, 2024", "5. März 2024"),
        (time(15, 30), "3:30 pm", "15:30 Uhr"),
        (time(0, 5), "12:05 am", "0:05 Uhr"),
        (time(12, 0), "12 pm", "12 Uhr"),
        (time(12, 5), "12:05 pm", "12:05 Uhr"),
        ("Acme", "Acme", "Acme"),
    ],
    ids=str,
)
def test_a_fact_is_written_as_each_language_writes_it(fact, english, german):
    assert in_notation(fact, "en") == english
    assert in_notation(fact, "de") == german


@pytest.mark.parametrize(
    ("fact", "french", "spanish"),
    [
        (Number("12.5", unit="%"), "12,5 %", "12,5 %"),
        (Number("4200", grouped=True), "4\u202f200", "4.200"),
        (
            Number("4.2", unit="euros", million=True),
            "4,2 millions d'euros",
            "4,2 millones de euros",
        ),
        (date(2024, 3, 5), "5 mars 2024", "5 de marzo de 2024"),
        (time(15, 30), "15 h 30", "15:30"),
        (time(9, 0), "9 h", "9:00"),
        ("Hamburg", "Hambourg", "Hamburgo"),
    ],
    ids=str,
)
def test_a_fact_is_written_as_french_and_spanish_write_it(fact, french, spanish):
    assert in_notation(fact, "fr") == french
    assert in_notation(fact, "es") == spanish


# --- phrases --------------------------------------------------------------------------------------


def phrases(kind):
    """Every phrase of a kind, with its language."""
    for path in sorted(PHRASES.glob(f"{kind}.en-*.tsv")):
        language = path.stem.rpartition("-")[2]
        for phrase in read_pairs([path]):
            yield language, phrase


def test_both_sides_of_a_phrase_have_the_same_fields_and_each_can_be_filled():
    for language, phrase in phrases("meeting"):
        english, other = (sorted(FIELD.findall(text)) for text in (phrase.source, phrase.target))
        assert english == other, phrase
        filled = fill(phrase, language, rng())
        assert "{" not in filled.source + filled.target, phrase


def settled(phrase):
    """Both texts of a phrase under each of its choices."""
    counts = {letter: texts.count("|") + 1 for letter, texts in CHOICE.findall(phrase.source)}
    for numbers in product(*map(range, counts.values())):
        chosen = dict(zip(counts, numbers, strict=True))
        for text in (phrase.source, phrase.target):
            parts = CHOICE.split(text)  # text, letter, alternatives, text ...
            for at in range(1, len(parts), 3):
                parts[at : at + 2] = "", parts[at + 1].split("|")[chosen[parts[at]]]
            whole = "".join(parts)
            yield whole[:1].upper() + whole[1:]


SENSE = ["obligation", "disagreement", "replies", "idioms", "phrasal-verbs", "false-friends"]


@pytest.mark.parametrize("kind", ["meeting", "contrasts", *SENSE])
def test_every_language_has_as_much_and_no_sentence_that_measures_models(kind):
    files = sorted(PHRASES.glob(f"{kind}.en-*.tsv"))
    held_out = {
        text
        for path in (ROOT / "benchmarks").glob("*/en-*.tsv")
        for line in path.read_text("utf-8").splitlines()
        for text in line.split("\t")
    }
    assert [path.stem.rpartition("-")[2] for path in files] == ["de", "es", "fr"]
    for path in files:
        own = list(read_pairs([path]))
        assert len(own) >= {"meeting": 98, "contrasts": 74}.get(kind, 14)
        assert not held_out & {text for one in own for text in settled(one)}


# --- substitution ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("I saw Tom.", "Ich sah Thomas."),
        ("I saw Tom and Tom.", "Ich sah Tom."),
        ("Tom sleeps.", "Tom schläft."),  # its capital may be the sentence's
        ("He was in NASA.", "Er war bei der NASA."),
    ],
)
def test_what_may_be_no_name_stays(source, target):
    assert swap_names(pair(source, target), "de", rng()) is None


def test_numbers_of_both_sides_are_replaced_each_in_its_notation():
    original = pair("We sold 12345 of 20 in 1999.", "Wir verkauften 1999 12345 von 20.")
    seen = set()
    for seed in range(60):
        changed = swap_numbers(original, "de", rng(seed))
        source = [word.rstrip(".") for word in changed.source.split() if word[0].isdigit()]
        target = [word.rstrip(".") for word in changed.target.split() if word[0].isdigit()]
        german = [word.replace(",", ".") for word in source]
        assert sorted(german) == sorted(target)
        assert re.fullmatch(r"\d{4}", source[2])  # a year stays one
        seen.add(source[0])
    assert len(seen) > 50
    assert any("," in number for number in seen)


def test_a_woman_gets_no_name_of_a_man():
    made = {
        swap_names(pair("I saw Mary.", "Mary est partie."), "fr", rng(seed)).target.split()[0]
        for seed in range(200)
    }
    assert not made & {"Ben", "David", "Felix", "Henry", "Samuel", "Thomas"}
    assert made & {"Carla", "Elena", "Greta", "Hannah"}


@pytest.mark.parametrize(
    ("text", "language", "fitted"),
    [
        ("Cela coûte 1,5 millions d'euros.", "fr", "Cela coûte 1,5 million d'euros."),
        ("C'est à 21,5 kilomètres.", "fr", "C'est à 21,5 kilomètres."),
        ("Le 1 mai et le 21 mai.", "fr", "Le 1er mai et le 21 mai."),
        ("Empieza a las 1:30, no a las 11:30.", "es", "Empieza a la 1:30, no a las 11:30."),
    ],
)
def test_words_agree_with_the_numbers_beside_them(text, language, fitted):
    assert fill(pair("", text), language, rng()).target == fitted


def test_a_number_that_is_one_stays():
    assert swap_numbers(pair("It takes 1 day.", "Il faut 1 jour."), "fr", rng()) is None


# --- speech ---------------------------------------------------------------------------------------


def test_a_recogniser_gives_neither_capitals_nor_punctuation():
    original = pair("Well, I don't know: ask Anna!", "Na ja, ich weiß nicht: frag Anna!")
    texts = {as_recognised(original, rng(seed)).source for seed in range(40)}
    assert texts == {"well i don't know ask anna", "Well I don't know ask Anna"}
    assert as_recognised(original, rng()).target == original.target


def test_a_word_of_punctuation_alone_is_not_lost():
    assert as_recognised(pair("Yes – of course it is.", "Ja – natürlich."), rng()) is None


# --- contrasts and joined sentences ---------------------------------------------------------------


def test_every_contrast_can_be_settled_and_filled_on_both_sides():
    contrasts = [found for kind in ("contrasts", *SENSE) for found in phrases(kind)]
    for seed, (language, phrase) in enumerate(contrasts):
        filled = fill(choose(phrase, rng(seed)), language, rng(seed))
        for text in (filled.source, filled.target):
            assert not set("<>|{}") & set(text)
            assert "  " not in text
            assert " ," not in text
            assert text.lstrip("¿¡")[0].isupper() or not text.lstrip("¿¡")[0].isalpha()
            assert text[-1] in ".?!"


def test_a_choice_with_too_few_alternatives_is_refused():
    with pytest.raises(ValueError, match="3 alternatives"):
        choose(pair("<v:a|b|c>", "<v:a|b>"), rng())


def test_short_sentences_of_a_corpus_are_joined_whole():
    first, second = pair("I am here.", "Ich bin hier."), pair("Are you?", "Und du?")
    made = {(one.source, one.target) for seed in range(30) if (one := joined(first, second, seed))}
    assert made == {("I am here. Are you?", "Ich bin hier. Und du?")}


def test_two_statements_may_be_joined_by_a_conjunction():
    first, second = pair("I am here.", "Ich bin hier."), pair("We wait.", "Wir warten.")
    made = {(one.source, one.target) for seed in range(60) if (one := joined(first, second, seed))}
    assert ("I am here, but we wait.", "Ich bin hier, aber wir warten.") in made
    assert ("I am here. We wait.", "Ich bin hier. Wir warten.") in made


@pytest.mark.parametrize(
    "other",
    [
        SentencePair("We wait.", "Wir warten.", "another corpus"),
        pair("No end", "Kein Ende"),
        pair(" ".join(["long"] * 15) + ".", "Lang."),
    ],
)
def test_long_sentences_those_without_end_and_other_corpora_are_not_joined(other):
    first = pair("I am here.", "Ich bin hier.")
    assert all(joined(first, other, seed) is None for seed in range(20))


def joined(first, second, seed):
    return join([first, second], "de", rng(seed))


# --- the command ----------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_pairs_and_each_kind_has_its_name(tmp_path, capsys):
    source = tmp_path / "real.tsv"
    source.write_text("I saw Tom at 17 houses.\tIch sah Tom an 17 Häusern.\treal\n" * 40, "utf-8")
    made = []
    for name in ("one.tsv", "two.tsv"):
        arguments = ["--from", str(source), "--to-language", "de", "--out", str(tmp_path / name)]
        shares = ["phrases=2", "recogniser=1", "contrasts=1", "joined=1"]
        assert main(["augment", *arguments, "--share", *shares]) == 0
        made.append((tmp_path / name).read_text("utf-8"))
    assert made[0] == made[1]
    corpora = {line.split("\t")[2] for line in made[0].splitlines()}
    assert corpora == {
        "names", "numbers", "recogniser", "disfluent", "joined", "phrases", "contrasts",
        "sense",
    }  # fmt: skip
    assert "        40  recogniser" in capsys.readouterr().out
