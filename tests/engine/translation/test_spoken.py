import functools
import random

import numpy as np
import pytest
import torch

from engine.events import (
    CaptionChanged,
    Clear,
    Cleared,
    EndPassage,
    FedWord,
    FeedWords,
    Flush,
    Flushed,
    SourceChanged,
    UtteranceEnded,
    text_of,
)
from engine.runtime.torch.torch_store import TorchStore
from engine.settings import SOUND, ModelSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.spoken import SoundPassage, SpokenTranslator
from engine.translation.targets import Targets
from tests.support.direct.encoders import WIDTH, save_speech_encoder, tiny_encoder
from tests.support.fakes import (
    Receiver,
    save_plain_model,
    save_tiny_model,
    tiny_weights,
)
from tests.support.sessions import running

READ_2 = TranslationSettings(policy="read:2")


@functools.cache
def blocks(n_blocks, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(2, WIDTH)).astype(np.float32) for _ in range(n_blocks)]


def words_of(blocks):
    return tuple(
        FedWord("", number=n, start_s=0.32 * n, end_s=0.32 * n + 0.32, vectors=block)
        for n, block in enumerate(blocks, start=1)
    )


def new_passage(**others):
    return SoundPassage(Targets(SpokenTranslator(tiny_weights(), READ_2)), **others)


def caption_of(blocks, dtype=torch.float64):
    translator = SpokenTranslator(tiny_weights(dtype), READ_2)
    utterance = translator.open()
    utterance.hear(blocks, ended=True)
    list(changes(utterance))
    return utterance.caption


def advance(passage, receiver, events=()):
    for event in (*events, *iter(passage.advance, None)):
        receiver(event)


def test_blocks_that_come_one_by_one_are_one_utterance_with_the_caption_of_all_at_once():
    passage, receiver = new_passage(), Receiver()
    rng, words, start = random.Random(0), words_of(blocks(12)), 0
    while start < len(words):
        stop = start + rng.randint(0, 3)
        advance(passage, receiver, passage.splice(passage.n_words, None, words[start:stop]))
        start = stop
    assert not passage.is_settled
    advance(passage, receiver, passage.finish())
    ((heard, caption),) = receiver.text
    assert heard == ("",) * 12
    assert caption == caption_of(blocks(12)) != ""
    assert passage.is_settled
    assert len(receiver.ended) == 1


def test_sound_may_be_longer_than_the_cache_and_what_is_evicted_is_forgotten():
    translator = SpokenTranslator(tiny_weights(), READ_2, capacity=100)
    utterance = translator.open()
    for n, block in enumerate(blocks(40), start=1):
        utterance.hear([block], ended=False)
        list(changes(utterance))
        assert translator.model.n_rows == utterance.planner.n_fed <= 100
        assert len(utterance.vectors) == 2 * (n - utterance.planner.n_evicted_words)
    assert utterance.planner.n_evicted_words > 10


def test_words_that_are_shown_keep_no_vectors_and_have_no_text():
    events = new_passage().splice(0, None, words_of(blocks(3)))
    (changed,) = [event for event in events if isinstance(event, SourceChanged)]
    assert [word.vectors for word in changed.words] == [None] * 3
    assert [word.number for word in changed.words] == [1, 2, 3]
    assert text_of(changed.words) == ""


def test_blocks_wait_while_a_passage_is_held():
    passage, receiver = new_passage(held=True), Receiver()
    advance(passage, receiver, passage.splice(0, None, words_of(blocks(12))[:5]))
    advance(passage, receiver, passage.splice(5, None, words_of(blocks(12))[5:]))
    assert receiver.text == []
    assert passage.backlog_words == 12
    advance(passage, receiver, passage.finish())
    advance(passage, receiver, passage.resume())
    ((_, caption),) = receiver.text
    assert caption == caption_of(blocks(12))


def hearing(folder):
    save_speech_encoder(folder, tiny_encoder(torch.float32))
    return ModelSettings(directory=folder, device="cpu", capacity=1024, system=SOUND)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return hearing(save_tiny_model(tmp_path_factory.mktemp("direct")))


@pytest.mark.parametrize("save", [save_tiny_model, save_plain_model])
def test_a_session_captions_two_speakers_straight_from_the_sound(save, tmp_path):
    with running(hearing(save(tmp_path)), translation=READ_2) as (session, listener):
        one, other = words_of(blocks(9, 1)), words_of(blocks(9, 2))
        for start in range(0, 9, 3):
            session.send(FeedWords(one[start : start + 3], "me"))
            session.send(FeedWords(other[start : start + 3], "them"))
        for lane in ("me", "them"):
            session.send(EndPassage(lane))
        session.send(Flush(1))
        listener.wait_for(Flushed)
        captions = [caption for _, caption in listener.receiver.text]
        assert captions == [caption_of(blocks(9, seed), torch.float32) for seed in (1, 2)]
        assert len(listener.all_of(UtteranceEnded)) == 2


def test_a_session_forgets_sound_that_is_cleared(model):
    with running(model, translation=READ_2) as (session, listener):
        session.send(FeedWords(words_of(blocks(4)), ""))
        listener.wait_for(CaptionChanged)
        session.send(Clear())
        listener.wait_for(Cleared)
        assert listener.receiver.text == []
        session.send(FeedWords(words_of(blocks(9, 1)), ""))
        session.send(EndPassage(""))
        session.send(Flush(1))
        listener.wait_for(Flushed)
        ((_, caption),) = listener.receiver.text
        assert caption == caption_of(blocks(9, 1), torch.float32)


def test_a_block_is_fed_once_while_a_session_listens(model, monkeypatch):
    fed, compute = [], TorchStore.compute

    def note(store, ask):
        fed.extend(row.id for row in ask.rows if row.id < 0)
        return compute(store, ask)

    with running(model, translation=READ_2) as (session, listener):
        monkeypatch.setattr(TorchStore, "compute", note)
        for word in words_of(blocks(10)):
            session.send(FeedWords((word,), ""))
        session.send(EndPassage(""))
        session.send(Flush(1))
        listener.wait_for(Flushed)
    assert fed == [-1 - n for n in range(20)]


def test_typed_words_are_not_read_however_often_the_line_changes():
    passage = new_passage()
    for typed in (("a",), ("a", "b"), ("c",), ()):
        assert passage.splice(0, None, tuple(map(FedWord, typed))) == []
    assert passage.finish() == []
    assert passage.n_words == 0
