"""A transducer that hears 80 ms at a time, and the same as three files for sherpa-onnx.

Its encoder is that of ``tests.tiny_streaming.network``, trained with CTC, a projection for its last
layer and its weights in 8 bits. The decoder knows the two tokens told last. The joiner tells at
most one token at a position, as the library searches. Source:
``online-zipformer2-transducer-model.cc`` of
https://github.com/k2-fsa/sherpa-onnx.
"""

import logging
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


def walk(example: "Example", at: Sequence[int], n_positions: int) -> tuple[Tensor, Tensor]:
    """Return the tokens told before each position, (T, 2), and the token told there, (T,)."""
    told = torch.zeros(n_positions, dtype=torch.long)
    before = torch.zeros(n_positions, CONTEXT, dtype=torch.long)
    recent = [0] * CONTEXT
    pieces = dict(zip(at, example.ids, strict=True))
    for position in range(n_positions):
        before[position] = torch.tensor(recent)
        if position in pieces:
            told[position] = pieces[position]
            recent = [*recent[1:], pieces[position]]
    return before, told


def teach(network: Network, examples: "Sequence[Example]", steps: int) -> Transducer:
    """Teach a decoder and a joiner to tell each piece once, where the network tells it loudest.

    The encoder is left as it is, so that a step costs next to nothing.
    """
    transducer = Transducer(network)
    heard, before, told = [], [], []
    for example in examples:
        with torch.no_grad():
            heard.append(network.hidden(example.features[None])[0])
        context, wanted = walk(example, places(network, example), len(heard[-1]))
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
        loss = F.cross_entropy(transducer(hidden, context), wanted)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if (step + 1) % 500 == 0:
            _log.info("step %d of the joiner  loss %.4f", step + 1, loss.item())
    return transducer
