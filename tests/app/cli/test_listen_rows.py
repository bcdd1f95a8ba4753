import io
import random
import re

import pytest

from app.cli.listen_output import ListeningView, n_cells
from engine.events import (
    CaptionChanged,
    Confidence,
    FedWord,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.speech.events import TailChanged
from engine.utterances import UtteranceTracker


def grown(number, kept, text):
    return CaptionChanged(utterance=number, kept=kept, text=text, n_read=1)


class Followed:
    """A view that gets the utterances of its events."""

    def __init__(self, stream, *, is_terminal, width, marks_doubt=False):
        self.utterances = UtteranceTracker()
        self.view = ListeningView(
            stream,
            self.utterances,
            is_terminal=is_terminal,
            width=lambda: width,
            marks_doubt=marks_doubt,
        )
        self.draw, self.hide, self.close = self.view.draw, self.view.hide, self.view.close

    def take(self, event):
        if isinstance(event, TailChanged):
            return self.view.show_tail(event.lane, event.words)
        utterance = self.utterances.take(event, 0.0)
        return [] if utterance is None else self.view.take(event, utterance)


def view(*, is_terminal, width=40, marks_doubt=False):
    stream = io.BytesIO()
    made = Followed(stream, is_terminal=is_terminal, width=width, marks_doubt=marks_doubt)
    return made, stream


def said(stream):
    return stream.getvalue().decode()


class Screen:
    """What a terminal shows of the bytes it got."""

    def __init__(self, stream):
        self.lines, self.row = [], ""
        for part in re.split(r"(\n|\r\x1b\[K)", said(stream)):
            if part == "\n":
                self.lines.append(self.row)
                self.row = ""
            elif part == "\r\x1b[K":
                self.row = ""
            else:
                self.row += part


def test_a_pipe_gets_a_line_for_each_utterance_and_nothing_else():
    made, stream = view(is_terminal=False)
    made.take(UtteranceOpened(utterance=1))
    made.take(TailChanged(lane="", words=("may", "change"), after=0))
    made.take(grown(1, 0, "Guten"))
    assert made.draw() == []
    made.take(grown(1, 5, " Tag."))
    assert said(stream) == ""
    assert made.take(UtteranceEnded(utterance=1)) == [1]
    assert said(stream) == "Guten Tag.\n"


def test_a_terminal_shows_what_grows_and_the_tail_dim():
    made, stream = view(is_terminal=True)
    made.take(UtteranceOpened(utterance=1))
    made.take(grown(1, 0, "Guten"))
    made.take(TailChanged(lane="", words=("day", "to"), after=0))
    assert made.draw() == [1]
    assert made.draw() == []
    assert Screen(stream).row == "Guten \x1b[2mday to\x1b[22m"
    made.take(TailChanged(lane="", words=(), after=0))
    made.take(UtteranceEnded(utterance=1))
    made.draw()
    assert Screen(stream).lines == ["Guten"]
    assert Screen(stream).row == ""


@pytest.mark.parametrize("seed", range(20))
def test_the_row_is_never_wider_than_the_terminal(seed):
    rng = random.Random(seed)
    width = rng.randint(12, 60)
    made, stream = view(is_terminal=True, width=width)
    made.take(UtteranceOpened(utterance=1, lane="me"))
    caption, widest = "", 0
    for _ in range(30):
        text = "".join(rng.choice("ab 漢🙂e\N{COMBINING ACUTE ACCENT}") for _ in range(7))
        made.take(grown(1, len(caption), text))
        caption += text
        tail = tuple("t" * rng.randint(1, 9) for _ in range(rng.randrange(5)))
        made.take(TailChanged(lane="me", words=tail, after=0))
        made.draw()
        row = re.sub(r"\x1b\[2?2?m", "", Screen(stream).row)
        widest = max(widest, n_cells(row))
        assert row.startswith("[me] ") or not row
    assert widest == width - 1


def test_no_text_can_steer_the_terminal():
    made, stream = view(is_terminal=False)
    made.take(UtteranceOpened(utterance=1))
    made.take(grown(1, 0, "a\x1b[2Jb\nc"))
    made.take(UtteranceEnded(utterance=1))
    assert said(stream) == "a\N{REPLACEMENT CHARACTER}[2Jb c\n"


def test_what_is_open_at_the_end_is_written_and_the_row_is_clean():
    made, stream = view(is_terminal=True)
    made.take(UtteranceOpened(utterance=1))
    made.take(grown(1, 0, "halb"))
    made.draw()
    made.hide()
    assert Screen(stream).row == "", "it goes for a sentence"
    made.draw()
    assert Screen(stream).row == "halb"
    made.close()
    assert Screen(stream).lines == ["halb"]
    assert Screen(stream).row == ""


def test_dropped_and_empty_utterances_leave_no_line():
    made, stream = view(is_terminal=False)
    made.take(UtteranceOpened(utterance=1))
    made.take(grown(1, 0, "gone"))
    made.take(UtteranceDropped(utterance=1))
    made.take(UtteranceEnded(utterance=1))
    made.take(UtteranceOpened(utterance=2))
    made.take(UtteranceEnded(utterance=2))
    assert said(stream) == ""


@pytest.mark.parametrize("marks_doubt", [True, False])
def test_a_sign_follows_doubtful_captions_if_that_is_wanted(marks_doubt):
    made, stream = view(is_terminal=False, marks_doubt=marks_doubt)
    for number, confidence in enumerate([None, Confidence(0.9), Confidence(0.1, is_low=True)]):
        made.take(UtteranceOpened(utterance=number))
        made.take(grown(number, 0, "Tag."))
        made.take(UtteranceEnded(utterance=number, confidence=confidence))
    assert said(stream) == "Tag.\nTag.\n" + ("Tag. (?)\n" if marks_doubt else "Tag.\n")


@pytest.mark.parametrize(
    ("text", "n_columns"),
    [("Hello", 5), ("", 0), ("漢字", 4), ("ｗ", 2), ("e\u0301", 1), ("\u200dab", 2), ("日本 a", 6)],
)
def test_letters_take_the_columns_that_a_terminal_gives_them(text, n_columns):
    assert n_cells(text) == n_columns


@pytest.mark.parametrize("is_terminal", [False, True])
def test_what_was_heard_and_has_no_caption_is_told_in_its_line(is_terminal):
    made, stream = view(is_terminal=is_terminal)
    words = (FedWord("ask", number=1, spoken_at_s=5.0, committed_at_s=6.0),)
    for event in (
        UtteranceOpened(utterance=0, lane="me"),
        SourceChanged(utterance=0, words=words),
        UtteranceEnded(utterance=0),
    ):
        made.take(event)
    made.view.write("me", "… 40 s not captioned")
    assert said(stream) == "[me] … 1 s not captioned\n[me] … 40 s not captioned\n"
