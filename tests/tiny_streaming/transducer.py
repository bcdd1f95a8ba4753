"""A transducer that hears 80 ms at a time, and the same as three files for sherpa-onnx.

Its encoder is that of ``tests.tiny_streaming.network``, trained with CTC, a projection for its last
layer and its weights in 8 bits. The decoder knows the two tokens told last. The joiner tells at
most one token at a position, as the library searches. Source:
``online-zipformer2-transducer-model.cc`` of
https://github.com/k2-fsa/sherpa-onnx.
"""

import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.runtime.onnx.onnx_proto import (
    FLOAT,
    INT64,
    constant,
    graph_input,
    graph_output,
    model,
    node,
)
from tests.tiny_streaming.network import WIDTH, Network, metadata, numbers

if TYPE_CHECKING:
    from tests.tiny_streaming.train import Example

_log = logging.getLogger(__name__)

CONTEXT = 2
"""Tokens told before that the decoder knows."""

IGNORED = -100
"""Stands where it does not matter what is told."""

_SLIPS, _HASTE, _FORGETS, _LATEST = 0.3, 0.1, 0.02, 3
_WALKS = 3  # of each utterance, the first one without slips
_EMBEDDED = 32
_BATCH = 2_048  # positions


class Transducer(nn.Module):
    """What is heard (..., WIDTH) and tokens before (..., 2) become scores (..., V).

    Its encoder is a network that was trained with CTC, and is left as it is.
    """

    def __init__(self, encoder: Network) -> None:
        super().__init__()
        n_tokens = encoder.tokens.out_features
        self.encoder = encoder.requires_grad_(requires_grad=False)
        self.projection = nn.Linear(WIDTH, WIDTH)
        self.embedding = nn.Embedding(n_tokens, _EMBEDDED)
        self.decoder = nn.Linear(CONTEXT * _EMBEDDED, WIDTH)
        self.joiner = nn.Linear(WIDTH, n_tokens)

    def forward(self, heard: Tensor, before: Tensor) -> Tensor:
        """Score; ``heard`` is what ``encoder.hidden`` returns, and no token is -1."""
        told = self.decoder(self.embedding(before.clamp(min=0)).flatten(-2))
        scores: Tensor = self.joiner(torch.tanh(self.projection(heard) + told))
        return scores

    def onnx(self) -> Mapping[str, bytes]:
        """Return the files by their names."""
        size = {"vocab_size": self.joiner.out_features, "context_size": CONTEXT}
        joint = {"joiner_dim": WIDTH}
        return {
            "encoder.int8.onnx": self.encoder.onnx_encoder(self.projection),
            "decoder.onnx": model([*self._decoder()], "surtitle-tests") + metadata(size),
            "joiner.onnx": model([*self._joiner()], "surtitle-tests") + metadata(joint),
        }

    def _decoder(self) -> Iterator[bytes]:
        yield graph_input("y", INT64, ["N", CONTEXT])
        yield constant("none", [0])
        yield node("Max", ["y", "none"], ["before"])
        yield numbers("embedding", self.embedding.weight)
        yield node("Gather", ["embedding", "before"], ["embedded"], axis=0)
        yield constant("row", [-1, CONTEXT * _EMBEDDED])
        yield node("Reshape", ["embedded", "row"], ["rows"])
        yield from _linear("decoder", self.decoder, "rows", "decoder_out")
        yield graph_output("decoder_out", FLOAT, ["N", WIDTH])

    def _joiner(self) -> Iterator[bytes]:
        yield graph_input("encoder_out", FLOAT, ["N", WIDTH])
        yield graph_input("decoder_out", FLOAT, ["N", WIDTH])
        yield node("Add", ["encoder_out", "decoder_out"], ["sum"])
        yield node("Tanh", ["sum"], ["joined"])
        yield from _linear("joiner", self.joiner, "joined", "logit")
        yield graph_output("logit", FLOAT, ["N", self.joiner.out_features])


def _linear(name: str, layer: nn.Linear, given: str, made: str) -> Iterator[bytes]:
    yield numbers(f"{name}.weight", layer.weight)
    yield numbers(f"{name}.bias", layer.bias)
    yield node("Gemm", [given, f"{name}.weight", f"{name}.bias"], [made], transB=1)


def places(network: Network, example: "Example") -> list[int]:
    """Return for each piece the position at which a network with CTC tells it loudest, in order."""
    with torch.no_grad():
        scores = network(example.features[None])[0].log_softmax(-1)
    found, after = list[int](), 0
    for id_, (first, behind) in zip(example.ids, example.spans, strict=True):
        start = max(first, after)
        end = max(behind, start + 1)
        found.append(start + int(scores[start:end, id_].argmax()) if start < len(scores) else start)
        after = found[-1] + 1
    return found


def walk(
    example: "Example", at: Sequence[int], n_positions: int, slips: random.Random | None = None
) -> tuple[Tensor, Tensor]:
    """Return the tokens told before each position, (T, 2), and the token to tell there, (T,).

    Args:
        example: what is said.
        at: the position of each piece.
        n_positions: T.
        slips: decides where a piece is told a position early, late, or never, as a search does:
            what was not told is still to be told, and what was told is not to be told again; and
            where a speech begins from an empty state, as after a pause. None for a search that
            never slips. After Ross et al. 2011
            (https://arxiv.org/abs/1011.0686), the slips drawn instead of made by the model.
    """
    told = torch.zeros(n_positions, dtype=torch.long)
    before = torch.zeros(n_positions, CONTEXT, dtype=torch.long)
    recent, n_told = [0] * CONTEXT, 0
    for position in range(n_positions):
        if slips is not None and slips.random() < _FORGETS:
            recent = [0] * CONTEXT
        before[position] = torch.tensor(recent)
        while n_told < len(at) and position > at[n_told] + _LATEST:
            n_told += 1  # never: it is over
        if n_told == len(at) or position < at[n_told] - 1:
            continue
        if position >= at[n_told]:
            told[position] = example.ids[n_told]
            tells = slips is None or slips.random() >= _SLIPS
        else:
            tells = slips is not None and slips.random() < _HASTE
            told[position] = IGNORED if tells else 0
        if tells:
            recent = [*recent[1:], example.ids[n_told]]
            n_told += 1
    return before, told


def teach(network: Network, examples: "Sequence[Example]", steps: int) -> Transducer:
    """Teach a decoder and a joiner to tell each piece once, where the network tells it loudest.

    The encoder is left as it is, so that a step costs next to nothing. Taught by searches that
    never slip alone, it leaves out what it did not tell in time, and tells twice what it told
    early.
    """
    transducer = Transducer(network)
    rng = random.Random(1)
    heard, before, told = [], [], []
    for example in examples:
        with torch.no_grad():
            hidden = network.hidden(example.features[None])[0]
        at = places(network, example)
        for slips in (None, *[rng] * (_WALKS - 1)):
            context, wanted = walk(example, at, len(hidden), slips)
            heard.append(hidden)
            before.append(context)
            told.append(wanted)
    every = torch.cat(heard), torch.cat(before), torch.cat(told)
    learnt = [p for p in transducer.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=4e-3, weight_decay=0.01)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 4e-3 * (steps - step) / steps
        chosen = torch.randint(len(every[0]), (_BATCH,))
        hidden, context, wanted = (part[chosen] for part in every)
        loss = F.cross_entropy(transducer(hidden, context), wanted, ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if (step + 1) % 500 == 0:
            _log.info("step %d of the joiner  loss %.4f", step + 1, loss.item())
    return transducer
