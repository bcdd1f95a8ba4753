"""Train a streaming recogniser so small that tests can carry it.

It knows the sixty words of ``tests.tiny_whisper``, said by espeak-ng, in capitals and in pieces, as
the streaming models of others have them; it is a test asset and never offered to anybody. It is
trained by CTC (Graves et al. 2006), with each piece kept to the time at which it is said and a
little later (alignment restriction, Mahadeokar et al. 2021): left alone, a network that hears no
future learns to speak late. Five minutes on one core; a transducer is trained likewise, in ten.

    python -m tests.tiny_streaming.train --out tests/assets/tiny-streaming
    python -m tests.tiny_streaming.train --transducer --out tests/assets/tiny-transducer
"""

import argparse
import logging
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.tiny_streaming.features import N_BINS, log_mel
from tests.tiny_streaming.network import JOINED, Network
from tests.tiny_streaming.transducer import Transducer, before_each, transducer_loss
from tests.tiny_whisper.synthetic_speech import SpokenWord, Utterance, sentence, utterance

_log = logging.getLogger(__name__)

_POSITION_S = 0.01 * JOINED
_LATE_S = 0.28  # after its end a piece is still accepted
_EARLY = 0.5  # of a piece must be heard
_LONG = 5  # letters; longer words have two pieces
_BLANK, _SPECIAL = 0, ("<blk>", "<unk>")
_NEVER = -1e4

Trained = TypeVar("Trained", Network, Transducer)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Example:
    """What is heard, and when each piece is said.

    Attributes:
        features: (n_positions * 4, 80).
        ids: of the pieces.
        spans: the positions at which each may be told: first, and behind the last.
    """

    features: Tensor
    ids: list[int]
    spans: list[tuple[int, int]]


def pieces(word: str) -> tuple[str, ...]:
    """Cut a word, without punctuation and in capitals, as the tokens of such models are."""
    letters = "".join(filter(str.isalpha, word)).upper()
    half = len(letters) // 2
    whole = ("▁" + letters,)
    return whole if len(letters) <= _LONG else ("▁" + letters[:half], letters[half:])


def vocabulary() -> list[str]:
    """List the tokens of all sentences."""
    rng = random.Random(0)
    words = {word for _ in range(4_000) for word in sentence(rng).split()}
    return [*_SPECIAL, *sorted({piece for word in words for piece in pieces(word)})]


def make_example(spoken: Utterance, tokens: Sequence[str]) -> Example:
    """Turn an utterance into what the network hears and what it is to say."""
    features = torch.from_numpy(log_mel(spoken.samples))
    n_positions = len(features) // JOINED
    ids, spans = [], []
    for word in spoken.words:
        for piece, start_s, end_s in _timed(word):
            first = round((start_s + _EARLY * (end_s - start_s)) / _POSITION_S)
            last = max(first + 4, round((end_s + _LATE_S) / _POSITION_S))
            ids.append(tokens.index(piece))
            spans.append((first, min(last, n_positions)))
    return Example(features=features[: n_positions * JOINED], ids=ids, spans=spans)


def _timed(word: SpokenWord) -> Iterator[tuple[str, float, float]]:
    """Yield the pieces of a word with their times, by the number of their letters."""
    parts = pieces(word.text)
    n_letters = sum(map(len, parts))
    start_s, length_s = word.start_s, word.end_s - word.start_s
    for part in parts:
        end_s = start_s + length_s * len(part) / n_letters
        yield part, start_s, end_s
        start_s = end_s


def train(
    kind: type[Trained], tokens: Sequence[str], *, steps: int, n_utterances: int, seed: int = 1
) -> Trained:
    """Train on utterances of one to four sentences."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    examples = [
        make_example(utterance(rng, n_sentences=rng.choice((1, 1, 2, 3, 4))), tokens)
        for _ in range(n_utterances)
    ]
    _log.info("%d utterances said", len(examples))
    every = torch.cat([example.features for example in examples])
    network = kind(len(tokens), float(every.mean()), float(every.std()))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1.0, weight_decay=0.02)
    examples.sort(key=lambda example: len(example.features))
    began_s = time.monotonic()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 4e-3 * min((step + 1) / 50, (steps - step) / steps)
        first = rng.randrange(max(1, len(examples) - 64))
        batch = rng.sample(examples[first : first + 64], 16)
        loss = _loss(network, batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % 50 == 0:
            spent_s = time.monotonic() - began_s
            _log.info("step %d  loss %.3f  %.0f s", step + 1, loss.item(), spent_s)
    return network


def _loss(network: Network | Transducer, batch: Sequence[Example]) -> Tensor:
    n_positions = torch.tensor([len(example.features) // JOINED for example in batch])
    features = nn.utils.rnn.pad_sequence([one.features for one in batch], batch_first=True)
    features = features + 0.3 * torch.randn(len(batch), 1, N_BINS)  # another voice
    n_ids = torch.tensor([len(one.ids) for one in batch])
    ids = nn.utils.rnn.pad_sequence(
        [torch.tensor(one.ids, dtype=torch.long) for one in batch], batch_first=True
    )
    if isinstance(network, Transducer):
        before = nn.utils.rnn.pad_sequence([before_each(one.ids) for one in batch], True)
        scores = F.log_softmax(network(features, before), dim=-1)
        allowed = torch.full((*scores.shape[:2], ids.shape[1]), _NEVER)
        for row, example in zip(allowed, batch, strict=True):
            for place, (first, behind) in enumerate(example.spans):
                row[first:behind, place] = 0.0
        return transducer_loss(scores, ids, allowed, n_ids, n_positions)
    scores = F.log_softmax(network(features), dim=-1)
    allowed = torch.full_like(scores, _NEVER)
    allowed[..., _BLANK] = 0.0
    for row, example in zip(allowed, batch, strict=True):
        for id_, (first, behind) in zip(example.ids, example.spans, strict=True):
            row[first:behind, id_] = 0.0
    return F.ctc_loss(
        (scores + allowed).transpose(0, 1), ids, n_positions, n_ids, zero_infinity=True
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and write the folder that sherpa-onnx loads."""
    parser = argparse.ArgumentParser(prog="tests.tiny_streaming.train", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--transducer", action="store_true", help="not one network with CTC")
    parser.add_argument("--steps", type=int, default=1_500)
    parser.add_argument("--utterances", type=int, default=1_500)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    tokens = vocabulary()
    kind = Transducer if given.transducer else Network
    network = train(kind, tokens, steps=given.steps, n_utterances=given.utterances)
    given.out.mkdir(parents=True, exist_ok=True)
    for name, content in network.onnx().items():
        (given.out / name).write_bytes(content)
    lines = "".join(f"{token} {number}\n" for number, token in enumerate(tokens))
    (given.out / "tokens.txt").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
