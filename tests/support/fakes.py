"""Stand-ins for tests: a tiny random model with a tokenizer of its own, and a model that obeys."""

import copy
import functools
import json
import random
from dataclasses import replace

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from engine.errors import CacheFullError
from engine.events import (
    CaptionChanged,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.layout.planner import planner_of
from engine.layout.rows import Headers
from engine.runtime.causal_model import answered
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import LayoutSettings, TranslationSettings
from engine.text.prompt import Prompt
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from training.trainer.samples import TokenizedPair
from training.trainer.tokenizer import (
    END,
    END_OF_WRITE,
    make_card,
    save_tokenizer,
    train_tokenizer,
)

LETTERS = "abcdefgh"


def bare_prompt(n_system=1, n_user=1, n_assistant=1, *, n_first=None):
    """A prompt without a tokenizer; ids from 900 are headers and markers."""
    user = tuple(range(910, 910 + n_user))
    return Prompt(
        headers=Headers(
            system=tuple(range(900, 900 + n_system)),
            user=user,
            assistant=tuple(range(920, 920 + n_assistant)),
            first=user[:n_first],
        ),
        end_of_source=930,
        end_of_write=931,
        end_of_target=932,
        markers=frozenset({930, 931, 932}),
    )


def random_word(rng):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 6)))


@functools.cache
def tiny_tokenizer() -> PreTrainedTokenizerFast:
    rng = random.Random(0)
    lines = [" ".join(random_word(rng) for _ in range(6)) for _ in range(300)]
    return train_tokenizer(lines, vocabulary=384, languages=["de", "fr"])


@functools.cache
def tiny_weights(dtype=torch.float64, seed=0) -> TorchWeights:
    """A random Llama of two layers whose logits are spread, so that it says many things."""
    tokenizer = tiny_tokenizer()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=384,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        initializer_range=0.3,
        tie_word_embeddings=False,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    network = LlamaForCausalLM(config).to(dtype).eval()
    with torch.no_grad():  # ends are likely, so that writes are as short as real ones
        for marker in (END_OF_WRITE, END):
            network.lm_head.weight[tokenizer.convert_tokens_to_ids(marker)] *= 3
    card = make_card(name="tiny", languages=["de", "fr"], slot_length=16, policies=["read:3"])
    return TorchWeights(network=network, tokenizer=tokenizer, card=card)


def random_pair(rng, *, first_id=0, n_ids=800, aligned=True):
    """Random words of one to three tokens on both sides, with a random rising schedule."""

    def words():
        return tuple(
            tuple(rng.randrange(first_id, n_ids) for _ in range(rng.randint(1, 3)))
            for _ in range(rng.randint(1, 9))
        )

    source, target = words(), words()
    needs = sorted(rng.randint(1, len(source)) for _ in target)
    return TokenizedPair(source, target, tuple(needs) if aligned else None)


def save_tiny_model(folder, dtype=torch.float32):
    """The tiny random model as a model folder."""
    weights = tiny_weights(dtype)
    weights.network.save_pretrained(folder)
    leave_to_torch(folder)
    save_tokenizer(weights.tokenizer, weights.card, folder)
    return folder


def leave_to_torch(folder):
    """Give the attention of a Llama biases of zero: the same network, but no plain one."""
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(config | {"attention_bias": True}), "utf-8")
    tensors = load_file(folder / "model.safetensors")
    for name in [*tensors]:
        if ".self_attn." in name:
            zeros = torch.zeros(len(tensors[name]), dtype=tensors[name].dtype)
            tensors[name.replace(".weight", ".bias")] = zeros
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


WORD_FOR_WORD = {
    "a": "ae", "b": "bd", "c": "ch", "d": "de", "e": "ed", "f": "fh", "g": "gd", "h": "he",
}  # fmt: skip
"""A language in which every word is one token, as it is in the source."""


def word_for_word(utterance):
    """Name the next token of a translation word for word; the end when there is no more source."""
    prompt = utterance.prompt
    n_words = sum(id_ not in prompt.markers for id_ in utterance.state.chosen)
    markers_read = int(utterance.source.units[utterance.n_read - 1][-1] == prompt.end_of_source)
    n_source = sum(map(len, utterance.source.units[: utterance.n_read])) - markers_read
    if n_words < min(n_source, len(utterance.words)):  # a full stop may stand in none of them
        target = " " + WORD_FOR_WORD[utterance.words[n_words]]
        (id_,) = tiny_tokenizer().encode(target, add_special_tokens=False)
        return id_
    return prompt.end_of_write if utterance.policy.ends_writes else prompt.end_of_target


def numbered_pair(rng, *, aligned=True):
    """A random pair in which no id stands twice: source from 1000, target from 2000."""
    pair = random_pair(rng, aligned=aligned)

    def number(words, first_id):
        ids = iter(range(first_id, first_id + 1000))
        return tuple(tuple(next(ids) for _ in word) for word in words)

    return TokenizedPair(number(pair.source, 1000), number(pair.target, 2000), pair.needs)


class AnsweringModel:
    """In the place of ``CausalModel``: computes at once what it is asked for."""

    def run(self, work):
        return answered(work, None)

    def ask(self, rows):
        yield from ()
        return self.feed(rows)

    def ask_id(self, rows, suppressed, *, keep_states=False):
        yield from ()
        return self.next_id(rows, suppressed, keep_states=keep_states)


def teach(model, next_id):
    """Let a function choose the next ids in the place of a model; it feeds the rows, too."""

    def ask_id(*arguments, **others):
        yield from ()
        return next_id(*arguments, **others)

    model.ask_id = ask_id


class HashingModel(AnsweringModel):
    """In the place of ``CausalModel``: fast, exact; its next id depends on just what is visible.

    The state of a row is a hash of its id, its position and the states of all rows it sees, so a
    row that is missing, stale, misplaced or seen too early changes everything that is said after.
    """

    def __init__(self, capacity=2048):
        self.capacity = capacity
        self.max_positions = 1 << 20
        self.tokens_fed = self.forwards = self.flops = self.last_flops = 0
        self.peak_memory_bytes = 0
        self._chosen = 0
        self._second, self._gap = 0, np.inf  # another id, and how much less likely it is, in nats
        self._cached = []  # (position, time, state)

    @property
    def n_rows(self):
        return len(self._cached)

    def use(self, layout):
        assert not planner_of(layout).ranked

    def truncate(self, n_rows):
        assert 0 <= n_rows <= self.n_rows
        del self._cached[n_rows:]

    def feed(self, rows):
        if self.n_rows + len(rows) > self.capacity:
            raise CacheFullError(capacity=self.capacity, wanted=self.n_rows + len(rows))
        new = []
        for row in sorted(rows, key=lambda row: row.position):  # what a row sees comes before it
            seen = sum(
                state
                for position, time, state in self._cached + new
                if position <= row.position and time <= row.time
            )
            new.append((row.position, row.time, hash((row.id, row.position, seen)) & 0xFFFFFFFF))
        by_position = {place[0]: place for place in new}
        self._cached += [by_position[row.position] for row in rows]
        self.tokens_fed += len(rows)
        self.forwards += 1
        self.last_flops = 100 * len(rows) + self.n_rows
        self.flops += self.last_flops
        return by_position[rows[-1].position][2]

    def logits(self):
        logits = np.full(384, -np.inf, dtype=np.float32)  # nothing else may be chosen
        logits[self._second] = -self._gap
        logits[self._chosen] = 0.0
        return logits

    def states(self):
        return self._states

    def next_id(self, rows, suppressed, *, keep_states=False):
        rng = random.Random(self.feed(rows))
        if keep_states:
            states = {position: state for position, _, state in self._cached}
            self._states = np.array([[states[row.position] / 2**32 - 0.5] for row in rows])
        ends = tiny_tokenizer().convert_tokens_to_ids([END_OF_WRITE, END])
        if rng.random() < 0.25:
            self._chosen = rng.choice([id_ for id_ in ends if id_ not in suppressed])
        else:
            self._chosen = rng.randrange(270, 384)
        if ends[0] not in suppressed:
            self._second = 270 if self._chosen == ends[0] else ends[0]
            self._gap = 4 * rng.random()
        return self._chosen


def hashing_translator(
    policy="read:3", *, slot_length=16, language="de", log=None, layout="slots", kind=Translator
):
    """A translator that needs no network; its rows have states of width 1."""
    settings = TranslationSettings(
        target_language=language,
        policy=policy,
        layout=LayoutSettings(slot_length=slot_length, name=layout),
    )
    translator = kind(tiny_weights(), settings, capacity=64, log=log)
    translator.model = HashingModel()
    return translator


def instructed_translator():
    """A translator of an instruct model, which finds its glossary in the prompt."""
    engine = hashing_translator()
    weights = engine.weights
    engine.weights = replace(weights, card=replace(weights.card, policies=()))
    return engine


def obey(translator, next_id):
    """Let ``next_id(utterance)`` speak in the model's place; rows are fed to it all the same."""
    feed = translator.model.feed

    def speak(rows, _suppressed, *, keep_states=False):
        assert not keep_states
        feed(rows)
        return next_id(translator._cached)

    teach(translator.model, speak)


def names(rows):
    """Rows by the names of their tokens, without the blank before a word."""
    tokens = tiny_tokenizer().convert_ids_to_tokens([row.id for row in rows])
    return " ".join(token.removeprefix("Ġ").strip("<|>") for token in tokens)


class Receiver:
    """What a window makes of events: utterances in order, their words, captions and ends."""

    def __init__(self):
        self.order = []
        self.words = {}
        self.captions = {}
        self.ended = set()

    def __call__(self, event):
        match event:
            case UtteranceOpened(utterance=number, before=before):
                assert number not in self.captions, "a number is never used again"
                self.order.insert(
                    len(self.order) if before is None else self.order.index(before), number
                )
                self.words[number], self.captions[number] = (), ""
            case SourceChanged(utterance=number, words=words):
                assert number in self.order
                self.words[number] = tuple(word.text for word in words)
                self.ended.discard(number)
            case CaptionChanged(utterance=number, kept=kept, text=text, language=""):
                assert number in self.order
                assert kept <= len(self.captions[number])
                self.captions[number] = self.captions[number][:kept] + text
            case UtteranceEnded(utterance=number, language=""):
                assert number in self.order
                assert number not in self.ended, "an end is told once"
                self.ended.add(number)
            case UtteranceDropped(utterance=number):
                self.order.remove(number)
                self.ended.discard(number)

    @property
    def text(self):
        """Words and caption of every utterance, in order."""
        return [(self.words[number], self.captions[number]) for number in self.order]


def save_plain_model(folder, *, tied=False):
    """The tiny random model as transformers saves it, which ONNX Runtime computes."""
    weights = tiny_weights(torch.float32)
    network = weights.network
    if tied:
        config = copy.deepcopy(network.config)
        config.tie_word_embeddings = True
        network = LlamaForCausalLM(config).eval()
        network.load_state_dict(weights.network.state_dict(), strict=False)
        network.tie_weights()
    network.save_pretrained(folder)
    save_tokenizer(weights.tokenizer, weights.card, folder)
    return folder


def play(system, rng, n_turns, draw=random_word, *, edits=0.4):
    """Feed words one by one to an utterance, edit it at random, end it, and return it.

    ``draw`` draws a word; ``edits`` is the share of turns after which a word is changed or taken
    away.
    """
    utterance, words = system.open(), []
    for _ in range(n_turns):
        for _ in range(rng.randint(1, 4)):
            words.append(draw(rng))
            utterance.set_source(bare(words, ended=False))
            list(changes(utterance))
        if rng.random() < edits:
            index = rng.randrange(len(words))
            words[index : index + 1] = [draw(rng)] if rng.random() < 0.7 else []
            utterance.set_source(bare(words, ended=False))
            list(changes(utterance))
    utterance.set_source(bare(words or ["a"], ended=True))
    list(changes(utterance))
    assert utterance.finished
    return utterance
