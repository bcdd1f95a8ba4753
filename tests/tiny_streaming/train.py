"""Train a streaming recogniser so small that tests can carry it.

It knows the sixty words of ``tests.tiny_whisper``, said by espeak-ng, in capitals and in pieces, as
the streaming models of others have them; it is a test asset and never offered to anybody. It is
trained by CTC (Graves et al. 2006), with each piece kept to the time at which it is said and a
little later (alignment restriction, Mahadeokar et al. 2021): left alone, a network that hears no
future learns to speak late. Five minutes on one core; a transducer is taught on top of it in one.

    cd tests/assets
    python -m tests.tiny_streaming.train --out tiny-streaming --transducer tiny-transducer
"""

import argparse
import logging
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.tiny_streaming.features import N_BINS, log_mel
from tests.tiny_streaming.network import JOINED, Network
from tests.tiny_streaming.transducer import teach
from tests.tiny_whisper.synthetic_speech import SpokenWord, Utterance, sentence, utterance

_log = logging.getLogger(__name__)

_POSITION_S = 0.01 * JOINED
_LATE_S = 0.28  # after its end a piece is still accepted
_EARLY = 0.5  # of a piece must be heard
_LONG = 5  # letters; longer words have two pieces
_BLANK, _SPECIAL = 0, ("<blk>", "<unk>")
_NEVER = -1e4


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


def say(tokens: Sequence[str], n_utterances: int, seed: int = 1) -> list[Example]:
    """Say utterances of one to four sentences."""
    rng = random.Random(seed)
    return [
        make_example(utterance(rng, n_sentences=rng.choice((1, 1, 2, 3, 4))), tokens)
        for _ in range(n_utterances)
    ]


def train(tokens: Sequence[str], examples: list[Example], steps: int, seed: int = 1) -> Network:
    """Train with CTC."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    every = torch.cat([example.features for example in examples])
    network = Network(len(tokens), float(every.mean()), float(every.std()))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1.0, weight_decay=0.02)
    examples = sorted(examples, key=lambda example: len(example.features))
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


def _loss(network: Network, batch: Sequence[Example]) -> Tensor:
    n_positions = [len(example.features) // JOINED for example in batch]
    features = nn.utils.rnn.pad_sequence([one.features for one in batch], batch_first=True)
    features = features + 0.3 * torch.randn(len(batch), 1, N_BINS)  # another voice
    ids = [torch.tensor(example.ids, dtype=torch.long) for example in batch]
    scores = F.log_softmax(network(features), dim=-1)
    allowed = torch.full_like(scores, _NEVER)
    allowed[..., _BLANK] = 0.0
    for row, example in zip(allowed, batch, strict=True):
        for id_, (first, behind) in zip(example.ids, example.spans, strict=True):
            row[first:behind, id_] = 0.0
    return F.ctc_loss(
        (scores + allowed).transpose(0, 1),
        nn.utils.rnn.pad_sequence(ids, batch_first=True),
        torch.tensor(n_positions),
        torch.tensor([len(one) for one in ids]),
        zero_infinity=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and write the folder that sherpa-onnx loads."""
    parser = argparse.ArgumentParser(prog="tests.tiny_streaming.train", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for that with CTC")
    parser.add_argument("--transducer", type=Path, help="folder for a transducer as well")
    parser.add_argument("--steps", type=int, default=1_500)
    parser.add_argument("--joiner-steps", type=int, default=3_000)
    parser.add_argument("--utterances", type=int, default=1_500)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    tokens = vocabulary()
    examples = say(tokens, given.utterances)
    _log.info("%d utterances said", len(examples))
    network = train(tokens, examples, given.steps)
    write(given.out, tokens, network.onnx())
    if given.transducer:
        write(given.transducer, tokens, teach(network, examples, given.joiner_steps).onnx())


def write(folder: Path, tokens: Sequence[str], files: Mapping[str, bytes]) -> None:
    """Write a folder that sherpa-onnx loads."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    lines = "".join(f"{token} {number}\n" for number, token in enumerate(tokens))
    (folder / "tokens.txt").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
