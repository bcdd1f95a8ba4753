"""Conversations that come and go at any pass say what each says alone, whichever library computes.

Guards the lanes of both stores and who runs them: a row of another lane, a column that is not its
own or a work that goes on at the wrong pass changes what is said.
"""

import random

import pytest

from engine.metrics.event_log import EventLog
from engine.runtime.causal_model import CausalModel, Together
from engine.runtime.loader import load_weights
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.factory import make_system
from engine.translation.feed import growing, known_steps
from tests.support.fakes import random_word, save_plain_model, tiny_weights

CAPACITY = 300
POLICIES = ["read:1", "read:3", "wait:2", "offline"]


def weights_on(runtime, folder):
    if runtime == "torch":
        return tiny_weights()
    return load_weights(ModelSettings(directory=save_plain_model(folder), device="cpu"))


def conversation(weights, policy, sentences, model):
    """Return captions, which grow, and the work that translates these sentences word by word."""
    settings = TranslationSettings(policy=policy, layout=LayoutSettings(slot_length=6))
    system = make_system("slots", weights, settings, capacity=CAPACITY, log=EventLog(), model=model)
    captions = []

    def work():
        for words in sentences:
            utterance = system.open()
            for known in growing(Sentence(words, ended=True)):
                yield from known_steps(utterance, known)
            captions.append(utterance.caption)

    return captions, work()


def drawn(number):
    """A policy and sentences."""
    rng = random.Random(number)
    sentences = [
        tuple(random_word(rng) for _ in range(rng.randint(1, 7))) for _ in range(rng.randint(1, 3))
    ]
    return rng.choice(POLICIES), sentences


class House:
    """Conversations that come, speak beside each other and leave, some before they have ended."""

    def __init__(self, weights, n_lanes, numbers):
        self.store = weights.new_store(n_lanes, CAPACITY)
        self.together = Together(self.store)
        self.n_passes = self.n_asked = 0
        self.said, self.counts, self.left = {}, {}, set()
        self._weights, self._waiting, self._in = weights, list(numbers), {}

    def play(self, rng):
        while self._waiting or self._in:
            for lane in range(len(self.store.book.n_rows)):
                self._change(lane, rng.random())
            if self.together.n_asked:
                self.n_asked += self.together.n_asked
                self.n_passes += 1
                self.together.compute()

    def _change(self, lane, chance):
        if lane not in self._in and self._waiting and chance < 0.3:
            number = self._waiting.pop()
            self.store.book.truncate(lane, 0)
            model = CausalModel(self.store, lane)
            captions, work = conversation(self._weights, *drawn(number), model)
            self._in[lane] = number, captions, model
            self.together.begin(lane, work)
        elif self.together.is_busy(lane) and chance < 0.005:
            self.left.add(self._in[lane][0])
            self.together.end(lane)
        if lane in self._in and not self.together.is_busy(lane):
            number, captions, model = self._in.pop(lane)
            self.said[number], self.counts[number] = captions, model.tokens_fed


@pytest.mark.parametrize("runtime", ["torch", "onnx"])
def test_conversations_that_come_and_go_say_what_each_says_alone(runtime, tmp_path):
    weights, numbers = weights_on(runtime, tmp_path), range(12)
    house = House(weights, 5, numbers)
    house.play(random.Random(5))
    assert 0 < len(house.left) < len(numbers)
    assert house.n_passes < 0.5 * house.n_asked
    for number in numbers:
        model = weights.new_model(CAPACITY)
        captions, work = conversation(weights, *drawn(number), model)
        model.run(work)
        said = house.said[number]
        assert said == captions[: len(said)], number
        if number not in house.left:
            assert len(said) == len(captions)
            assert house.counts[number] == model.tokens_fed, "nothing is computed again"


@pytest.mark.parametrize("runtime", ["torch", "onnx"])
def test_what_the_network_raises_ends_no_other_pass(runtime, tmp_path, monkeypatch):
    weights = weights_on(runtime, tmp_path)
    store = weights.new_store(2, CAPACITY)
    together, ended = Together(store), []

    def patient(work):
        try:
            yield from work
        except MemoryError:
            ended.append("no memory")

    sentences = [("abc", "de", "fa")]
    feed = store.feed
    monkeypatch.setattr(store, "feed", lambda _: (_ for _ in ()).throw(MemoryError("full")))
    _, work = conversation(weights, "read:1", sentences, CausalModel(store, 1))
    together.begin(1, patient(work))
    together.compute()
    assert ended == ["no memory"]
    assert not together.is_busy(1)
    monkeypatch.setattr(store, "feed", feed)
    store.book.truncate(1, 0)
    captions, work = conversation(weights, "read:1", sentences, CausalModel(store, 1))
    together.begin(1, work)
    while together.n_asked:
        together.compute()
    model = weights.new_model(CAPACITY)
    wanted, work = conversation(weights, "read:1", sentences, model)
    model.run(work)
    assert captions == wanted
