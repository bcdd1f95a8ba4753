"""A network that hears 80 ms at a time, and the same as a file for sherpa-onnx.

Four frames of features are joined, then come causal convolutions, each added to its input. What a
convolution needs of the past is its state. The file has the inputs, outputs and settings of a
streaming Zipformer with CTC, whose other states are handed on as they are. Source:
``online-zipformer2-ctc-model.cc`` of https://github.com/k2-fsa/sherpa-onnx.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping

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
from tests.tiny_streaming.features import N_BINS

JOINED = 4
"""Frames of 10 ms that become one position."""

WIDTH = 80
"""Numbers that stand for a position."""

_CHUNK = 8  # frames of one pass
_LAYERS, _KERNEL = 5, 5
_PAST = _KERNEL - 1
_EMBEDDED = (1, 128, 3, 19)  # a state that every such model has
_INT8 = 3  # a type of numbers, as in ``engine.runtime.onnx.onnx_proto``
_SETTINGS = {
    "model_type": "zipformer2",
    "version": "1",
    "encoder_dims": WIDTH,
    "query_head_dims": 1,
    "value_head_dims": 1,
    "num_heads": 1,
    "num_encoder_layers": _LAYERS,
    "cnn_module_kernels": 2 * _PAST + 1,
    "left_context_len": 1,
    "T": _CHUNK,
    "decode_chunk_len": _CHUNK,
}

Write = Callable[[str, Tensor], Iterator[bytes]]
"""Writes the weights of a layer into a graph."""


class Network(nn.Module):
    """Features (B, n, 80) become scores of tokens (B, n / 4, V)."""

    def __init__(self, n_tokens: int, mean: float, deviation: float) -> None:
        super().__init__()
        self._mean, self._deviation = mean, deviation
        self.stem = nn.Linear(JOINED * N_BINS, WIDTH)
        self.layers = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, _KERNEL) for _ in range(_LAYERS))
        self.tokens = nn.Linear(WIDTH, n_tokens)

    def forward(self, features: Tensor) -> Tensor:
        """Score; the features are whole positions."""
        scores: Tensor = self.tokens(self.hidden(features))
        return scores

    def hidden(self, features: Tensor) -> Tensor:
        """Return what the last layer gets, shape (B, n / 4, WIDTH)."""
        joined = features.unflatten(1, (-1, JOINED)).flatten(2)
        hidden = self.stem((joined - self._mean) / self._deviation).transpose(1, 2)
        for layer in self.layers:
            hidden = hidden + F.relu(layer(F.pad(hidden, (_PAST, 0))))
        return hidden.transpose(1, 2)

    def onnx(self) -> Mapping[str, bytes]:
        """Return the file of the whole network, for CTC, by its name."""
        return {"ctc.onnx": self._file(_scores(self.tokens), _numbers_in_float)}

    def onnx_encoder(self, projection: nn.Linear) -> bytes:
        """Return the file with another last layer, for a transducer, its weights in 8 bits."""
        return self._file(_encoded(projection), numbers_in_8_bits)

    def _file(self, last: Iterable[bytes], write: Write) -> bytes:
        """Return the file, the scaling of the features folded into the first weights."""
        with torch.no_grad():
            weight = self.stem.weight / self._deviation
            bias = self.stem.bias - self._mean * weight.sum(1)
        parts = [
            *_stem(weight, bias, write),
            *(p for n, layer in enumerate(self.layers) for p in _convolution(n, layer, write)),
            *_last(last),
        ]
        return model(parts, "surtitle-tests") + metadata(_SETTINGS)


def _stem(weight: Tensor, bias: Tensor, write: Write) -> Iterator[bytes]:
    yield graph_input("x", FLOAT, [1, _CHUNK, N_BINS])
    yield constant("joined.shape", [-1, JOINED * N_BINS])
    yield node("Reshape", ["x", "joined.shape"], ["joined"])
    yield from write("stem.weight", weight)
    yield numbers("stem.bias", bias[:, None])
    yield node("Gemm", ["stem.weight", "joined", "stem.bias"], ["stem"], transB=1)
    yield constant("rows.shape", [1, WIDTH, -1])
    yield node("Reshape", ["stem", "rows.shape"], ["hidden.0"])
    for name, number in (("from", -_PAST), ("to", 1 << 40), ("axis", 2)):
        yield constant(name, [number])


def _convolution(layer: int, convolution: nn.Module, write: Write) -> Iterator[bytes]:
    """Yield a layer with its six states, of which the fifth is the past of its input."""
    shapes = {"key": [1, 1, 1], "nonlin": [1, 1, 1, 3 * WIDTH // 4], "val1": [1, 1, 1]}
    shapes |= {"val2": [1, 1, 1], "conv1": [1, WIDTH, _PAST], "conv2": [1, WIDTH, _PAST]}
    for name, shape in shapes.items():
        yield graph_input(f"{name}.{layer}", FLOAT, shape)
        if name != "conv1":
            yield node("Identity", [f"{name}.{layer}"], [f"new.{name}.{layer}"])
    hidden, heard, convolved = f"hidden.{layer}", f"heard.{layer}", f"convolved.{layer}"
    yield node("Concat", [f"conv1.{layer}", hidden], [heard], axis=2)
    yield node("Slice", [heard, "from", "to", "axis"], [f"new.conv1.{layer}"])
    weight, bias = (f"{layer}.weight", f"{layer}.bias")
    yield from write(weight, convolution.weight)
    yield numbers(bias, convolution.bias)
    yield node("Conv", [heard, weight, bias], [convolved])
    yield node("Relu", [convolved], [f"{convolved}.relu"])
    yield node("Add", [hidden, f"{convolved}.relu"], [f"hidden.{layer + 1}"])


def _last(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what makes the first output of the last layer's, then all states."""
    yield graph_input("embedded", FLOAT, _EMBEDDED)
    yield graph_input("n_heard", INT64, [1])
    yield node("Identity", ["embedded"], ["new.embedded"])
    yield node("Identity", ["n_heard"], ["new.n_heard"])
    yield from parts
    for layer in range(_LAYERS):
        for name in ("key", "nonlin", "val1", "val2", "conv1", "conv2"):
            shape = ["?"] * (4 if name == "nonlin" else 3)
            yield graph_output(f"new.{name}.{layer}", FLOAT, shape)
    yield graph_output("new.embedded", FLOAT, _EMBEDDED)
    yield graph_output("new.n_heard", INT64, [1])


def _scores(tokens: nn.Linear) -> Iterator[bytes]:
    yield constant("last.shape", [WIDTH, -1])
    yield node("Reshape", [f"hidden.{_LAYERS}", "last.shape"], ["last"])
    yield numbers("tokens.weight", tokens.weight)
    yield numbers("tokens.bias", tokens.bias)
    yield node("Gemm", ["last", "tokens.weight", "tokens.bias"], ["flat"], transA=1, transB=1)
    yield constant("scores.shape", [1, -1, tokens.out_features])
    yield node("Reshape", ["flat", "scores.shape"], ["scores"])
    yield node("LogSoftmax", ["scores"], ["log_probs"], axis=-1)
    yield graph_output("log_probs", FLOAT, [1, _CHUNK // JOINED, tokens.out_features])


def _encoded(projection: nn.Linear) -> Iterator[bytes]:
    yield constant("last.shape", [WIDTH, -1])
    yield node("Reshape", [f"hidden.{_LAYERS}", "last.shape"], ["last"])
    yield from numbers_in_8_bits("projection.weight", projection.weight)
    yield numbers("projection.bias", projection.bias)
    given = ["last", "projection.weight", "projection.bias"]
    yield node("Gemm", given, ["flat"], transA=1, transB=1)
    yield constant("encoded.shape", [1, -1, WIDTH])
    yield node("Reshape", ["flat", "encoded.shape"], ["encoder_out"])
    yield graph_output("encoder_out", FLOAT, [1, _CHUNK // JOINED, WIDTH])


def metadata(settings: Mapping[str, str | int]) -> bytes:
    """Return what a file tells of itself."""
    entries = (_text(1, name) + _text(2, str(value)) for name, value in settings.items())
    return b"".join(_bytes(14, entry) for entry in entries)


def numbers(name: str, weights: Tensor) -> bytes:
    """Return a tensor of float32 as part of the graph."""
    return _tensor(name, weights.detach(), FLOAT)


def _numbers_in_float(name: str, weights: Tensor) -> Iterator[bytes]:
    yield numbers(name, weights)


def numbers_in_8_bits(name: str, weights: Tensor) -> Iterator[bytes]:
    """Yield a tensor in 8 bits, with a scale for each row, and what makes it float again."""
    rows = weights.detach().flatten(1)
    scales = rows.abs().amax(1).clamp(min=1e-8) / 127
    small = (rows / scales[:, None]).round().to(torch.int8).reshape(weights.shape)
    yield _tensor(f"{name}.small", small, _INT8)
    yield numbers(f"{name}.scales", scales)
    yield node("DequantizeLinear", [f"{name}.small", f"{name}.scales"], [name], axis=0)


def _tensor(name: str, weights: Tensor, kind: int) -> bytes:
    data = weights.contiguous().numpy().tobytes()
    sizes = b"".join(bytes([1 << 3]) + _varint(size) for size in weights.shape)
    return _bytes(5, sizes + bytes([2 << 3, kind]) + _text(8, name) + _bytes(9, data))


def _text(number: int, text: str) -> bytes:
    return _bytes(number, text.encode())


def _bytes(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return struct.pack(f"{len(groups) + 1}B", *groups, number)
