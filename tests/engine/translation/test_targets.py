"""The captions of a language by themselves, by a captioner that shouts its words one by one."""

import random

import pytest

from engine.errors import ModelError
from engine.events import (
    CaptionChanged,
    FurtherCaptionLeftOut,
    LanguageFailed,
    Refused,
    UtteranceEnded,
)
from engine.text.sentences import Sentence
from engine.translation.captioner import Change
from engine.translation.targets import MOST_HASTE, MOST_WAITING, Target, Targets


class Shout:
    """An utterance whose caption is its words in capitals, each with a blank."""

    number = 0

    def __init__(self):
        self.words, self.ended, self.finished = (), False, False
        self.caption, self.n_words_read = "", 0

    def set_source(self, sentence):
        words, ended = sentence.words, sentence.ended
        same = next(
            (n for n in range(self.n_words_read) if words[n : n + 1] != self.words[n : n + 1]), None
        )
        self.words, self.ended, self.finished = tuple(words), ended, False
        if same is not None:
            self.n_words_read, self.caption = same, self.caption[: 2 * same]
        return same is not None

    def advance(self):
        if self.n_words_read == len(self.words):
            self.finished = self.ended
            return None
        word = self.words[self.n_words_read]
        if word in "xyz":
            raise {"x": ModelError("x"), "y": MemoryError("y"), "z": RuntimeError("z")}[word]
        self.n_words_read += 1
        self.caption += f"{word.upper()} "
        return Change(2 * self.n_words_read - 2, f"{word.upper()} ", self.n_words_read)

    @property
    def confidence(self):
        return f"of {self.caption}"

    def give_up(self):
        self.finished = True


class Shouter:
    haste = 1

    def open(self):
        return Shout()

    def close(self):
        pass


class Broken(Shouter):
    def open(self):
        msg = "it broke"
        raise AttributeError(msg)


def captions(language="fr"):
    return Target(Shouter(), language)


def said(words, *, ended=True):
    return Sentence(tuple(words.split()), ended)


def events_of(further):
    return list(iter(further.advance, None))


def changed(number, kept, text, n_read):
    return CaptionChanged(utterance=number, language="fr", kept=kept, text=text, n_read=n_read)


def ended(number, caption):
    return UtteranceEnded(utterance=number, language="fr", confidence=f"of {caption}")


def test_captions_grow_are_cut_back_and_end_once():
    one = captions()
    assert one.set_source(4, said("", ended=False)) == []
    assert one.set_source(5, said("a b", ended=False)) == []
    assert (one.backlog_words, one.is_settled) == (2, False)
    assert events_of(one) == [changed(5, 0, "A ", 1), changed(5, 2, "B ", 2)]
    assert one.set_source(5, said("a c")) == [changed(5, 2, "", 1)]
    assert events_of(one) == [changed(5, 2, "C ", 2), ended(5, "A C ")]
    assert (events_of(one), one.backlog_words, one.is_settled) == ([], 0, True)
    one.make_final([4, 5])
    one.set_source(5, said("d"))  # under a number that is forgotten: another utterance
    assert events_of(one) == [changed(5, 0, "D ", 1), ended(5, "D ")]
    one.set_source(6, said("e"))
    one.drop(6)
    assert events_of(one) == []


def test_what_is_final_is_forgotten_when_its_caption_is_complete():
    one = captions()
    one.set_source(1, said("a"))
    one.make_final([1])
    assert events_of(one) == [changed(1, 0, "A ", 1), ended(1, "A ")]
    one.set_source(1, said("a"))
    assert events_of(one) == [changed(1, 0, "A ", 1), ended(1, "A ")]
    one.go_on_with(other := Shouter())
    assert (one.captioner, one.is_settled, events_of(one)) == (other, True, [])


_LETTERS = "abcdefgh"


def left_out(number):
    return FurtherCaptionLeftOut(utterance=number, language="fr")


def test_a_language_far_behind_leaves_the_oldest_out_until_half_the_most_is_left():
    one = captions()
    lengths = [3, *[4] * 19, 2]
    for number, length in enumerate(lengths):
        one.set_source(number, said("a " * length, ended=number > 0))
        if number == 0:
            assert one.advance() == changed(0, 0, "A ", 1)
    assert one.backlog_words == MOST_WAITING
    assert one.advance() == changed(0, 2, "A ", 2)  # what was begun goes on
    assert one.backlog_words == MOST_WAITING - 1
    one.set_source(len(lengths), said("a a"))
    told = [one.advance() for _ in range(11)]
    assert told == [left_out(number) for number in range(1, 12)]
    assert one.backlog_words == MOST_WAITING // 2 - 3
    assert one.advance() == changed(0, 4, "A ", 3)


def fallen_behind(n_sentences):
    """Captions that have left sentences out, what they told of that, and the words of all."""
    one, sentences = captions(), {}
    for number in range(n_sentences):
        sentences[number] = f"{_LETTERS[number // 8]} {_LETTERS[number % 8]} i"
        one.set_source(number, said(sentences[number]))
        one.make_final([number])
    return one, sentences, one.advance()


def made(events):
    """The caption of each utterance, and those whose end was told."""
    texts, ends = {}, []
    for event in events:
        if isinstance(event, CaptionChanged):
            texts[event.utterance] = texts.get(event.utterance, "")[: event.kept] + event.text
        elif isinstance(event, UtteranceEnded):
            ends.append(event.utterance)
    return texts, ends


def test_what_was_left_out_is_made_up_for_when_nothing_waits_and_no_text_is_empty():
    one, sentences, first = fallen_behind(60)
    events = [first, *events_of(one)]
    left = [event.utterance for event in events if isinstance(event, FurtherCaptionLeftOut)]
    assert left == list(range(len(left)))
    assert len(left) > 40
    assert one.is_settled  # a switch of adapters does not wait for them
    assert (one.backlog_words, sorted(made(events)[1])) == (0, list(range(len(left), 60)))
    while (event := one.make_up()) is not None:
        events += [event, *events_of(one)]
    texts, ends = made(events)
    assert sorted(ends) == list(range(60))
    assert texts == {number: f"{words.upper()} " for number, words in sentences.items()}


def test_what_is_said_meanwhile_waits_for_one_sentence_that_is_made_up_for_at_most():
    one, _, _ = fallen_behind(60)
    events_of(one)
    assert one.make_up().utterance == 0
    one.set_source(100, said("new"))
    order = [event.utterance for event in events_of(one)]
    assert list(dict.fromkeys(order)) == [0, 100]


def test_what_is_left_out_outlives_another_model_and_can_be_edited_removed_or_forgotten():
    one, _, _ = fallen_behind(60)
    events_of(one)
    one.go_on_with(Shouter())
    assert one.make_up().utterance == 0
    one.drop(1)
    one.set_source(3, said("edited"))  # what is edited is said now
    assert [event.utterance for event in events_of(one)][-1] == 3
    assert one.make_up().utterance == 2
    one.clear()
    assert (events_of(one), one.make_up(), one.is_settled) == ([], None, True)


def test_what_is_skipped_has_no_caption_in_any_language_and_the_others_come_later():
    one = captions()
    for number in (1, 2, 3):
        one.set_source(number, said("a b"))
    assert one.advance() == changed(1, 0, "A ", 1)
    one.skip([1, 2])  # the first is begun
    assert one.backlog_words == 1
    assert events_of(one) == [left_out(3), changed(1, 2, "B ", 2), ended(1, "A B "), ended(2, "")]
    assert one.make_up() == changed(3, 0, "A ", 1)
    one.skip([3])
    assert events_of(one)[-1] == ended(3, "A B ")
    one.set_source(4, said("a"))
    one.skip([])
    one.skip([4])
    assert (events_of(one), one.make_up()) == ([ended(4, "")], None)


def test_a_language_that_is_waited_for_captions_what_was_said_meanwhile_and_not_what_went():
    further = Targets(Shouter())
    awaited = further.add("fr")
    assert further.add("fr") is awaited
    further.set_source(1, said("a b"))
    further.set_source(2, said("c"))
    further.set_source(3, said("d", ended=False))
    further.make_final([1])
    further.drop(2)
    assert (further.ready, further.is_settled, further.advance()) == ({}, True, None)
    awaited.begin(Shouter())
    assert [event.utterance for event in events_of(further)] == [1, 1, 1, 3]
    further.set_source(3, said("d e"))
    assert [event.utterance for event in events_of(further)] == [3, 3]


@pytest.mark.parametrize(
    "leave", [lambda it: it.skip([1]), lambda it: it.remove("fr"), lambda it: it.clear()]
)
def test_what_is_left_out_before_a_language_is_there_is_left_out_of_it(leave):
    further = Targets(Shouter())
    awaited = further.add("fr")
    further.set_source(1, said("a b"))
    leave(further)
    awaited.begin(Shouter())
    assert events_of(further) == []


def test_a_language_that_loads_long_loses_no_sentence_either():
    further = Targets(Shouter())
    awaited = further.add("fr")
    for number in range(MOST_WAITING):
        further.set_source(number, said("a b"))
    awaited.begin(Shouter())
    events = events_of(further)
    assert further.ready["fr"].backlog_words == 0
    assert events[0] == left_out(0)
    while (event := further.make_up()) is not None:
        events += [event, *events_of(further)]
    assert sorted(made(events)[1]) == list(range(MOST_WAITING))


@pytest.mark.parametrize(("word", "given_up"), [("x", True), ("y", True), ("z", False)])
def test_languages_take_turns_and_a_failure_stays_in_its_sentence_or_its_language(word, given_up):
    further = Targets(Shouter())
    for language in ("fr", "it"):
        further.add(language).begin(Shouter())
    assert further.set_source(1, said("a b")) == []
    assert [event.language for event in (further.advance(), further.advance())] == ["fr", "it"]
    assert (list(further.ready), further.is_settled) == (["fr", "it"], False)
    further.drop(1)
    assert further.is_settled
    further.ready["it"].set_source(2, said(word))
    further.ready["fr"].set_source(2, said("a"))
    found = [type(event) for event in events_of(further)]
    assert (Refused in found, LanguageFailed in found) == (given_up, not given_up)
    assert found.count(UtteranceEnded) == 1 + given_up
    assert list(further.ready) == (["fr", "it"] if given_up else ["fr"])
    further.ready["fr"].captioner = Broken()  # breaks at the next words
    (failed,) = further.set_source(3, said("a"))[:1]
    assert isinstance(failed, LanguageFailed)
    assert "fr" not in further.ready
    further.remove("it")
    further.remove("it")
    assert further.ready == {}


@pytest.mark.parametrize(
    ("backlog", "factor"), [(0, 1), (10, 1), (11, 2), (20, 2), (21, 4), (40, 4), (41, 8), (999, 8)]
)
def test_the_more_words_wait_the_larger_the_steps(backlog, factor):
    one = captions()
    assert one.keep_pace(backlog, 10) == (factor if factor > 1 else None)
    assert one.captioner.haste == factor
    assert one.keep_pace(10_000, None) == (1 if factor > 1 else None)


def test_steps_stay_large_until_nothing_waits():
    rng = random.Random(0)
    for _ in range(200):
        one, limit = captions(), rng.randint(1, 20)
        for _ in range(20):
            before, backlog = one.captioner.haste, rng.choice([0, rng.randrange(200)])
            changed, haste = one.keep_pace(backlog, limit), one.captioner.haste
            assert changed == (haste if haste != before else None)
            if backlog == 0:
                assert haste == 1
            else:
                assert haste >= before
                assert haste == MOST_HASTE or backlog <= limit * haste
