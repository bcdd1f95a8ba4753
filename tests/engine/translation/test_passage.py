import random
from dataclasses import replace

import numpy as np
import pytest

from engine.events import (
    Confidence,
    NotTranslated,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
    untimed,
)
from engine.models.model_card import Calibration
from engine.text.sentences import Sentence, split_sentences, without_full_stop
from engine.translation.feed import changes
from engine.translation.passage import Passage
from engine.translation.targets import Targets
from tests.support.fakes import (
    HashingModel,
    Receiver,
    hashing_translator,
    obey,
    random_word,
    tiny_tokenizer,
    word_for_word,
)

POLICIES = ["read:1", "read:3", "wait:2", "offline"]


class Editor:
    """A passage, what a window knows of it, and the words as they should be."""

    def __init__(self, policy="read:3", **arguments):
        self.translator = hashing_translator(policy, **arguments)
        self.targets = Targets(self.translator)
        self.passage = Passage(self.targets)
        self.receiver = Receiver()
        self.words = []

    def splice(self, start, stop, words):
        self.words[start : len(self.words) if stop is None else stop] = words
        return self.take(self.passage.splice(start, stop, untimed(words)))

    def append(self, text):
        words = text.split()
        self.words += words
        return self.take(self.passage.splice(self.passage.n_words, None, untimed(words)))

    def finish(self):
        return self.take(self.passage.finish())

    def translate(self):
        return self.take(iter(self.passage.advance, None))

    def take(self, events):
        """Hand events on, one by one, as they come."""
        taken = []
        for event in events:
            self.receiver(event)
            taken.append(event)
        return taken

    @property
    def text(self):
        return self.receiver.text

    @property
    def utterances(self):
        return [self.targets.first[number] for number, _ in self.passage._utterances]


def random_sentence_word(rng):
    return random_word(rng) + rng.choice(["", "", "", ",", "."])


def edit_at_random(editor, rng, n_edits):
    for _ in range(n_edits):
        n_words = len(editor.words)
        start = n_words if rng.random() < 0.5 else rng.randint(0, n_words)
        stop = rng.choice([None, start, min(n_words, start + rng.randint(0, 4))])
        editor.splice(start, stop, [random_sentence_word(rng) for _ in range(rng.randrange(5))])
        if rng.random() < 0.7:
            editor.translate()
        elif rng.random() < 0.5:  # a command comes in between
            event = editor.passage.advance()
            if event is not None:
                editor.receiver(event)


def alone(utterance, policy, **arguments):
    """The caption these words get in these groups when nothing was ever edited."""
    translator = hashing_translator(policy, **arguments)
    twin = translator.open()
    for n_units in utterance._arrivals:
        n_words = min(n_units, len(utterance.words))
        ended = utterance.ended and n_units == utterance._arrivals[-1]
        twin.set_source(Sentence(utterance.words[:n_words], ended))
        list(changes(twin))
    return twin.caption


@pytest.mark.parametrize("policy", POLICIES)
def test_after_any_edits_every_caption_is_that_of_its_groups_of_words_alone(policy):
    for seed in range(10):
        rng = random.Random(seed)
        arguments = {"slot_length": rng.randint(3, 16)}
        editor = Editor(policy, **arguments)
        edit_at_random(editor, rng, 10)
        if rng.random() < 0.5:
            editor.finish()
        editor.translate()
        for utterance in editor.utterances:
            assert utterance.caption == alone(utterance, policy, **arguments)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_passage_that_ends_in_a_full_stop_has_the_captions_of_its_words_given_at_once(policy):
    """Then every end is known when its last word comes, whatever was edited before."""
    for seed in range(8):
        rng = random.Random(seed)
        editor, fresh = Editor(policy), Editor(policy)
        edit_at_random(editor, rng, 6)
        text = [word.rstrip(".,") or "a" for word in editor.words]
        text = [word + "." if rng.random() < 0.3 else word + "x" for word in text] + ["end."]
        editor.splice(0, None, text)
        fresh.splice(0, None, text)
        for each in (editor, fresh):
            each.translate()
        assert editor.text == fresh.text


@pytest.mark.parametrize("policy", ["read:3", "offline"])
def test_who_writes_no_full_stop_gets_the_caption_of_who_does_if_nothing_was_written_before_it(
    policy,
):
    """The model is fed the same tokens; what is shown lacks the mark on both sides."""
    for seed in range(8):
        rng = random.Random(seed)
        few = [1, 2] if policy == "read:3" else [1, 2, 4, 5, 7]
        words = [random_word(rng) for _ in range(rng.choice(few))]
        bare, marked = Editor(policy), Editor(policy)
        bare.splice(0, None, words)
        marked.splice(0, None, [*words[:-1], words[-1] + "."])
        for editor in (bare, marked):
            editor.finish()
            editor.translate()
        (shown, caption), = bare.text  # fmt: skip
        assert shown == tuple(words)
        assert caption == without_full_stop(marked.text[0][1])
        assert fed_ids(bare) == fed_ids(marked)


def fed_ids(editor):
    return [row.id for row in editor.utterances[0].fed_rows()]


def test_the_full_stop_follows_a_last_word_that_was_read_before_and_goes_with_the_end():
    editor = Editor("read:1")
    editor.append("ab cd")
    editor.translate()
    n_words = editor.utterances[0].n_read
    editor.finish()
    editor.translate()
    (utterance,) = editor.utterances
    stop = tuple(tiny_tokenizer().encode(".", add_special_tokens=False))
    assert utterance.source.units[n_words:] == ((*stop, utterance.prompt.end_of_source),)
    assert editor.text[0][0] == ("ab", "cd")
    editor.append("ef")  # it was not the end
    editor.translate()
    assert not set(stop) & set(fed_ids(editor))


def test_a_receiver_of_events_knows_the_passage():
    for seed in range(15):
        rng = random.Random(seed)
        editor = Editor(rng.choice(POLICIES))
        edit_at_random(editor, rng, 10)
        editor.finish()
        editor.translate()
        utterances = editor.utterances
        assert editor.receiver.order == [utterance.number for utterance in utterances]
        assert editor.text == [(utterance.words, utterance.caption) for utterance in utterances]
        assert editor.receiver.ended == {utterance.number for utterance in utterances}
        assert [word for words, _ in editor.text for word in words] == editor.words
        sentences = split_sentences(editor.words, editor.translator.settings.limits, finished=True)
        assert [words for words, _ in editor.text] == [sentence.words for sentence in sentences]


def test_what_cannot_be_read_is_not_translated_and_told_once():
    editor = Editor()
    editor.append("Hello. صباح الخير")
    told = editor.translate()
    assert not any(isinstance(event, NotTranslated) for event in told), "may be a name"
    editor.append("يا أحمد؟ 😀. Good")
    told = [event for event in editor.translate() if isinstance(event, NotTranslated)]
    numbers = editor.receiver.order
    assert told == [NotTranslated(utterance=numbers[1], source="صباح الخير يا أحمد؟")]
    editor.finish()
    assert not any(isinstance(event, NotTranslated) for event in editor.translate())
    captions = [caption for _, caption in editor.text]
    assert captions[1:3] == ["", ""]
    assert editor.receiver.ended == set(numbers)
    assert editor.passage.is_settled
    assert editor.passage.backlog_words == 0


def test_a_sentence_that_begins_with_a_strange_name_is_translated_when_more_comes():
    editor, fresh = Editor("read:1"), Editor("read:1")
    editor.append("Москва")
    editor.translate()
    assert editor.text[0][1] == ""
    editor.append("is big abc.")
    fresh.append("Москва is big abc.")
    editor.translate()
    fresh.translate()
    assert editor.text == fresh.text
    assert editor.text[0][1]


# --- what is told ---------------------------------------------------------------------------------


def test_only_the_sentence_that_changed_is_told_of():
    editor = Editor()
    editor.append("aa bb. cc dd. ee ff.")
    editor.translate()
    events = editor.splice(3, 4, ["ddd."]) + editor.translate()
    assert {event.utterance for event in events} == {2}
    assert [words for words, _ in editor.text] == [("aa", "bb."), ("cc", "ddd."), ("ee", "ff.")]


def test_a_word_that_is_added_takes_no_caption_back():
    editor = Editor()
    obey(editor.translator, word_for_word)
    editor.append("a b")
    editor.translate()
    assert editor.append("c") == [SourceChanged(utterance=1, words=untimed(("a", "b", "c")))]


def test_setting_the_same_words_tells_nothing():
    editor = Editor()
    editor.append("aa bb. cc dd. ee")
    editor.translate()
    assert editor.splice(0, None, list(editor.words)) == []
    assert editor.translate() == []


def test_a_sentence_that_is_cut_in_two_opens_one_and_joining_drops_it():
    editor = Editor()
    editor.append("aa bb cc dd. ee.")
    editor.translate()
    opened = editor.splice(1, 2, ["bb."])
    assert [words for words, _ in editor.text] == [("aa", "bb."), ("cc", "dd."), ("ee.",)]
    assert UtteranceOpened(utterance=3, before=2, languages=("en", "de")) in opened
    joined = editor.splice(1, 2, ["bb"])
    assert [words for words, _ in editor.text] == [("aa", "bb", "cc", "dd."), ("ee.",)]
    assert UtteranceDropped(utterance=3) in joined


def test_a_dropped_passage_leaves_nothing():
    editor = Editor()
    editor.append("aa bb. cc")
    editor.translate()
    dropped = editor.take(editor.passage.drop())
    assert dropped == [UtteranceDropped(utterance=1), UtteranceDropped(utterance=2)]
    assert editor.text == []
    assert editor.passage.n_words == 0
    editor.words.clear()
    editor.append("dd")
    assert editor.receiver.order == [3]


# --- long talks -----------------------------------------------------------------------------------


def test_a_talk_without_an_end_stays_small_and_loses_nothing():
    rng = random.Random(0)
    editor = Editor()
    for _ in range(150):
        editor.append(f"{random_word(rng)} x{random_word(rng)}.")
        editor.translate()
    assert len(editor.utterances) == 60
    assert len(editor.passage._words) == 120
    assert editor.passage.n_words == 300
    assert len(editor.text) == 150
    assert [word for words, _ in editor.text for word in words] == editor.words


def test_final_words_stay_as_they_are():
    editor = Editor()
    for _ in range(80):
        editor.append("aa bb.")
        editor.translate()
    before = editor.text
    final = editor.passage.n_words - len(editor.passage._words)
    assert final == 40
    editor.splice(0, None, [*(["xx"] * final), *editor.words[final:]])
    editor.translate()
    assert editor.text == before


def test_a_long_talk_with_absurdly_long_words_is_cut_at_a_word():
    editor = Editor()
    for _ in range(22):
        editor.append("x" * 700 + " aa bb.")
        editor.translate()
    assert len(editor.utterances) < 75
    assert "".join("".join(words) for words, _ in editor.text) == "".join(editor.words)
    editor.splice(0, None, [*editor.words[:-1], "cc."])
    editor.translate()
    assert editor.text[-1][0][-2:] == ("aa", "cc.")


def test_an_end_says_how_sure_a_calibrated_model_is(monkeypatch):
    def sure(model):
        return np.where(np.arange(384) == model._chosen, 0.0, -np.inf).astype(np.float32)

    monkeypatch.setattr(HashingModel, "logits", sure)
    editor = Editor()
    editor.append("aa bb.")
    ends = [event for event in editor.translate() if isinstance(event, UtteranceEnded)]
    assert [end.confidence for end in ends] == [None]
    conversation = editor.translator
    calibration = Calibration(slope=1.0, offset=0.0, threshold=0.6)
    card = replace(conversation.weights.card, calibration=calibration)
    conversation.weights = replace(conversation.weights, card=card)
    events = []
    for word in "cc dd ee ff gg hh.".split():
        editor.append(word)
        events += editor.translate()
    ends = [event for event in events if isinstance(event, UtteranceEnded)]
    assert [end.confidence for end in ends] == [Confidence(0.5, is_low=True)]
