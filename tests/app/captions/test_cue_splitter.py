import random
from dataclasses import replace

import pytest

from app.captions.cue_lines import LINE, LINES, cue_end, lines_of
from app.captions.cue_splitter import CueSplitter, split
from engine.events import (
    CaptionChanged,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.utterances import UtteranceTracker
from engine.words import FedWord, untimed
from tests.support.utterances import FedRecord


class Maker:
    """Makes cues of events, and of when words were said."""

    def __init__(self):
        self.maker, self.utterances = CueSplitter(), UtteranceTracker()

    def feed(self, event):
        utterance = self.utterances.take(event, 0.0)
        return [] if utterance is None else self.maker.feed(event, utterance)

    def place(self, number, n, lane="", start_s=0.0):
        """Open an utterance of words that take 0.9 seconds each."""
        self.feed(UtteranceOpened(utterance=number, lane=lane, languages=("en", "de")))
        return self.feed(SourceChanged(utterance=number, words=words(n, start_s)))


def words(n, start_s=0.0):
    return tuple(
        FedWord(
            text=f"w{i}",
            start_s=start_s + i,
            end_s=start_s + i + 0.9,
            spoken_at_s=100.0 + i,
            committed_at_s=101.0 + i,
        )
        for i in range(n)
    )


def grown(number, kept, text, n_read):
    return CaptionChanged(utterance=number, kept=kept, text=text, n_read=n_read)


def test_an_utterance_becomes_a_cue_when_it_has_ended():
    maker = Maker()
    assert maker.place(1, 3, "me", start_s=2.0) == []
    assert maker.feed(grown(1, 0, "eins zwei", 3)) == []
    (cue,) = maker.feed(UtteranceEnded(utterance=1))
    assert (cue.start_s, cue.end_s) == (2.0, 4.9)
    assert (cue.text, cue.source) == ("eins zwei", "w0 w1 w2")
    assert (cue.speaker, cue.language) == ("me", "de")


@pytest.mark.parametrize("seed", range(30))
def test_the_cues_of_a_long_caption_are_the_caption_in_order(seed):
    rng = random.Random(seed)
    maker = Maker()
    n_words = rng.randint(1, 48)
    cues, caption, n_read = maker.place(1, n_words), "", 0
    while n_read < n_words:
        n_read = min(n_words, n_read + rng.randint(1, 9))
        text = " ".join("x" * rng.randint(1, 12) for _ in range(rng.randrange(12)))
        text = f" {text}" if caption and text else text
        cues += maker.feed(grown(1, len(caption), text, n_read))
        caption += text
    early = len(cues)
    cues += maker.feed(UtteranceEnded(utterance=1))
    assert " ".join(cue.text for cue in cues) == caption
    lines = [lines_of(cue.text) for cue in cues]
    assert all(len(of_cue) <= LINES for of_cue in lines)
    assert all(len(line) <= LINE for of_cue in lines for line in of_cue)
    starts_s = [cue.start_s for cue in cues]
    assert starts_s == sorted(starts_s)
    assert early >= len(cues) - 2, "what is long enough does not wait for the end"
    if caption:
        assert " ".join(cue.source for cue in cues if cue.source) == " ".join(
            word.text for word in words(n_words)
        )


def test_a_word_longer_than_a_cue_is_cut():
    maker = Maker()
    maker.place(1, 1)
    cues = maker.feed(grown(1, 0, "y" * 200, 1)) + maker.feed(UtteranceEnded(utterance=1))
    assert [len(cue.text) for cue in cues] == [84, 84, 32]


def test_what_rests_on_half_of_the_words_has_their_times():
    maker = Maker()
    maker.place(1, 10)
    maker.feed(grown(1, 0, "a" * 60, 4))
    (cue,) = maker.feed(grown(1, 60, " " + "b" * 60, 10))
    assert cue.text == "a" * 60
    assert cue.end_s == pytest.approx(3.9, abs=0.2)
    assert cue.source == "w0 w1 w2 w3"


def test_typed_and_dropped_utterances_are_no_cues():
    maker = Maker()
    maker.feed(UtteranceOpened(utterance=7))
    maker.feed(SourceChanged(utterance=7, words=untimed(["typed"])))
    assert maker.feed(grown(7, 0, "typed", 1)) == []
    assert maker.feed(UtteranceEnded(utterance=7)) == []
    maker.place(1, 2)
    maker.feed(grown(1, 0, "gone", 1))
    maker.feed(UtteranceDropped(utterance=1))
    assert maker.feed(UtteranceEnded(utterance=1)) == []


def test_an_utterance_without_a_caption_is_no_cue():
    maker = Maker()
    maker.place(1, 2)
    assert maker.feed(UtteranceEnded(utterance=1)) == []


@pytest.mark.parametrize("seed", range(10))
def test_an_export_has_the_cues_that_the_terminal_wrote_as_they_came(seed):
    rng = random.Random(seed)
    maker, record = Maker(), FedRecord()
    n_words, text, n_read = 40, "", 0
    said = tuple(replace(word, spoken_at_s=word.end_s) for word in words(n_words))
    events = [
        UtteranceOpened(utterance=1, lane="me", languages=("en", "de")),
        SourceChanged(utterance=1, words=said),
    ]
    while n_read < n_words:
        n_read = min(n_words, n_read + rng.randint(1, 9))
        piece = " ".join("x" * rng.randint(1, 12) for _ in range(rng.randint(4, 12)))
        events.append(grown(1, len(text), f" {piece}" if text else piece, n_read))
        text += f" {piece}" if text else piece
    written, kept = [], None
    for event in [*events, UtteranceEnded(utterance=1)]:
        written += maker.feed(event)
        kept = record.follow(event, 99.0)
    assert len(written) > 2
    assert [replace(cue, end_s=max(cue.end_s, cue.start_s + 0.5)) for cue in split(kept.cue)] == (
        written
    )


def test_no_line_of_a_subtitle_begins_with_a_mark_that_ends_something():
    text = "On ne sait pas encore comment cela finira ? " * 3
    cues, start = [], 0
    while start < len(text.rstrip()):
        end = cue_end(text.rstrip(), start)
        cues.append(text[start:end].strip())
        start = end
    lines = [line for cue in cues for line in lines_of(cue)]
    assert not [line for line in lines if line.startswith("?")]
    assert " ".join(lines) == text.strip()
