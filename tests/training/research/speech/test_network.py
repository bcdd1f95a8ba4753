"""The network of the stages is that which runs live, and its gradients are those of its losses."""

import copy
import functools
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.layout.rows import IGNORE
from engine.policy import ReadN
from engine.runtime.sound import BlockStream, block_samples
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_store import embedded
from engine.settings import LayoutSettings
from engine.text.prompt import make_prompt
from tests.support.direct.corpora import tones
from tests.support.direct.encoders import tiny_encoder
from tests.support.fakes import tiny_weights
from training.research.speech import (
    Sample,
    SpeechSettings,
    SpokenLoss,
    SpokenNetwork,
    batch_of,
    live_rows,
    offline_rows,
    spectrum,
    spoken,
)
from training.research.speech_corpus import Line
from training.trainer.loss import Markers
from training.trainer.stream import Example, pad

ALL = ("words", "offline", "simultaneous", "policy")


def sound(words):
    return tones(words.split())


def utterance(words, target):
    n = len(words.split())
    return Line(
        shard="s", first=0, n_samples=len(sound(words)), source=words, target=target, corpus="",
        needs=tuple(range(1, n + 1)), ends_ms=tuple(240 * (i + 1) for i in range(n)), voice="",
    )  # fmt: skip


LINES = (utterance("a b c d e f g", "ae bd ch de ed fh gd"), utterance("h a b", "he ae bd"))


@functools.cache
def network(seed=0):
    weights = tiny_weights()
    vocabulary = len(weights.tokenizer) + 1
    encoder = tiny_encoder(seed=seed, vocabulary=vocabulary)
    translator = copy.deepcopy(weights.network)
    prompt = make_prompt(weights.tokenizer, weights.card, "de")
    made = SpokenNetwork(encoder, translator, Markers.of(prompt)).double()
    torch.nn.init.normal_(made.head.weight)
    return made, prompt


def sample(line, layout_name="slots", *, live=True, offline=True):
    made, prompt = network()
    card = made.encoder.card
    one = spoken(line, tiny_weights().tokenizer, block_samples(card), card.positions)
    layout = LayoutSettings(slot_length=8, name=layout_name)
    rows, decided = live_rows(one, ReadN(2), prompt, layout)
    return Sample(
        mel=spectrum(sound(line.source), block_samples(card)),
        n_blocks=one.n_blocks,
        words=one.words,
        offline=Example(offline_rows(one, prompt, layout), ends_writes=False) if offline else None,
        live=Example(rows, ends_writes=True) if live else None,
        decided=decided if live else (),
    )


def batch(*samples):
    made = batch_of(samples)
    return made.__class__(
        *(
            value.double() if name == "mel" else value
            for name, value in ((n, getattr(made, n)) for n in made.__dataclass_fields__)
        )
    )


def live_vectors(line):
    """What the encoder makes of the sound as it comes."""
    made, _ = network()
    stream, samples = BlockStream(made.encoder), sound(line.source)
    blocks = [
        b for start in range(0, len(samples), 999) for b in stream.feed(samples[start:][:999])
    ]
    return [block.vectors for block in blocks + stream.flush()]


@pytest.mark.parametrize("layout_name", ["slots", "interleaved"])
def test_each_line_of_a_batch_is_read_with_the_vectors_of_its_own_sound(layout_name):
    """Against each translation alone, with what the encoder makes of its sound live."""
    made, _ = network()
    samples = [sample(line, layout_name) for line in LINES]
    whole = batch(*samples)
    with torch.no_grad():
        encoded = made.encoder(whole.mel, whole.n_blocks)
        logits, states = made.read(made.encoder.vectors(encoded), whole)
        examples = [(i, e) for i, s in enumerate(samples) for e in (s.offline, s.live)]
        for number, (index, example) in enumerate(examples):
            alone = pad([example])
            vectors = torch.from_numpy(np.concatenate(live_vectors(LINES[index]))).double()
            carried = [-1 - row.id for row in example.rows if row.id < 0]
            output = made.translator(
                inputs_embeds=embedded(made.translator, alone.ids, vectors[carried]),
                position_ids=alone.places.encoded,
                attention_mask=alone.bias(Attention.of(made.translator)),
                use_cache=False,
                output_hidden_states=True,
            )
            n = len(example.rows)
            torch.testing.assert_close(logits[number, :n], output.logits[0], rtol=0, atol=1e-4)
            expected = output.hidden_states[-1][0]
            torch.testing.assert_close(states[number, :n], expected, rtol=0, atol=1e-4)


def test_losses_are_means_over_tokens_decisions_and_utterances():
    made, prompt = network()
    samples = [sample(line) for line in LINES]
    whole = batch(*samples)
    losses = made(whole)
    assert set(losses) == set(ALL)
    with torch.no_grad():
        encoded = made.encoder(whole.mel, whole.n_blocks)
        logits, states = made.read(made.encoder.vectors(encoded), whole)
    found = {name: [] for name in ALL[1:]}
    for number in range(4):
        one, is_live = samples[number // 2], number % 2 == 1
        example = one.live if is_live else one.offline
        banned = prompt.suppressed(ends_writes=is_live)
        for index, row in enumerate(example.rows):
            if row.label != IGNORE:
                likely = logits[number, index].clone()
                likely[sorted(banned)] = -100
                name = "simultaneous" if is_live else "offline"
                found[name].append(-likely.log_softmax(-1)[row.label])
            if is_live and one.decided[index] >= 0:
                decision = (made.head.weight @ states[number, index]).log_softmax(-1)
                found["policy"].append(-decision[one.decided[index]])
    for name, each in found.items():
        torch.testing.assert_close(
            losses[name].double(), torch.stack(each).mean(), atol=1e-5, rtol=0
        )


def test_the_loss_of_words_sums_over_all_ways_to_write_them():
    made, _ = network()
    one = sample(utterance("a b", "ae bd"), live=False, offline=False)
    whole = batch(one)
    with torch.no_grad():
        losses = made(whole)
        encoded = made.encoder(whole.mel, whole.n_blocks)
        likely = made.encoder.words(encoded.flatten(1, 2))[0].softmax(-1)
    assert set(losses) == {"words"}
    blank, words = likely.shape[1] - 1, one.words
    states = {((), blank): 1.0}
    for frame in likely:
        fresh = {}
        for (written, last), way in states.items():
            for id_ in {*words, blank}:
                said = written if id_ in (blank, last) else (*written, id_)
                if said == words[: len(said)]:
                    key = (said, id_)
                    fresh[key] = fresh.get(key, 0.0) + way * float(frame[id_])
        states = fresh
    total = sum(way for (written, _), way in states.items() if written == tuple(words))
    assert float(losses["words"]) == pytest.approx(-np.log(total) / len(words), rel=1e-4)
    too_long = batch(replace(one, words=one.words * 40))
    assert made(too_long)["words"] == 0, "no sound is long enough for its words, and none is learnt"


@pytest.mark.parametrize(
    ("parts", "losses"),
    [
        (("encoder",), ("words",)),
        (("encoder", "adapter"), ("offline",)),
        (("encoder", "adapter", "head"), ("offline", "simultaneous", "policy")),
        (("adapter", "head"), ("simultaneous", "policy")),
        (("translator", "adapter"), ("offline",)),
    ],
)
def test_gradients_reach_the_parts_of_a_stage_and_no_others(parts, losses):
    made = copy.deepcopy(network()[0])
    settings = SpeechSettings(parts=parts, losses=losses, policy_weight=0.5)
    made.train_only(settings)
    whole = batch(*(sample(line) for line in LINES))
    SpokenLoss(settings, {})(made, whole).backward()
    reached = {name for name, it in made.named_parameters() if it.grad is not None}
    adapter = ("encoder.merge_first", "encoder.merge_second", "encoder.out")
    for name, parameter in made.named_parameters():
        if name.startswith("encoder.words"):
            wanted = "words" in losses
        elif name.startswith(adapter):
            wanted = "adapter" in parts
        else:
            wanted = name.partition(".")[0] in parts
        if "embed_tokens" in name and wanted:
            continue
        assert (name in reached) == wanted, name
        assert not wanted or parameter.grad.isfinite().all()
