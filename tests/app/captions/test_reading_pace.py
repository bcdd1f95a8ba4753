import random
from itertools import pairwise

import pytest

from app.captions.line_breaking import Line, Typesetter
from app.captions.model import UtteranceView
from app.captions.reading_pace import (
    EXTRA_LINES,
    LEAST_S,
    LETTERS_PER_S,
    LOOKED_AT,
    MOST_HELD_S,
    ReadingPace,
)

COUNT = 3
WORDS = "der Bug ist seit gestern behoben und alle Tests laufen wieder durch sagt sie heute".split()


class Screen:
    """Shows a talk by a pace, whenever something comes and whenever the pace asks for it."""

    def __init__(self, count=COUNT, extra=EXTRA_LINES, *, flows=True, width=30):
        self.pace, self.count, self.extra = ReadingPace(flows=flows), count, extra
        self.typesetter = Typesetter(width, len)
        self.views, self.frames, self.now_s = [], [], 100.0

    def show(self):
        newest = self.typesetter.last_lines(self.views, LOOKED_AT)
        lines = self.pace.show(newest, self.count, self.extra, self.now_s)
        self.frames.append((self.now_s, lines))
        return [line.text for line in lines]

    def say(self, *captions):
        """Let sentences come at once."""
        for caption in captions:
            self.views.append(UtteranceView(key=len(self.views), caption=caption, ended=True))
        return self.show()

    def grow(self, text):
        last = self.views[-1]
        self.views[-1] = UtteranceView(key=last.key, caption=last.caption + text)
        return self.show()

    def until(self, now_s):
        """Let time pass, and what is due be shown."""
        while self.pace.next_s is not None and self.pace.next_s <= now_s:
            assert self.pace.next_s >= self.now_s, "it would be asked for ever"
            self.now_s = max(self.now_s + 1e-6, self.pace.next_s)
            self.show()
        self.now_s = now_s
        return self.show()

    def settle(self):
        """Let all that is due be shown; return the texts on the screen."""
        for _ in range(1000):
            if self.pace.next_s is None:
                return [line.text for line in self.frames[-1][1]]
            self.now_s = max(self.now_s + 1e-6, self.pace.next_s)
            self.show()
        pytest.fail("it never settles")

    def stays(self):
        """When each line was first seen, when it was whole, and when it was seen last."""
        found = {}
        for (since_s, lines), (until_s, _) in pairwise([*self.frames, (self.now_s, ())]):
            for line in lines:
                begun_s, text, whole_s, _ = found.get(line.place, (since_s, "", since_s, 0))
                whole_s = whole_s if text == line.text else since_s
                found[line.place] = begun_s, line.text, whole_s, until_s
        return found


def sentence(rng, n_letters):
    text = ""
    while len(text) < n_letters:
        text += (" " if text else "") + rng.choice(WORDS)
    return text.capitalize() + "."


def test_a_sentence_of_a_call_that_flashed_by_is_there_long_enough():
    screen = Screen()
    screen.say("Update auf den Zahlungsdienst.")
    screen.until(101.0)
    screen.say("Klar, wir haben den Bug behoben, der doppelte Rechnungen verursacht hat,")
    screen.until(101.5)
    screen.grow(" aber die Tests scheitern immer noch in der Staging-Phase.")
    screen.say("Okay.")
    screen.settle()
    stays = screen.stays()
    assert len(stays) == 7
    for begun_s, text, whole_s, gone_s in stays.values():
        assert gone_s - begun_s >= len(text) / LETTERS_PER_S - 1e-3 or gone_s == screen.now_s
        assert gone_s - whole_s >= LEAST_S - 1e-3 or gone_s == screen.now_s


@pytest.mark.parametrize("seed", range(20))
def test_what_comes_no_faster_than_it_is_read_is_all_there_to_read_in_bursts_of_any_length(seed):
    rng = random.Random(seed)
    screen, wanted = Screen(flows=seed % 2 == 0), []
    screen.say("Anfang.")
    for _ in range(30):
        burst = [sentence(rng, rng.randrange(5, 60)) for _ in range(rng.choice((1, 1, 2)))]
        screen.until(screen.now_s + sum(map(len, burst)) / (LETTERS_PER_S - 3) + 1)
        wanted += burst
        screen.say(*burst)
    screen.settle()
    stays = screen.stays()
    shown = [text for _, text, _, _ in stays.values()]
    assert " ".join(shown) == " ".join(["Anfang.", *wanted])
    assert list(stays) == sorted(stays)
    last = screen.frames[-1][1]
    for place, (begun_s, text, whole_s, gone_s) in stays.items():
        if place not in [line.place for line in last]:
            assert gone_s - begun_s >= len(text) / LETTERS_PER_S - 1e-3
            assert gone_s - whole_s >= LEAST_S - 1e-3
    assert max(len(lines) for _, lines in screen.frames) <= COUNT + EXTRA_LINES


def test_calm_lines_are_as_many_as_usual_and_extra_ones_go_once_they_were_read():
    screen = Screen()
    screen.say("Erste Zeile.")
    screen.until(110.0)
    screen.say("Zweite Zeile.", "Dritte Zeile.", "Vierte Zeile.", "Fünfte Zeile.")
    screen.until(111.0)
    assert len(screen.frames[-1][1]) > COUNT
    assert screen.settle() == ["Dritte Zeile.", "Vierte Zeile.", "Fünfte Zeile."]
    assert screen.pace.next_s is None


def test_the_first_word_comes_at_once_and_a_burst_flows_within_about_a_second():
    screen = Screen(width=80)
    screen.say("Ja.")
    screen.until(110.0)
    text = "Der Bug ist seit gestern behoben und alle Tests laufen wieder durch."
    assert screen.say(text) == ["Ja.", "Der"]
    screen.until(110.5)
    assert screen.frames[-1][1][-1].text not in (text, "Der")
    assert screen.pace.waits == {1}
    screen.until(111.1)
    assert screen.frames[-1][1][-1].text == text
    assert not screen.pace.waits
    steps = [lines[-1].text for _, lines in screen.frames if lines[-1].place == (1, 0)]
    assert len(set(steps)) == len(text.split())
    assert all(longer.startswith(shorter) for shorter, longer in pairwise(steps))


def test_words_that_come_one_by_one_never_wait():
    screen = Screen(width=80)
    screen.say("Ja.")
    screen.views.append(UtteranceView(key=1))
    said = ""
    for word in WORDS[:9]:
        screen.until(screen.now_s + 0.4)
        said += f" {word}" if said else word
        assert screen.grow(f" {word}" if said != word else word)[-1] == said


def test_where_motion_is_unwanted_a_line_comes_whole():
    screen = Screen(flows=False)
    screen.say("Ja.")
    screen.until(110.0)
    assert screen.say("Der Bug ist seit gestern.") == ["Ja.", "Der Bug ist seit gestern."]


@pytest.mark.parametrize("letters_per_s", [25, 60, 150])
def test_more_than_can_be_read_is_shown_faster_and_the_delay_does_not_grow(letters_per_s):
    rng = random.Random(0)
    screen, delays = Screen(), []
    screen.say("Anfang.")
    for number in range(1, 200):
        text = sentence(rng, 28)
        screen.say(text)
        came_s = screen.now_s
        screen.until(came_s + len(text) / letters_per_s)
        seen = {line.place[0] for _, lines in screen.frames for line in lines}
        delays.append((number - max(seen)) * 28 / letters_per_s)
    assert max(delays) <= MOST_HELD_S + 2
    assert sum(delays[-50:]) <= sum(delays[50:100]) + 25


def test_another_text_is_shown_at_once_and_only_its_last_lines():
    screen = Screen()
    screen.say("Eins.", "Zwei.", "Drei.", "Vier.")
    assert [line.text for line in screen.frames[0][1]] == ["Zwei.", "Drei.", "Vier."]
    screen.views = [UtteranceView(key=70 + n, caption=f"Neu {n}.") for n in range(5)]
    assert screen.show() == ["Neu 2.", "Neu 3.", "Neu 4."]


def test_after_a_silence_only_what_is_new_is_there_and_no_line_of_it_is_missed():
    screen = Screen()
    screen.say("Eins.", "Zwei.")
    screen.until(160.0)
    screen.pace.forget()
    assert screen.show() == []
    assert screen.say("Drei.") == ["Drei."]
    screen.settle()
    screen.pace.forget()
    screen.say(*(f"Zeile {n}." for n in range(9)))
    screen.settle()
    assert {line.text for _, lines in screen.frames for line in lines} >= {
        f"Zeile {n}." for n in range(9)
    }
    assert "Drei." not in {line.text for line in screen.frames[-1][1]}


def test_a_sentence_that_goes_on_after_a_silence_is_there_with_its_beginning():
    screen = Screen()
    screen.say("Eins.", "Wir gehen")
    screen.until(160.0)
    screen.pace.forget()
    screen.grow(" jetzt")
    assert screen.settle() == ["Wir gehen jetzt"]


def test_tentative_words_stand_behind_all_others_and_do_not_flow_again_once_they_are_certain():
    pace = ReadingPace()
    line = Line(text="we begin with a…", n_tail=7, place=(0, 0))
    assert pace.show([line], 3, 2, 100.0) == (line,)
    certain = Line(text="we begin with a question…", n_tail=9, place=(0, 0))
    assert pace.show([certain], 3, 2, 101.0) == (certain,)
    burst = Line(text="we begin with a question and then we go…", n_tail=3, place=(0, 0))
    (shown,) = pace.show([burst], 3, 2, 102.0)
    assert (shown.text, shown.n_tail) == ("we begin with a question and", 0)
    assert pace.show([burst], 3, 2, 103.0) == (burst,)


def test_a_correction_and_a_line_that_is_gone_show_what_is_there_now():
    pace = ReadingPace()
    lines = [Line(text=text, place=(0, n)) for n, text in enumerate(("eins", "zwei", "drei"))]
    pace.show(lines, 3, 2, 100.0)
    other = Line(text="zwo", place=(0, 1))
    assert pace.show([lines[0], other], 3, 2, 101.0) == (lines[0], other)
    assert pace.show([], 3, 2, 102.0) == ()
    assert pace.show(lines, 3, 2, 103.0) == tuple(lines)


def test_a_name_comes_with_the_first_word():
    pace = ReadingPace()
    first = Line(text="Me: Ja.", n_label=3, place=(0, 0))
    pace.show([first], 3, 2, 100.0)
    second = Line(text="Them Two: we begin with a question", n_label=9, place=(1, 0))
    assert pace.show([first, second], 3, 2, 110.0)[-1].text == "Them Two: we"
