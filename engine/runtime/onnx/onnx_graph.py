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

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from engine.models import int8_entries
from engine.models.int8_entries import CODES, SCALES
from engine.models.llama_shape import (
    EMBEDDING,
    LAST_NORM,
    OUTPUT,
    WEIGHTS_FILE,
    LlamaShape,
    layer_stem,
)
from engine.runtime.onnx.int8_weights import BLOCK
from engine.runtime.onnx.onnx_proto import (
    BOOL,
    FLOAT,
    INT8,
    INT32,
    INT64,
    MICROSOFT,
    UINT8,
    constant,
    graph_input,
    graph_output,
    model,
    node,
    weight,
)

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
        shape: of the network.
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
    """Return the shapes of the weights that are multiplied, by their names."""
    return {
        name: sizes
        for name, sizes in shape.tensors.items()
        if len(sizes) == 2 and (shape.tied or name != EMBEDDING)
    }


def cache_names(layer: int) -> tuple[str, str]:
    """Return the names of the cached keys and values of a layer."""
    return f"keys.{layer}", f"values.{layer}"


def angle_names(shape: LlamaShape) -> list[str]:
    """Return what is added to the names of tables and masks: one of each for a kind of layer."""
    return ["", _LOCAL] if shape.is_mixed else [""]


def new_name(cached: str) -> str:
    """Return the name of the output that continues a cache."""
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


_BLOCKS = {8: BLOCK, 4: int8_entries.BLOCK}


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
