"""Cues as subtitlers have them: cut at clauses, two lines, 1 to 7 s, no lone word."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from app.captions.cues import LINE, LINES, Cue, lines_of, spoken_cue
from app.captions.subtitles import Subtitles, split
from engine.events import (
    CaptionChanged,
    FedWord,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
    untimed,
)
from engine.utterances import UtteranceTracker


class Maker:
    """Makes cues of events, and of when words were said."""

    def __init__(self):
        self.utterances = UtteranceTracker()

    def feed(self, event):
        utterance = self.utterances.take(event, 0.0)
        return None if utterance is None else spoken_cue(event, utterance)

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
    assert maker.place(1, 3, "me", start_s=2.0) is None
    assert maker.feed(grown(1, 0, "eins zwei", 3)) is None
    cue = maker.feed(UtteranceEnded(utterance=1))
    assert (cue.start_s, cue.end_s) == (2.0, 4.9)
    assert (cue.text, cue.source) == ("eins zwei", "w0 w1 w2")
    assert (cue.speaker, cue.language) == ("me", "de")


def test_what_rests_on_half_of_the_words_has_their_times():
    maker = Maker()
    maker.place(1, 10)
    maker.feed(grown(1, 0, f"{'a ' * 30}b,", 4))
    maker.feed(grown(1, 62, f" {'c ' * 30}d.", 10))
    first, second = split(maker.feed(UtteranceEnded(utterance=1)))
    assert first.text.endswith("b,")
    assert first.end_s == second.start_s == pytest.approx(3.9, abs=0.2)
    assert first.source == "w0 w1 w2 w3"


def test_what_was_written_once_all_was_read_is_shared_out_over_the_words():
    maker = Maker()
    maker.place(1, 4)
    later = words(8)[:4] + words(4, start_s=6.0)
    maker.feed(SourceChanged(utterance=1, words=later))
    for kept, text in ((0, "a"), (1, f"{' a' * 30} b,"), (64, f" {'c ' * 30}d.")):
        maker.feed(grown(1, kept, text, len(later)))
    cues = split(maker.feed(UtteranceEnded(utterance=1)))
    assert [cue.text[-2:] for cue in cues] == ["b,", "d."]
    assert cues[0].start_s == 0.0
    assert 3.5 < cues[1].start_s < 7.0
    assert cues[0].end_s == cues[1].start_s
    assert cues[1].source.split()[-1] == "w3"


def test_typed_dropped_and_empty_utterances_are_no_cues():
    maker = Maker()
    maker.feed(UtteranceOpened(utterance=7))
    maker.feed(SourceChanged(utterance=7, words=untimed(["typed"])))
    maker.feed(grown(7, 0, "typed", 1))
    assert maker.feed(UtteranceEnded(utterance=7)) is None
    maker.place(1, 2)
    maker.feed(grown(1, 0, "gone", 1))
    maker.feed(UtteranceDropped(utterance=1))
    assert maker.feed(UtteranceEnded(utterance=1)) is None
    maker.place(2, 2)
    assert maker.feed(UtteranceEnded(utterance=2)) is None


def said(text, start_s=0.0, lasts_s=None, speaker=""):
    """An utterance at 14 letters a second."""
    end_s = start_s + (len(text) / 14 if lasts_s is None else lasts_s)
    return Cue(start_s=start_s, end_s=end_s, text=text, source=text, speaker=speaker)


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        (
            "Update auf den Zahlungsdienst, wir haben den Fehler behoben, der doppelte Rechnungen "
            "verursacht hat, aber die Tests scheitern immer noch in der Staging-Phase.",
            [
                "Update auf den Zahlungsdienst, wir haben den Fehler behoben,",
                "der doppelte Rechnungen verursacht hat,",
                "aber die Tests scheitern immer noch in der Staging-Phase.",
            ],
        ),
        (
            "Der Plan steht fest und wird in der nächsten Woche von allen Abteilungen gelesen "
            "werden können.",
            2,
        ),
        ("Wir treffen uns in genau 1 Woche.", 1),
    ],
)
def test_a_caption_is_cut_at_its_clauses_and_never_leaves_one_word(text, cues):
    parts = [part.text for part in split(said(text))]
    assert " ".join(parts) == text
    if isinstance(cues, int):
        assert len(parts) == cues
        assert max(map(len, parts)) < 1.5 * min(map(len, parts)), "about as long as each other"
    else:
        assert parts == cues


def test_a_word_longer_than_a_cue_is_cut():
    parts = split(said("y" * 200))
    assert "".join(part.text for part in parts) == "y" * 200
    assert max(len(part.text) for part in parts) <= LINE * LINES


def test_a_caption_of_few_letters_that_takes_long_is_cut_too():
    parts = split(said("Wir warten ein wenig, und dann kommt sie.", lasts_s=12.0))
    assert [part.text for part in parts] == ["Wir warten ein wenig,", "und dann kommt sie."]


def test_no_line_begins_with_a_mark_that_ends_something():
    text = "On ne sait pas encore comment cela finira ? " * 3
    lines = [line for part in split(said(text.strip())) for line in lines_of(part.text)]
    assert not [line for line in lines if line.startswith("?")]
    assert " ".join(lines) == text.strip()


def arranged(cues, end_s=None):
    subtitles = Subtitles()
    for cue in cues:
        subtitles.feed(cue)
    return subtitles.flush() if end_s is None else subtitles.flush(end_s)


def talk(rng, n):
    """Utterances of a speaker, some of one word, with pauses."""
    cues, at_s = [], rng.uniform(0, 3)
    for _ in range(n):
        n_words = rng.choice((1, 1, 2, 5, 12, 30))
        text = " ".join(
            "x" * rng.randint(1, 12) + rng.choice(("", "", ",")) for _ in range(n_words)
        )
        cues.append(said(f"{text}.", at_s))
        at_s = cues[-1].end_s + rng.choice((0.0, 0.3, 0.9, 4.0))
    return cues


@pytest.mark.parametrize("seed", range(30))
def test_every_subtitle_of_a_film_can_be_read_and_none_outlasts_it(seed):
    cues = talk(random.Random(seed), 30)
    end_s = cues[-1].end_s + 0.2
    timed = arranged(cues, end_s)
    assert " ".join(cue.text for cue in timed) == " ".join(cue.text for cue in cues)
    assert all(len(lines_of(cue.text)) <= LINES for cue in timed)
    assert all(len(line) <= LINE for cue in timed for line in lines_of(cue.text))
    for before, after in pairwise(timed):
        assert before.end_s <= after.start_s + 1e-9
    assert timed[-1].end_s <= end_s
    for cue in timed[:-1]:
        assert cue.end_s - cue.start_s <= 7.0 + 1e-9
        assert cue.end_s - cue.start_s >= 0.99
    for first, second in pairwise(timed):
        if " " not in first.text:
            begun_s = next(cue.end_s for cue in cues if first.text in cue.text)
            assert second.start_s - begun_s > 0.9, "a lone word has a silence behind it"


def test_subtitles_of_who_talks_fast_never_fall_far_behind():
    cues = [Cue(start_s=2.0 * n, end_s=2.0 * n + 2, text="a" * 45) for n in range(2_000)]
    late = [now.start_s - cue.start_s for cue, now in zip(cues, arranged(cues), strict=True)]
    assert max(late) < 7


def test_a_single_word_goes_with_what_is_said_beside_it_by_the_same_person():
    plan = "Der Plan steht fest."
    cues = [said("Okay.", 0.0), said(plan, 0.5), said("Ja.", 30.0)]
    assert [cue.text for cue in arranged(cues)] == [f"Okay. {plan}", "Ja."]
    cues = [said("Okay.", 0.0, speaker="me"), said(plan, 0.5, speaker="them")]
    assert [cue.text for cue in arranged(cues)] == ["Okay.", plan]
    marked = [replace(said("Okay."), marked=True), said(plan, 0.5)]
    assert len(arranged(marked)) == 2


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_as_it_comes_is_what_is_exported(seed):
    rng = random.Random(seed)
    cues = sorted(
        [*talk(rng, 12), *(replace(cue, speaker="me") for cue in talk(rng, 12))],
        key=lambda cue: cue.start_s,
    )
    subtitles, written = Subtitles(), []
    for cue, following in pairwise([*cues, None]):
        subtitles.feed(cue)
        if following is not None:
            written += subtitles.take(following.start_s)
    assert len(written) >= len(cues) // 3, "it does not wait for the end"
    assert written + subtitles.flush() == arranged(cues)
