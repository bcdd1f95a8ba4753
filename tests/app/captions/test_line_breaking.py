import random
from dataclasses import replace

import pytest

from app.captions.line_breaking import (
    Line,
    LineBreaker,
    Typesetter,
    lines_scrolled,
    runs_right_to_left,
)
from app.captions.model import UtteranceView
from app.config.preferences import DOUBT_MARKS

ALPHABET = ["a", "é", "漢", "🙂", "e\u0301", "👩\u200d🚀", "wort", "längereswort", " ", " ", "  ",
            "\n"]  # fmt: skip


def random_text(rng, n):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(n)))


def jumpy_width(text):
    """A measure that no font would dare: a longer text may be narrower."""
    return len(text) + random.Random(text).random() * 6 - 3


def pieces(rng, text):
    while text:
        cut = rng.randrange(1, 6)
        yield text[:cut]
        text = text[cut:]


def test_lines_break_at_the_last_space_that_fits():
    breaker = LineBreaker(12, len)
    closed = breaker.feed("Guten Morgen zusammen. Heute")
    assert closed == ["Guten Morgen ", "zusammen. "]
    assert breaker.open_line == "Heute"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Vous avez raison ?", ["Vous avez ", "raison ?"]),
        ("Vous avez un mot ! Oui", ["Vous avez un ", "mot ! ", "Oui"]),
        ("Il dit « bonjour »", ["Il dit ", "« bonjour »"]),
        ("Ils feraient 10\u202f000", ["Ils feraient ", "10\u202f000"]),
        ("Elles seront 10 %", ["Elles seront ", "10 %"]),
        ("???????????????? ?", ["???????????????? ", "?"]),
    ],
)
def test_no_line_begins_with_a_mark_that_ends_something(text, lines):
    breaker = LineBreaker(16, len)
    closed = breaker.feed(text)
    assert [*closed, breaker.flush()] == lines


def test_growing_text_never_changes_a_closed_line():
    rng = random.Random(1)
    for measure in (len, jumpy_width):
        for _ in range(200):
            text = random_text(rng, 60)
            breaker = LineBreaker(9, measure)
            seen = []
            for piece in pieces(rng, text):
                seen += breaker.feed(piece)
            at_once = LineBreaker(9, measure)
            assert at_once.feed(text) == seen
            assert at_once.open_line == breaker.open_line
            assert "".join(seen) + breaker.flush() == text, "no character is lost"
            assert breaker.open_line == ""


def test_no_line_is_wider_than_it_may_be():
    rng = random.Random(3)
    for _ in range(200):
        text = "".join(rng.choice(["a", "wort", "längereswort", " "]) for _ in range(60))
        breaker = LineBreaker(10, len)
        lines = [*breaker.feed(text), breaker.flush()]
        assert all(len(line.strip()) <= 10 for line in lines)


def test_a_word_wider_than_a_line_is_broken_inside():
    breaker = LineBreaker(5, len)
    assert breaker.feed("Donaudampfschiff") == ["Donau", "dampf", "schif"]


def test_a_character_of_several_code_points_is_never_torn():
    breaker = LineBreaker(3, len)
    lines = [*breaker.feed("e\u0301" * 4 + "👩\u200d🚀" * 3), breaker.flush()]
    for line in lines:
        assert not line.startswith(("\u0301", "\u200d", "🚀"))


def view(key, caption):
    return UtteranceView(key=key, caption=caption)


def texts(typesetter, views, count):
    return tuple(line.text for line in typesetter.last_lines(views, count))


def test_an_utterance_without_text_takes_no_line():
    typesetter = Typesetter(12, len)
    assert texts(typesetter, [view(0, "Eins."), view(1, " "), view(2, "")], 2) == ("Eins.",)


def test_a_caption_that_was_cut_back_is_set_anew():
    typesetter = Typesetter(12, len)
    typesetter.last_lines([view(0, "Guten Morgen zusammen.")], 2)
    assert texts(typesetter, [view(0, "Guten Abend.")], 2) == ("Guten Abend.",)


def test_every_line_of_a_text_runs_as_its_first_letter_does():
    typesetter = Typesetter(12, len)
    lines = typesetter.last_lines(
        [view(0, "\u00ab\u0635\u0628\u0627\u062d\u00bb Qt version Qt and")], 4
    )
    assert len(lines) > 1
    assert all(line.right_to_left for line in lines)
    mixed = typesetter.last_lines([view(1, "Qt \u0635\u0628\u0627\u062d")], 4)
    assert not any(line.right_to_left for line in mixed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", False), ("1, 2", False), ("(a", False), ("\u05d0", True), ("12 \u0627", True)],
)
def test_the_first_letter_with_a_direction_decides(text, expected):
    assert runs_right_to_left(text) is expected


def lines_of(*shown):
    return tuple(Line(text=text) for text in shown)


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        (("a b",), ("a b c",), 0),
        (("a b", "c d"), ("c", "d e"), 1),
        (("a", "b", "c"), ("c", "d", "e"), 2),
        (("a", "b"), ("x", "y"), None),
        (("a", "b"), ("a",), None),
        ((), ("a",), None),
    ],
)
def test_it_is_seen_by_how_many_lines_text_moved_up(before, after, moved):
    assert lines_scrolled(lines_of(*before), lines_of(*after)) == moved


@pytest.mark.parametrize("seed", range(10))
def test_a_tail_moves_no_break_of_the_text_before_it(seed):
    rng = random.Random(seed)
    plain, tailed = (
        Typesetter(20, len, lambda view: view.source),
        Typesetter(20, len, lambda view: view.source, lambda view: view.tail),
    )
    words = []
    for _ in range(30):
        words.append("".join(rng.choices("abcdef", k=rng.randint(1, 9))))
        tail = " ".join("x" * rng.randint(1, 9) for _ in range(rng.randint(0, 4)))
        view = UtteranceView(key=0, source=" ".join(words), tail=tail)
        expected = [line.text for line in plain.last_lines((view,), 99)]
        lines = tailed.last_lines((view,), 99)
        assert all(len(line.text) <= 21 for line in lines)  # the dots may hang over
        assert [line.certain for line in lines if line.certain] == expected
        said = " ".join(line.text[len(line.certain) :].strip() for line in lines if line.n_tail)
        assert said == (f"{tail}…" if tail else "")


def test_a_tail_alone_and_one_that_changes_let_the_lines_stand():
    setter = Typesetter(20, len, lambda view: view.source, lambda view: view.tail)
    alone = setter.last_lines((UtteranceView(key=0, tail="so what"),), 2)
    assert alone == (Line(text="so what…", n_tail=8),)
    before = setter.last_lines((UtteranceView(key=1, source="We went", tail="hole"),), 2)
    after = setter.last_lines((UtteranceView(key=1, source="We went home", tail="and"),), 2)
    assert lines_scrolled(before, after) == 0


@pytest.mark.parametrize("mark", DOUBT_MARKS)
def test_a_doubtful_caption_is_marked_and_its_lines_stand(mark):
    rng = random.Random(8)
    for _ in range(50):
        caption = " ".join("x" * rng.randint(1, 9) for _ in range(rng.randint(1, 9)))
        sure = UtteranceView(key=0, caption=caption, ended=True)
        setter = Typesetter(20, len, doubt_mark=mark)
        before = setter.last_lines((sure, view(1, "next one")), 99)
        after = setter.last_lines((replace(sure, doubtful=True), view(1, "next one")), 99)
        assert [line.certain for line in after if line.certain] == texts_of(before)
        said = [*texts_of(before)[:-1], "(?)"] if mark == "sign" else texts_of(before)
        assert " ".join(texts_of(after)).count("(?)") == (mark == "sign")
        assert len(" ".join(texts_of(after))) >= len(" ".join(said))
        is_marked = [line.doubtful for line in after]
        assert is_marked == [mark == "mark"] + [False] * (len(after) - 1)
        assert after[-1] == Line(text="next one")


def texts_of(lines):
    return [line.text for line in lines]


def test_a_doubtful_utterance_without_a_caption_has_no_line():
    setter = Typesetter(20, len, doubt_mark="sign")
    assert setter.last_lines((UtteranceView(key=0, doubtful=True),), 2) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ja. Nein. Doch", ("Ja.", "Nein.", "Doch")),
        ("Wirklich? «Ja!» Gut", ("Wirklich?", "«Ja!»", "Gut")),
        ("Am 3. Oktober um 9. kommt er.", ("Am 3. Oktober um 9. kommt er.",)),
        ("Mr. Smith und Dr. Meier", ("Mr. Smith und Dr. Meier",)),
        ("Das ist z. B. gut usw. und so", ("Das ist z. B. gut usw. und so",)),
        ("Gut. ", ("Gut.",)),
    ],
)
def test_a_sentence_begins_a_line(text, expected):
    assert texts(Typesetter(40, len), [view(0, text)], 9) == expected
    grown = Typesetter(40, len)
    for n in range(len(text) + 1):
        last = texts(grown, [view(0, text[:n])], 9)
    assert last == expected


def heard(key, lane, caption="", tail=""):
    return UtteranceView(key=key, lane=lane, caption=caption, tail=tail)


def named(width=40):
    names = {"me": "Me", "them": "Ada Lovelace"}
    return Typesetter(
        width, len, tail_of=lambda one: one.tail, name_of=lambda one: names.get(one.lane, "")
    )


def test_the_name_of_a_speaker_begins_the_first_line_of_each_utterance():
    views = [heard(0, "me", "Guten Morgen."), heard(1, "them", "Hallo."), heard(2, "", "Getippt.")]
    lines = named().last_lines(views, 9)
    assert [line.text for line in lines] == [
        "Me: Guten Morgen.",
        "Ada Lovelace: Hallo.",
        "Getippt.",
    ]
    assert [line.text[: line.n_label] for line in lines] == ["Me:", "Ada Lovelace:", ""]
    assert [line.lane for line in lines] == ["me", "them", ""]


def test_every_line_knows_its_speaker_and_the_first_one_his_name():
    lines = named(16).last_lines([heard(0, "me", "Guten Morgen zusammen", "allerseits")], 9)
    assert [line.text for line in lines] == ["Me: Guten Morgen", "zusammen", "allerseits…"]
    assert [line.n_label for line in lines] == [3, 0, 0]
    assert {line.lane for line in lines} == {"me"}
    lines = named(16).last_lines([heard(0, "me", "Guten Morgen", "zusammen")], 9)
    assert [(line.text, line.n_label) for line in lines] == [
        ("Me: Guten Morgen", 3),
        ("zusammen…", 0),
    ]


def test_a_name_comes_with_the_first_word_and_moves_no_break_when_words_are_committed():
    setter = named()
    assert setter.last_lines([heard(0, "me")], 9) == ()
    (tail,) = setter.last_lines([heard(0, "me", "", "Guten")], 9)
    assert (tail.text, tail.n_label, tail.n_tail) == ("Me: Guten…", 3, 7)
    (line,) = setter.last_lines([heard(0, "me", "Guten")], 9)
    assert (line.text, line.n_label, line.n_tail) == ("Me: Guten", 3, 0)
    assert setter.last_lines([heard(0, "me")], 9) == ()


def test_a_long_name_leaves_room_for_words():
    (line, *_) = named(12).last_lines([heard(0, "them", "Hallo")], 9)
    assert line.text == "Ada…: Hallo"
    assert line.text[: line.n_label] == "Ada…:"


def test_the_words_of_a_speaker_decide_in_which_direction_his_lines_run():
    (line,) = named().last_lines([heard(0, "me", "صباح")], 9)
    assert line.right_to_left
