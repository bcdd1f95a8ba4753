"""Test which pairs are kept, and why the others are not."""

import random

import pytest

from training.data.cleaning import Cleaner, CleaningSettings, HeldOut, Reason, judge
from training.data.corpus import SentencePair

GERMAN = CleaningSettings(to_language="de")


def pair(source, target, corpus="chat"):
    return SentencePair(source, target, corpus)


def reasons(cleaner, *pairs):
    """Clean one after the other; None stands for a pair that is kept."""
    cleaned = [cleaner.clean(pair(source, target)) for source, target in pairs]
    return [reason for _, reason in cleaned]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Go!", "Geh!"),
        ("I saw a UFO.", "Ich habe eine Fliegende Untertasse gesehen."),
        ("hello, how can i help you?", "Hallo, wie kann ich Ihnen helfen?"),
        ("It's 115-150-1246.", "Sie lautet 115-150-1246."),
        ("213-850-9081.", "213-850-9081."),
        ("Tori t o r i Parker p a r k e r.", "Tori T-O-R-I Parker P-A-R-K-E-R."),
        ("um... how do you spell that?", "ähm... wie buchstabiert man das?"),
        ("it's $89 for 2 tickets", "Es sind 89 $ für 2 Karten"),
        ("Date & time", "Datum & Uhrzeit"),
        ("Hamburg, Berlin, Paris", "Hamburg, Berlin, Paris"),
        ("He doesn't give a ****, ok?", "Das ist ihm **** egal, ok?"),
        ("turn the lights off", "Schalte das Licht aus"),
        ("word " * 79 + "word", "Wort " * 79 + "Wort"),
        ("🙂 Thanks a lot!", "🙂 Vielen Dank!"),
        (
            "Write to me@example.com today if you can, please.",
            "Schreib heute noch an me@example.com, wenn du kannst, bitte.",
        ),
    ],
)
def test_what_people_say_is_kept(source, target):
    assert Cleaner(GERMAN).clean(pair(source, target)) == (pair(source, target), None)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("", "Hallo.", Reason.EMPTY),
        ("Hello.", " \u200b\t ", Reason.EMPTY),
        ("Slow \ufffd request", "Langsame Anfrage", Reason.DAMAGED),
        ("word " * 81, "Wort " * 81, Reason.TOO_LONG),
        ("Hello.", "...", Reason.FEW_LETTERS),
        ("---", "---", Reason.FEW_LETTERS),
        ("5:30.", "17:30 Uhr.", Reason.FEW_LETTERS),
        ("a ++++++++ (!)", "b ++++++++ (!)", Reason.FEW_LETTERS),
        ("< ref > See [there]. < / ref >", "< ref > Siehe [dort]. < / ref >", Reason.MARKUP),
        ("Getting started", "[Erste Schritte](start.md)", Reason.MARKUP),
        ("In [[Nepal]] it rains.", "In [[Nepal]] regnet es.", Reason.MARKUP),
        ("Clone it: `git clone", "Klonen: `git clone", Reason.MARKUP),
        ("**Bold** words", "**Fette** Worte", Reason.MARKUP),
        ("See https://example.com/page now", "Siehe https://example.com/page", Reason.MARKUP),
        ("if (a[i] == {b}) { c |= ~d; }", "wenn (a[i] == {b}) { c |= ~d; }", Reason.MARKUP),
        ("Your users", "Ihre Nutzer\\*innen", Reason.MARKUP),
        ("连接到 API", "Anbindung an APIs", Reason.SCRIPT),
        ("Connecting", "Подключение", Reason.SCRIPT),
        ("These words stay English here.", "these words stay English here", Reason.COPIED),
        ("Yes, sure.", "Ja, " + "und noch ein Satz " * 5, Reason.RATIO),
        ("And now some more " * 5, "Ja.", Reason.RATIO),
    ],
)
def test_a_bad_pair_is_dropped_and_the_reason_told(source, target, reason):
    assert reasons(Cleaner(GERMAN), (source, target)) == [reason]


def test_chinese_needs_han_and_its_length_is_counted_in_characters():
    settings = CleaningSettings(to_language="zh", max_words=10)
    assert judge(pair("Good morning.", "早上好。"), settings) is None
    assert judge(pair("Good morning.", "Zao shang hao."), settings) is Reason.SCRIPT
    assert judge(pair("A long sentence, that is.", "长" * 30), settings) is Reason.TOO_LONG


def test_the_text_that_is_kept_is_tidy():
    kept = Cleaner(GERMAN).clean(pair(" A\u00a0cafe\u0301 ", "Ein\u200b  Café", " chat\t"))
    assert kept == (pair("A café", "Ein Café"), None)


def test_duplicates_and_near_duplicates_are_dropped_but_not_the_first():
    assert reasons(
        Cleaner(GERMAN),
        ("Good morning.", "Guten Morgen."),
        ("Good  morning.", "Guten Morgen."),
        ("good morning", "Guten Morgen!"),
        ("Good morning.", "Morgen."),
    ) == [None, Reason.DUPLICATE, Reason.NEAR_DUPLICATE, None]


def test_only_so_many_targets_of_one_source_are_kept():
    cleaner = Cleaner(CleaningSettings(to_language="de", max_targets=2))
    assert reasons(
        cleaner,
        ("Go away!", "Geh weg!"),
        ("Go away.", "Gehen Sie weg."),
        ("Go away.", "Geht weg."),
        ("Go home.", "Geh nach Hause."),
    ) == [None, None, Reason.MANY_TARGETS, None]


def test_a_pair_that_is_dropped_takes_no_place_among_the_targets():
    cleaner = Cleaner(CleaningSettings(to_language="de", max_targets=1))
    assert reasons(cleaner, ("Go away.", "Иди"), ("Go away.", "Geh weg.")) == [Reason.SCRIPT, None]


def test_a_test_sentence_is_dropped_whatever_its_translation():
    held_out = HeldOut([("What's the matter, Tom?", None)])
    cleaner = Cleaner(GERMAN, held_out)
    assert reasons(
        cleaner,
        ("WHAT'S the matter Tom", "Was ist los, Tom?"),
        ("What's the matter?", "Was ist los?"),
    ) == [Reason.HELD_OUT, None]


def test_a_short_test_sentence_is_dropped_only_with_its_translation():
    cleaner = Cleaner(GERMAN, HeldOut([("Good morning.", "Guten Morgen."), ("Go!", None)]))
    assert reasons(
        cleaner,
        ("good morning", "Guten Morgen!"),
        ("Good morning.", "Morgen!"),
        ("Go!", "Los!"),
    ) == [Reason.HELD_OUT, None, None]


def test_cleaning_what_was_kept_keeps_it_all():
    rng = random.Random(0)
    text = "Hello you 漢 the [[x]] < b > 12-34 und, Wort; Ärger! \u200b &amp; https://x.de"
    words = text.split()
    rows = [
        pair(*(" ".join(rng.choices(words, k=rng.randrange(8))) for _ in range(2)))
        for _ in range(2000)
    ]
    cleaner, again = Cleaner(GERMAN), Cleaner(GERMAN)
    kept = [pair for pair, reason in map(cleaner.clean, rows) if reason is None]
    assert 0 < len(kept) < len(rows)
    assert [again.clean(item) for item in kept] == [(item, None) for item in kept]
