"""A network on ONNX Runtime with the slot cache of one conversation, or of several, without torch.

The runtime reads and writes memory that is bound once: ids, positions and the cache are arrays of
this process, so a pass copies nothing but its few rows, and computes without Python's lock.
``engine.runtime.onnx.onnx_loader`` makes the network.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError, first_line
from engine.layout.planner import Eviction, planner_of
from engine.layout.rows import visible
from engine.messages import Code
from engine.models.llama import EMBEDDING, OUTPUT, LlamaShape, Stored, whole_weight
from engine.models.tensor_file import PackedBlocks, PackedRows, zeros
from engine.runtime.causal_model import Arithmetic, Ask, CausalModel, Computed, peak_memory_bytes
from engine.runtime.onnx.onnx_graph import (
    CARRIES,
    NEWEST,
    STATES,
    VECTORS,
    Numbers,
    angle_names,
    batch_sizes,
    blocks_of_rows,
    cache_names,
    graph_bytes,
    new_name,
    packed_layers,
    packed_weights,
)
from engine.runtime.rows import Integers, RowBook, check_carried
from engine.settings import LayoutSettings
from engine.untrusted.file_headers import CODES, SCALES

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, IOBinding

Floats = NDArray[np.float32]
_Array = NDArray[np.float32] | NDArray[np.int64] | NDArray[np.int32] | NDArray[np.bool_]

_HIDDEN = np.finfo(np.float32).min

_FIRST_POSITIONS = 2048
"""Rows of the first tables of rotations; further positions double them."""

_MOST_BOUND = 64
"""Rows of the largest pass whose memory stays bound, and passes that are: others are rare."""

_position = attrgetter("position")

_UNPACK_WHILE_LOADING = "session.disable_quant_qdq", "1"
"""Setting of a session: constants in 8 bits are unpacked once, not in each pass."""

_ERRORS_ONLY = 3  # of the runtime's levels of logging


_Given = tuple[Mapping[str, Numbers], dict[str, int], set[str]]


class OnnxNetwork:
    """Weights in a session of ONNX Runtime, without a cache; other weights get another session."""

    def __init__(
        self,
        shape: LlamaShape,
        weights: Mapping[str, Stored],
        *,
        n_threads: int,
        packed: bool = False,
    ) -> None:
        """Load all weights that the shape names.

        Args:
            n_threads: of the processor; 0 for all cores.
            packed: multiply in 8 bits.
        """
        self.shape = shape
        self._n_threads, self._packed = n_threads, packed
        self.session = self._loaded(weights)

    def load(self, weights: Mapping[str, Stored]) -> None:
        """Use other weights; on an error of ``__init__`` the ones before stay."""
        self.session = self._loaded(weights)

    def _loaded(self, weights: Mapping[str, Stored]) -> "InferenceSession":
        import onnxruntime  # noqa: PLC0415  may be missing

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._n_threads
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        options.add_session_config_entry(*_UNPACK_WHILE_LOADING)
        given, bits, coded = self._given(weights)
        make = onnxruntime.OrtValue.ortvalue_from_numpy
        try:
            options.add_external_initializers(list(given), [make(it) for it in given.values()])
            session: InferenceSession = onnxruntime.InferenceSession(
                graph_bytes(self.shape, bits=bits, coded=coded),
                options,
                providers=["CPUExecutionProvider"],
            )
        except Exception as error:
            raise _as_ours(error) from error
        return session

    def _given(self, weights: Mapping[str, Stored]) -> _Given:
        """Return what the runtime is given, by its names in the graph.

        Besides, the bits of what is multiplied in codes, and what comes in rows of 8 bits.
        """
        shape = self.shape
        if shape.is_gemma:  # its norms multiply by one more than their weight
            weights = {
                name: it if isinstance(it, tuple) or it.ndim > 1 else it + np.float32(1)
                for name, it in weights.items()
            }
        if self._packed:
            whole = {name: whole_weight(it) for name, it in weights.items()}
            layers = packed_layers(shape)
            return packed_weights(whole, layers), dict.fromkeys(layers, 8), set()
        given, bits, coded = dict[str, Numbers](), dict[str, int](), set[str]()
        for name, it in weights.items():
            if isinstance(it, PackedBlocks):
                bits[name] = 4
                given[name + CODES], given[name + SCALES] = it.codes, it.scales.reshape(-1)
            elif isinstance(it, PackedRows):
                coded.add(name)
                given[name + CODES], given[name + SCALES] = it
            else:
                given[name] = it
        table = weights.get(EMBEDDING)
        if bits and shape.tied and isinstance(table, PackedRows):  # multiplied in 8 bits, too
            bits[OUTPUT] = 8
            given[OUTPUT + CODES], given[OUTPUT + SCALES] = blocks_of_rows(table)
        return given, bits, coded


@dataclass(frozen=True, slots=True)
class _BoundPass:
    """The memory of passes of one number of rows over the same lanes, all one behind the other."""

    binding: "IOBinding"
    ids: Integers  # (B * Q,)
    carries: NDArray[np.bool_]  # (B * Q, 1)
    vectors: Floats  # (B * Q, width)
    positions: Integers  # (B, Q)
    last: NDArray[np.int32]  # (B,)
    length: NDArray[np.int32]  # ()
    logits: Floats  # (B, V)
    states: Floats  # (B * Q, width)


_Lanes = tuple[int, int]
"""The first lane of a pass, and the one behind its last."""


def slot_model(network: OnnxNetwork, capacity: int) -> CausalModel:
    return CausalModel(OnnxStore(network, 1, capacity))


class OnnxStore:
    """Conversations with a network on ONNX Runtime; each is a lane, numbered from 0.

    ``layers``: keys and values, shape (layers, 2, B, H, K, D), allocated once: the runtime holds
    their addresses.
    """

    def __init__(self, network: OnnxNetwork, n_lanes: int, capacity: int) -> None:
        shape = network.shape
        self._network = network
        self._session = network.session  # that the memory is bound to
        self.book = RowBook(n_lanes, capacity)
        # where lanes compute together, an idle one writes a row behind its own that nobody sees
        n_columns = capacity + int(n_lanes > 1)
        size = (shape.layers, 2, n_lanes, shape.kv_heads, n_columns, shape.head_size)
        self.layers: Floats = zeros(size)
        self.max_positions = shape.max_positions
        self.arithmetic = Arithmetic(
            parameters=shape.n_parameters - (0 if shape.tied else shape.vocabulary * shape.hidden),
            per_sight=4 * shape.layers * shape.heads * shape.head_size,
        )
        self._passes = dict[tuple[_Lanes, int], _BoundPass]()  # by lanes and rows of each
        self._turns = _all_rotations(shape, _FIRST_POSITIONS)

    @property
    def peak_memory_bytes(self) -> int:
        return peak_memory_bytes()

    def use(self, layout: LayoutSettings) -> None:
        """Use this layout for later rows; raise ModelError if it counts keys as ALiBi can."""
        if planner_of(layout).ranked:
            raise ModelError(Code.NO_ALIBI(layout=layout.name))

    def forget_steps(self) -> None:
        self._passes.clear()
        self._session = self._network.session

    def evict(self, lane: int, gone: Eviction) -> None:
        """Drop rows in the middle of the cache, and move the later ones up.

        Their keys are turned back: rotations compose, so no key is computed again.
        """
        self._reach(gone.distance)
        keys, values = self.layers[:, 0, lane], self.layers[:, 1, lane]  # (layers, H, K, D)
        kinds = list(map(int, self._network.shape.local)) or [0] * len(keys)
        cos, sin = (
            np.stack([tables[kind][gone.distance] for kind in kinds])[:, None, None]
            for tables in zip(*self._turns, strict=True)
        )  # (layers, 1, 1, D / 2) each
        old = self.book.n_rows[lane]
        start, end = gone.start, gone.start + old - gone.stop
        values[..., start:end, :] = values[..., gone.stop : old, :].copy()
        first, second = np.split(keys[..., gone.stop : old, :], 2, axis=-1)  # (.., D / 2)
        back = (first * cos + second * sin, second * cos - first * sin)
        keys[..., start:end, :] = np.concatenate(back, axis=-1)
        self.book.evict(lane, gone)

    def compute(self, ask: Ask) -> Computed:
        """Compute rows and keep them.

        The operator hides later rows of a pass from earlier ones, so they are computed in the order
        of sight, and kept in the order of arrival.
        """
        lane, arrived = ask.lane, list(ask.rows)
        rows = sorted(arrived, key=_position)
        if rows[-1] != arrived[-1]:
            msg = "the row that is asked for a token must come last in the order of sight"
            raise ValueError(msg)
        encoded = [row.position + row.shift for row in rows]
        self._reach(max(encoded))
        new, cached = self.book.begin([(lane, rows)])
        masks = [mask[None] for mask in self._masks(new, cached)]  # (1, 1, Q, K) each
        length = cached.shape[-1]
        bound = self._bound((lane, lane + 1), len(rows))
        bound.ids[:] = [max(0, row.id) for row in rows]
        bound.carries[:, 0] = [row.id < 0 for row in rows]
        carriers = [rows.index(row) for row in arrived if row.id < 0]
        check_carried(len(carriers), ask.vectors)
        if carriers:
            bound.vectors[carriers] = ask.vectors
        bound.positions[0] = encoded
        bound.last[0], bound.length[...] = length - 1, length
        self._run(bound, masks)
        states = bound.states.copy() if ask.keep_states else None
        if rows != arrived:
            order = [rows.index(row) for row in arrived]
            self._arrange(lane, order)
            states = None if states is None else states[order]
        self.book.commit()
        return _computed(ask, bound.logits[0], states)

    def feed(self, asked: Sequence[Ask]) -> list[Computed]:
        """Compute rows of several lanes, in rising order, and keep them; single ones together."""
        computed = dict[int, Computed]()
        for group in _groups([ask for ask in asked if len(ask.rows) == 1 and ask.vectors is None]):
            computed |= self._compute_single(group)
        for ask in asked:
            if ask.lane not in computed:
                computed[ask.lane] = self.compute(ask)
        return [computed[ask.lane] for ask in asked]

    def _compute_single(self, asked: Sequence[Ask]) -> dict[int, Computed]:
        """Compute a row of each lane in one pass; return what was computed, by lane.

        Lanes between them that ask for nothing compute a row, too, which is not kept.
        """
        lanes = asked[0].lane, asked[-1].lane + 1
        new, cached = self.book.begin([(ask.lane, ask.rows) for ask in asked])
        encoded = new[2, :, 0]  # (N,)
        self._reach(int(encoded.max()))
        places = np.array([ask.lane for ask in asked]) - lanes[0]
        length = max(cached.shape[-1], 1 + max(self.book.n_rows[slice(*lanes)]))
        masks = list[Floats]()
        for of_asked in self._masks(new, cached):  # (N, 1, K)
            mask = np.zeros((lanes[1] - lanes[0], 1, 1, length), dtype=np.float32)
            mask[places, 0, :, : cached.shape[-1]] = of_asked
            masks.append(mask)
        bound = self._bound(lanes, 1)
        bound.ids[:], bound.positions[:] = 0, 0
        bound.carries[:] = False
        bound.ids[places] = [ask.rows[0].id for ask in asked]
        bound.positions[places, 0] = encoded
        bound.last[:], bound.length[...] = self.book.n_rows[slice(*lanes)], length
        self._run(bound, masks)
        self.book.commit()
        return {
            ask.lane: _computed(
                ask, bound.logits[place], bound.states[[place]] if ask.keep_states else None
            )
            for ask, place in zip(asked, places, strict=True)
        }

    def _bound(self, lanes: _Lanes, n_rows: int) -> _BoundPass:
        if self._session is not self._network.session:
            self.forget_steps()
        return self._passes.get((lanes, n_rows)) or self._bind(lanes, n_rows)

    def _masks(self, new: Integers, cached: Integers) -> list[Floats]:
        """Return the mask of each kind of layer, shape (B, Q, K): local ones count positions.

        Args:
            new: position, time and encoded position of the queries, shape (3, B, Q).
            cached: of the keys, shape (3, B, K).
        """
        shape = self._network.shape
        seen = [visible(*new[:2], *cached[:2])]
        if shape.is_mixed:
            seen.append(seen[0] & (new[2][..., None] - cached[2][:, None] < shape.window))
        return [np.where(one, np.float32(0), _HIDDEN) for one in seen]

    def _run(self, bound: _BoundPass, masks: Sequence[Floats]) -> None:
        for kind, mask in zip(angle_names(self._network.shape), masks, strict=True):
            bound.binding.bind_cpu_input(f"mask{kind}", mask)
        try:
            self._session.run_with_iobinding(bound.binding)
        except Exception as error:
            raise _as_ours(error) from error

    def _arrange(self, lane: int, order: Sequence[int]) -> None:
        start, end = self.book.n_rows[lane], self.book.n_rows[lane] + len(order)
        now = self.layers[:, :, lane, :, start:end]  # (layers, 2, H, Q, D)
        now[:] = now[..., order, :]
        self.book.arrange(lane, order)

    def _bind(self, lanes: _Lanes, n_rows: int) -> _BoundPass:
        shape, n_lanes = self._network.shape, lanes[1] - lanes[0]
        bound = _BoundPass(
            binding=self._session.io_binding(),
            ids=np.zeros(n_lanes * n_rows, dtype=np.int64),
            carries=np.zeros((n_lanes * n_rows, 1), dtype=np.bool_),
            vectors=np.zeros((n_lanes * n_rows, shape.hidden), dtype=np.float32),
            positions=np.zeros((n_lanes, n_rows), dtype=np.int64),
            last=np.zeros(n_lanes, dtype=np.int32),
            length=np.zeros((), dtype=np.int32),
            logits=np.zeros((n_lanes, shape.vocabulary), dtype=np.float32),
            states=np.zeros((n_lanes * n_rows, shape.hidden), dtype=np.float32),
        )
        binding = bound.binding
        tables = dict[str, _Array]()
        for kind, (cos, sin) in zip(angle_names(shape), self._turns, strict=True):
            tables |= {f"cos{kind}": cos, f"sin{kind}": sin}
        inputs: dict[str, _Array] = {
            "ids": bound.ids,
            CARRIES: bound.carries,
            VECTORS: bound.vectors,
            "positions": bound.positions,
            **tables,
            "last": bound.last,
            "length": bound.length,
        }
        for name, array in inputs.items():
            _bind_input(binding, name, array)
        newest = np.arange(1, n_lanes + 1, dtype=np.int64) * n_rows - 1
        binding.bind_cpu_input(NEWEST, newest)
        for name, sizes in batch_sizes(shape, n_lanes, n_rows).items():
            binding.bind_cpu_input(name, np.array(sizes, dtype=np.int64))
        _bind_output(binding, "logits", bound.logits)
        _bind_output(binding, STATES, bound.states)
        for layer, pair in enumerate(self.layers[:, :, slice(*lanes)]):
            for name, cached in zip(cache_names(layer), pair, strict=True):
                _bind_input(binding, name, cached)
                _bind_output(binding, new_name(name), cached)
        if n_rows <= _MOST_BOUND:
            if len(self._passes) >= _MOST_BOUND:
                del self._passes[next(iter(self._passes))]
            self._passes[lanes, n_rows] = bound
        return bound

    def _reach(self, position: int) -> None:
        n_positions = len(self._turns[0][0])
        if position >= n_positions:
            self._turns = _all_rotations(self._network.shape, max(2 * n_positions, position + 1))
            self._passes.clear()


def _groups(asked: Sequence[Ask]) -> Iterator[Sequence[Ask]]:
    """Divide single rows into passes over lanes of which most are asked: the others cost as much.

    A lane alone is left to a pass of its own.
    """
    group = list[Ask]()
    for ask in asked:
        n_lanes = ask.lane - group[0].lane + 1 if group else 1
        if group and n_lanes > 2 * (len(group) + 1):
            if len(group) > 1:
                yield group
            group = []
        group.append(ask)
    if len(group) > 1:
        yield group


def _computed(ask: Ask, logits: Floats, states: Floats | None) -> Computed:
    kept = logits.copy()
    for id_ in ask.suppressed or ():  # a few: less than an index by a list
        kept[id_] = -np.inf
    return Computed(kept, states)


def _all_rotations(shape: LlamaShape, n_positions: int) -> list[tuple[Floats, Floats]]:
    bases = [shape.theta, shape.local_theta] if shape.is_mixed else [shape.theta]
    return [_rotations(shape.head_size, base, n_positions) for base in bases]


def _rotations(head_size: int, base: float, n_positions: int) -> tuple[Floats, Floats]:
    """Return cosine and sine of each position and pair, shape (P, D / 2), as transformers rounds.

    Source: RoFormer (Su et al. 2021, https://arxiv.org/abs/2104.09864), section 3.2.2.
    """
    pairs = np.arange(0, head_size, 2, dtype=np.float32) / np.float32(head_size)
    speeds = np.float32(1) / np.float32(base) ** pairs  # (D / 2,)
    angles = np.arange(n_positions, dtype=np.float32)[:, None] * speeds  # (P, D / 2)
    return np.cos(angles), np.sin(angles)


def _bind_input(binding: "IOBinding", name: str, array: _Array) -> None:
    address = array.ctypes.data
    binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, address)


def _bind_output(binding: "IOBinding", name: str, array: Floats) -> None:
    address = array.ctypes.data
    binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, address)


def _as_ours(error: Exception) -> ModelError | MemoryError:
    reason = first_line(error)
    if "alloc" in reason:
        return MemoryError(reason)
    return ModelError(Code.RUNTIME_FAILED(reason=reason))
