"""Describe a Llama or a Gemma 3 as a graph of ONNX, with explicit positions, mask and cached keys.

The graph depends on the shape alone, so the same shape gives the same bytes. Its weights keep the
names that they have in the model folder, and are given when it is loaded.

It computes B lanes with Q rows each, for which the operator demands that one of both be 1. Matrices
that the file keeps in 8 bits are given as they are, codes and scales: what is multiplied the
runtime unpacks while it loads, one after the other, so that it never holds all of them twice; the
table of embeddings stays in 8 bits, and only the rows of a pass are unpacked.

Inputs, all but the cache different from pass to pass::

    ids        int64    (B * Q,)       rows of this pass
    positions  int64    (B, Q)         encoded positions, rows of the two tables
    cos, sin   float32  (P, D / 2)     the tables of rotations
    mask       float32  (B, 1, Q, K)   added to the scores: 0 where a row sees another
    last       int32    (B,)           rows of each lane, the new ones among them, less 1
    length     int32    ()             K, the most rows of a lane
    ...local                           cos, sin and mask of local layers, where there are any
    keys.0 ..  float32  (B, H, C, D)   the cache of each layer, C rows of room
    values.0 ..                        likewise

    newest         int64    (B,)         the last row of each lane among the rows
    batch.queries  int64    (3,)         B, Q, width of the queries
    batch.keys     int64    (3,)         B, Q, width of the keys
    carries        bool     (B * Q, 1)   whether a row carries a vector; its id then says nothing
    vectors        float32  (B * Q, width)

Outputs are ``logits`` (B, V) of the last rows, and each ``keys.0.new`` and ``values.0.new``. These
have the shape of the cache: bound to the same memory, the operator only writes the new rows there,
and nothing is copied. It hides later rows of the cache by itself, so the rows of one pass must be
in order of position; the mask hides all others that the rule of ``engine.layout.rows`` hides.

Norms of Gemma multiply by one more than their weight, which is added before they are given.

``GroupQueryAttention``, ``RotaryEmbedding`` and the norms that add the residual are operators of
ONNX Runtime (https://onnxruntime.ai/docs/reference/operators/contrib_ops); the rest is standard.
"""

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from engine.models.llama import (
    EMBEDDING,
    LAST_NORM,
    OUTPUT,
    WEIGHTS_FILE,
    LlamaShape,
    layer_stem,
)
from engine.models.tensor_file import PackedRows, pack_rows
from engine.untrusted.file_headers import BLOCK as INT4_BLOCK
from engine.untrusted.file_headers import CODES, SCALES

# ONNX models are written as bytes here, by the part of protobuf that is needed; equal graphs are
# equal bytes. The numbers of the fields are those of onnx.proto3
# (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3).

MICROSOFT = "com.microsoft"
"""Domain of the operators that ONNX Runtime adds to the standard ones."""

FLOAT, UINT8, INT8, INT32, INT64, BOOL = 1, 2, 3, 6, 7, 9
"""Types of numbers (``TensorProto.DataType``)."""

_IR_VERSION, _OPSET, _MICROSOFT_OPSET = 10, 18, 1
_AS_FLOAT, _AS_INTEGER = 1, 2  # kinds of attributes
_EXTERNAL = 1

Value = bytes | str | int | float


def node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    domain: str = "",
    **attributes: float,
) -> bytes:
    """Return a node of a graph; an empty name stands for an input or output that is left out."""
    return _field(
        1,
        b"".join(_field(1, name) for name in inputs)
        + b"".join(_field(2, name) for name in outputs)
        + _field(3, outputs[0])
        + _field(4, operator)
        + b"".join(_field(5, _attribute(*item)) for item in attributes.items())
        + _field(7, domain),
    )


def constant(name: str, numbers: Sequence[int]) -> bytes:
    """Return a list of int64 as part of the graph."""
    data = struct.pack(f"<{len(numbers)}q", *numbers)
    return _field(5, _field(1, len(numbers)) + _field(2, INT64) + _field(8, name) + _field(9, data))


def weight(name: str, shape: Sequence[int], kind: int, file: str) -> bytes:
    """Return a tensor whose numbers are given when the graph is loaded; ``file`` has them."""
    place = _field(13, _field(1, "location") + _field(2, file)) + _field(14, _EXTERNAL)
    return _field(
        5, b"".join(_field(1, size) for size in shape) + _field(2, kind) + _field(8, name) + place
    )


def graph_input(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    return _field(11, _value(name, kind, shape))


def graph_output(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    return _field(12, _value(name, kind, shape))


def model(parts: Sequence[bytes], producer: str) -> bytes:
    opsets: Mapping[str, int] = {"": _OPSET, MICROSOFT: _MICROSOFT_OPSET}
    return (
        _field(1, _IR_VERSION)
        + _field(2, producer)
        + _field(7, b"".join(parts) + _field(2, producer))
        + b"".join(
            _field(8, _field(1, domain) + _field(2, version)) for domain, version in opsets.items()
        )
    )


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, _AS_INTEGER)
    return _field(1, name) + _field(2, value) + _field(20, _AS_FLOAT)


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sizes = (_field(1, _field(1 if isinstance(size, int) else 2, size)) for size in shape)
    tensor = _field(1, kind) + _field(2, b"".join(sizes))
    return _field(1, name) + _field(2, _field(1, tensor))


def _field(number: int, value: Value) -> bytes:
    """Return a field: a key of number and wire type, then the value."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first; negative ones have 64 bits."""
    number &= 2**64 - 1
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


# Weights are packed to 8 bits in blocks with a scale each. The arrangement is that of
# ``MatMulNBits`` of ONNX Runtime: codes are unsigned, 128 stands for 0. Blocks are rounded as
# ``engine.models.tensor_file`` rounds rows.

Numbers = NDArray[np.float32] | NDArray[np.uint8] | NDArray[np.int8]

BLOCK = 128
"""Inputs that share a scale."""

_Matrix = TypeVar("_Matrix", NDArray[np.float32], NDArray[np.int8])

_SIGN = np.uint8(0x80)  # of the eight bits of a signed number


def pack(matrix: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return the codes and scales of a matrix (outputs, inputs); inputs are padded by zeros."""
    codes, scales = pack_rows(_in_blocks(matrix))
    return codes.view(np.uint8) ^ _SIGN, scales.reshape(-1)


def blocks_of_rows(rows: PackedRows) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return the codes and scales of a matrix that has 8 bits already: the same numbers."""
    codes = _in_blocks(rows.codes)
    return codes.view(np.uint8) ^ _SIGN, np.repeat(rows.scales, codes.shape[1])


def _in_blocks(matrix: _Matrix) -> _Matrix:
    n_outputs, n_inputs = matrix.shape
    n_blocks = -(-n_inputs // BLOCK)
    padded = np.zeros((n_outputs, n_blocks * BLOCK), dtype=matrix.dtype)
    padded[:, :n_inputs] = matrix
    return cast("_Matrix", padded.reshape(n_outputs, n_blocks, BLOCK))


def packed_weights(
    weights: Mapping[str, NDArray[np.float32]], names: Mapping[str, tuple[int, ...]]
) -> dict[str, Numbers]:
    """Return weights with the named matrices packed; the table of embeddings stays whole, too."""
    packed: dict[str, Numbers] = {
        name: weight for name, weight in weights.items() if name not in names or name == EMBEDDING
    }
    for name in names:
        packed[name + CODES], packed[name + SCALES] = pack(weights[name])
    return packed


STATES = LAST_NORM.removesuffix(".weight")
"""The last layer's output, normed, for all rows of a pass, shape (Q, width)."""

_ROUNDS_ROWS = 4
"""Level of accuracy of products with codes: rows are rounded to 8 bits, too, block by block."""

_WHOLE: Mapping[str, int] = MappingProxyType({})

NEWEST, QUERIES, KEYS = "newest", "batch.queries", "batch.keys"
CARRIES, VECTORS = "carries", "vectors"

_AS_ROWS, _AS_HEADS = "rows", "heads"  # shapes: (B * Q, width), (B * Q * H, D)

_LOCAL = ".local"
"""Added to the names of the inputs of local layers."""

_EMBEDDED, _TOKENS = "embedded", "embedded.tokens"
"""What the first layer reads, and the embeddings of ids that this is made of."""


def graph_bytes(
    shape: LlamaShape, *, bits: Mapping[str, int] = _WHOLE, coded: Collection[str] = ()
) -> bytes:
    """Return the graph of a shape for several lanes; ``STATES`` is an output, too.

    Args:
        bits: of the matrices that are multiplied in codes, 8 (``int8_weights``) or 4
            (``int4_blocks``); ``OUTPUT`` where a tied table is among ``coded``.
        coded: names of the matrices that are given as codes and scales of ``int8_rows``.
    """
    sizes = [graph_input(name, INT64, [3]) for name in (QUERIES, KEYS)]
    unpacked = set(coded) - ({EMBEDDING} if OUTPUT in bits and shape.tied else set())
    parts = [*_unpacked(shape, unpacked), *_embedded(shape, _TOKENS, coded=EMBEDDING in coded)]
    parts += [node("Where", [CARRIES, VECTORS, _TOKENS], [_EMBEDDED])]
    parts += _layers(shape, bits)
    parts += [*_tensors(shape, bits, coded), *_row_sizes(shape)]
    parts += [*_borders(shape), *sizes, graph_input(NEWEST, INT64, ["B"])]
    parts += [graph_input(CARRIES, BOOL, ["N", 1])]
    parts += [graph_input(VECTORS, FLOAT, ["N", shape.hidden])]
    return model([*parts, graph_output(STATES, FLOAT, ["N", shape.hidden])], "surtitle")


def batch_sizes(shape: LlamaShape, n_lanes: int, n_rows: int) -> dict[str, list[int]]:
    """Return what a pass of so many rows of so many lanes puts into ``QUERIES`` and ``KEYS``."""
    widths = {QUERIES: shape.heads, KEYS: shape.kv_heads}
    return {name: [n_lanes, n_rows, n * shape.head_size] for name, n in widths.items()}


def packed_layers(shape: LlamaShape) -> dict[str, tuple[int, ...]]:
    return {
        name: sizes
        for name, sizes in shape.tensors.items()
        if len(sizes) == 2 and (shape.tied or name != EMBEDDING)
    }


def cache_names(layer: int) -> tuple[str, str]:
    return f"keys.{layer}", f"values.{layer}"


def angle_names(shape: LlamaShape) -> list[str]:
    """Return what is added to the names of tables and masks: one of each for a kind of layer."""
    return ["", _LOCAL] if shape.is_mixed else [""]


def new_name(cached: str) -> str:
    return f"{cached}.new"


def _unpacked(shape: LlamaShape, coded: Collection[str]) -> Iterator[bytes]:
    for name in packed_layers(shape):
        if name in coded:
            yield node("DequantizeLinear", [name + CODES, name + SCALES], [name], axis=0)


def _embedded(shape: LlamaShape, result: str, *, coded: bool) -> Iterator[bytes]:
    found = f"{result}.found" if shape.is_gemma else result
    if coded:
        for part in (CODES, SCALES):
            yield node("Gather", [EMBEDDING + part, "ids"], [found + part])
        yield node("DequantizeLinear", [found + CODES, found + SCALES], [found], axis=0)
    else:
        yield node("Gather", [EMBEDDING, "ids"], [found])
    if shape.is_gemma:
        yield node("Constant", [], [f"{result}.scale"], value_float=shape.hidden**0.5)
        yield node("Mul", [found, f"{result}.scale"], [result])


def _layers(shape: LlamaShape, bits: Mapping[str, int]) -> Iterator[bytes]:
    stream, addend = _EMBEDDED, ""
    for layer in range(shape.layers):
        stem = layer_stem(layer)
        yield _norm(shape, stream, addend, f"{stem}.input_layernorm", last=False)
        stream = f"{stem}.input_layernorm.sum" if addend else stream
        yield from _attention(shape, layer, f"{stem}.input_layernorm", bits)
        after, addend = f"{stem}.post_attention_layernorm", f"{stem}.self_attn.o_proj"
        if shape.is_gemma:  # what is added is normed, too
            yield _norm(shape, addend, "", after, last=False)
            after, addend = f"{stem}.pre_feedforward_layernorm", after
        yield _norm(shape, stream, addend, after, last=False)
        stream = f"{after}.sum"
        yield from _feed_forward(shape, stem, after, bits)
        addend = f"{stem}.mlp.down_proj"
        if shape.is_gemma:
            yield _norm(shape, addend, "", f"{stem}.post_feedforward_layernorm", last=False)
            addend = f"{stem}.post_feedforward_layernorm"
    yield _norm(shape, stream, addend, STATES, last=True)
    yield node("Gather", [STATES, NEWEST], ["asked"])
    output = EMBEDDING if shape.tied and OUTPUT not in bits else OUTPUT
    yield _product(shape, output, "asked", "logits", bits)


def _norm(shape: LlamaShape, stream: str, addend: str, name: str, *, last: bool) -> bytes:
    """Normalise the stream, after something is added to it; the sum is the new stream."""
    scale, epsilon = f"{name}.weight", shape.epsilon
    if not addend:
        return node("SimplifiedLayerNormalization", [stream, scale], [name], epsilon=epsilon)
    outputs = [name] if last else [name, "", "", f"{name}.sum"]
    operator = "SkipSimplifiedLayerNormalization"
    return node(operator, [stream, addend, scale], outputs, MICROSOFT, epsilon=epsilon)


def _product(
    shape: LlamaShape, weight: str, rows: str, result: str, bits: Mapping[str, int]
) -> bytes:
    """Multiply rows with a matrix (outputs, inputs)."""
    if weight not in bits:
        return node("Gemm", [rows, weight], [result], transB=1)
    n_outputs, n_inputs = _size(shape, weight)
    return node(
        "MatMulNBits",
        [rows, weight + CODES, weight + SCALES],
        [result],
        MICROSOFT,
        K=n_inputs,
        N=n_outputs,
        bits=bits[weight],
        block_size=_BLOCKS[bits[weight]],
        accuracy_level=_ROUNDS_ROWS,
    )


_BLOCKS = {8: BLOCK, 4: INT4_BLOCK}


def _size(shape: LlamaShape, weight: str) -> tuple[int, ...]:
    tensors = shape.tensors
    return tensors[weight if weight in tensors else EMBEDDING]


def _linear(shape: LlamaShape, path: str, rows: str, bits: Mapping[str, int]) -> bytes:
    return _product(shape, f"{path}.weight", rows, path, bits)


def _attention(
    shape: LlamaShape, layer: int, rows: str, bits: Mapping[str, int]
) -> Iterator[bytes]:
    stem = f"{layer_stem(layer)}.self_attn"
    kind = _LOCAL if shape.is_mixed and shape.local[layer] else ""
    for part in ("q", "k", "v"):
        path = f"{stem}.{part}_proj"
        yield _linear(shape, path, rows, bits)
        size = QUERIES if part == "q" else KEYS
        rows_of_part = path
        if shape.is_gemma and part != "v":
            norm = f"{stem}.{part}_norm"
            yield node("Reshape", [path, _AS_HEADS], [f"{path}.heads"])
            yield _norm(shape, f"{path}.heads", "", norm, last=False)
            rows_of_part = norm
        yield node("Reshape", [rows_of_part, size], [f"{path}.batch"])
        if part != "v":
            turned = [f"{path}.batch", "positions", f"cos{kind}", f"sin{kind}"]
            yield node("RotaryEmbedding", turned, [f"{path}.turned"], MICROSOFT)
    cached = cache_names(layer)
    yield node(
        "GroupQueryAttention",
        [
            *(f"{stem}.q_proj.turned", f"{stem}.k_proj.turned", f"{stem}.v_proj.batch"),
            *cached,
            *("last", "length", "", "", "", f"mask{kind}"),
        ],
        [f"{stem}.mixed", *map(new_name, cached)],
        MICROSOFT,
        num_heads=shape.heads,
        kv_num_heads=shape.kv_heads,
    )
    yield node("Reshape", [f"{stem}.mixed", _AS_ROWS], [f"{stem}.mixed.rows"])
    yield _linear(shape, f"{stem}.o_proj", f"{stem}.mixed.rows", bits)


def _feed_forward(
    shape: LlamaShape, stem: str, rows: str, bits: Mapping[str, int]
) -> Iterator[bytes]:
    gate, up, product = (f"{stem}.mlp.{name}" for name in ("gate_proj", "up_proj", "product"))
    yield _linear(shape, gate, rows, bits)
    yield _linear(shape, up, rows, bits)
    opened = f"{gate}.silu"
    if shape.is_gemma:  # GELU by the hyperbolic tangent
        yield node("FastGelu", [gate], [opened], MICROSOFT)
    else:
        yield node("QuickGelu", [gate], [opened], MICROSOFT, alpha=1.0)  # SiLU, if alpha is 1
    yield node("Mul", [opened, up], [product])
    yield _linear(shape, f"{stem}.mlp.down_proj", product, bits)


def _tensors(
    shape: LlamaShape, bits: Mapping[str, int] = _WHOLE, coded: Collection[str] = ()
) -> Iterator[bytes]:
    for name, sizes in shape.tensors.items():
        if name in coded:
            yield weight(name + CODES, sizes, INT8, WEIGHTS_FILE)
            yield weight(name + SCALES, sizes[:1], FLOAT, WEIGHTS_FILE)
        elif name not in bits or name == EMBEDDING:  # the table is looked up as well
            yield weight(name, sizes, FLOAT, WEIGHTS_FILE)
    for name, n_bits in bits.items():
        n_outputs, n_inputs = _size(shape, name)
        n_blocks = -(-n_inputs // _BLOCKS[n_bits])
        codes = (n_outputs, n_blocks, _BLOCKS[n_bits] * n_bits // 8)
        yield weight(name + CODES, codes, UINT8, WEIGHTS_FILE)
        yield weight(name + SCALES, (n_outputs * n_blocks,), FLOAT, WEIGHTS_FILE)


def _row_sizes(shape: LlamaShape) -> Iterator[bytes]:
    yield constant(_AS_ROWS, [-1, shape.heads * shape.head_size])
    if shape.is_gemma:
        yield constant(_AS_HEADS, [-1, shape.head_size])


def _borders(shape: LlamaShape) -> Iterator[bytes]:
    yield graph_input("ids", INT64, ["N"])
    yield graph_input("positions", INT64, ["B", "Q"])
    for kind in angle_names(shape):
        for table in ("cos", "sin"):
            yield graph_input(table + kind, FLOAT, ["P", shape.head_size // 2])
        yield graph_input(f"mask{kind}", FLOAT, ["B", 1, "Q", "K"])
    yield graph_input("last", INT32, ["B"])
    yield graph_input("length", INT32, [])
    yield graph_output("logits", FLOAT, ["B", shape.vocabulary])
    cache: list[int | str] = ["B", shape.kv_heads, "C", shape.head_size]
    for layer in range(shape.layers):
        for name in cache_names(layer):
            yield graph_input(name, FLOAT, cache)
            yield graph_output(new_name(name), FLOAT, cache)
