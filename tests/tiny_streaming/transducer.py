"""A transducer that hears 80 ms at a time, and the same as three files for sherpa-onnx.

Its encoder is that of ``tests.tiny_streaming.network`` without the last layer, its weights in 8
bits. The decoder knows the two tokens told last. The joiner tells at most one token at a position,
as the library searches. Source: ``online-zipformer2-transducer-model.cc`` of
https://github.com/k2-fsa/sherpa-onnx.
"""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn

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

CONTEXT = 2
"""Tokens told before that the decoder knows."""

_EMBEDDED = 32


class Transducer(nn.Module):
    """Features (B, T * 4, 80) and tokens before (B, U, 2) become scores (B, T, U, V)."""

    def __init__(self, n_tokens: int, mean: float, deviation: float) -> None:
        super().__init__()
        self.encoder = Network(n_tokens, mean, deviation)
        self.embedding = nn.Embedding(n_tokens, _EMBEDDED)
        self.decoder = nn.Linear(CONTEXT * _EMBEDDED, WIDTH)
        self.joiner = nn.Linear(WIDTH, n_tokens)

    def forward(self, features: Tensor, before: Tensor) -> Tensor:
        """Score; the features are whole positions, and no token is -1."""
        heard = self.encoder.hidden(features)[:, :, None]
        told = self.decoder(self.embedding(before.clamp(min=0)).flatten(-2))[:, None]
        scores: Tensor = self.joiner(torch.tanh(heard + told))
        return scores

    def onnx(self) -> Mapping[str, bytes]:
        """Return the files by their names."""
        size = {"vocab_size": self.joiner.out_features, "context_size": CONTEXT}
        joint = {"joiner_dim": WIDTH}
        return {
            "encoder.int8.onnx": self.encoder.onnx_encoder(),
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


def before_each(ids: Sequence[int]) -> Tensor:
    """Return the tokens before each token of a text, and those before its end: (U + 1, 2)."""
    padded = torch.tensor([-1, 0, *ids])
    return torch.stack([padded[:-1], padded[1:]], dim=1)


def transducer_loss(
    scores: Tensor, ids: Tensor, allowed: Tensor, n_ids: Tensor, n: Tensor
) -> Tensor:
    """Return the mean loss of a token, over all ways to tell a text with at most one at a position.

    Graves 2012, with at most one token at a position (Tripathi et al. 2019).

    Args:
        scores: logarithms of probabilities, shape (B, T, U + 1, V).
        ids: of the tokens, shape (B, U).
        allowed: 0 where a token may be told and very low elsewhere, shape (B, T, U).
        n_ids: of tokens in each row, shape (B,).
        n: positions in each row, shape (B,).
    """
    nothing = scores[..., 0]
    wanted = ids[:, None, :, None].expand(-1, scores.shape[1], -1, 1)
    told = scores[:, :, :-1].gather(-1, wanted).squeeze(-1) + allowed
    low = torch.full_like(nothing[:, 0, :1], -1e4)
    ways = torch.cat([torch.zeros_like(low), low.expand(-1, ids.shape[1])], dim=1)
    ends = []
    for at in range(scores.shape[1]):
        stay = ways + nothing[:, at]
        go = torch.cat([low, ways[:, :-1] + told[:, at]], dim=1)
        ways = torch.logaddexp(stay, go)
        ends.append(ways)
    rows = torch.arange(len(ids))
    last = torch.stack(ends, dim=1)[rows, n - 1, n_ids]
    return -(last / n_ids.clamp(min=1)).mean()
