"""A Llama on ONNX Runtime with the slot cache of one conversation, without torch.

The runtime reads and writes memory that is bound once: ids, positions and the cache are arrays of
this process, so a pass copies nothing but its few rows, and computes without Python's lock.
``engine.runtime.onnx.onnx_loader`` makes the network.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError, first_line
from engine.layout.planner import Eviction
from engine.layout.rows import visible
from engine.messages import Code
from engine.models.llama_shape import LlamaShape
from engine.models.zeros import zeros
from engine.runtime.causal_model import Ask, CausalModel, Computed
from engine.runtime.flops import Arithmetic, peak_memory_bytes
from engine.runtime.onnx.int8_weights import Numbers, packed_weights
from engine.runtime.onnx.onnx_graph import (
    STATES,
    cache_names,
    graph_bytes,
    new_name,
    packed_layers,
)
from engine.runtime.rows import Integers, RowBook
from engine.settings import LayoutSettings

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, IOBinding

Floats = NDArray[np.float32]

_HIDDEN = np.finfo(np.float32).min

_FIRST_POSITIONS = 2048
"""Rows of the first tables of rotations; further positions double them."""

_MOST_BOUND = 64
"""Rows of the largest pass whose memory stays bound: larger ones are rare."""

_position = attrgetter("position")

_ERRORS_ONLY = 3  # of the runtime's levels of logging


class OnnxNetwork:
    """Weights in a session of ONNX Runtime, without a cache.

    Attributes:
        session: computes; replaced when the weights are.
    """

    def __init__(
        self,
        shape: LlamaShape,
        weights: Mapping[str, Floats],
        *,
        n_threads: int,
        packed: bool = False,
    ) -> None:
        """Load weights.

        Args:
            shape: of the network.
            weights: all that the shape names.
            n_threads: of the processor; 0 for all cores.
            packed: multiply in 8 bits.

        Raises:
            ModelError: the runtime refuses them.
            MemoryError: there is too little memory.
        """
        self.shape = shape
        self._n_threads, self._packed = n_threads, packed
        self.session = self._loaded(weights)

    def load(self, weights: Mapping[str, Floats]) -> None:
        """Use other weights; on an error of ``__init__`` the ones before stay."""
        self.session = self._loaded(weights)

    def _loaded(self, weights: Mapping[str, Floats]) -> "InferenceSession":
        import onnxruntime  # noqa: PLC0415  may be missing

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._n_threads
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        given: Mapping[str, Numbers] = weights
        if self._packed:
            given = packed_weights(weights, packed_layers(self.shape))
        make = onnxruntime.OrtValue.ortvalue_from_numpy
        try:
            options.add_external_initializers(list(given), [make(it) for it in given.values()])
            session: InferenceSession = onnxruntime.InferenceSession(
                graph_bytes(self.shape, packed=self._packed, states=True),
                options,
                providers=["CPUExecutionProvider"],
            )
        except Exception as error:
            raise _as_ours(error) from error
        return session


@dataclass(frozen=True, slots=True)
class _BoundPass:
    """The memory of passes of one number of rows."""

    binding: "IOBinding"
    ids: Integers  # (Q,)
    positions: Integers  # (1, Q)
    states: Floats  # (Q, width)


def slot_model(network: OnnxNetwork, capacity: int) -> CausalModel:
    """Make one conversation with a network, see ``OnnxStore``."""
    return CausalModel(OnnxStore(network, capacity))


class OnnxStore:
    """One conversation with a network on ONNX Runtime.

    Attributes:
        book: of its rows.
        layers: keys and values of all layers, shape (layers, 2, 1, H, K, D), allocated once: the
            runtime holds their addresses.
        max_positions: that the network was trained for.
        arithmetic: of the network.
    """

    def __init__(self, network: OnnxNetwork, capacity: int) -> None:
        """Make the cache of ``capacity`` rows."""
        shape = network.shape
        self._network = network
        self._session = network.session  # that the memory is bound to
        self.book = RowBook(1, capacity)
        self.layers: Floats = zeros((shape.layers, 2, 1, shape.kv_heads, capacity, shape.head_size))
        self.max_positions = shape.max_positions
        self.arithmetic = Arithmetic(
            parameters=shape.n_parameters - (0 if shape.tied else shape.vocabulary * shape.hidden),
            per_sight=4 * shape.layers * shape.heads * shape.head_size,
        )
        self._passes = dict[int, _BoundPass]()
        self._last = np.zeros(1, dtype=np.int32)
        self._length = np.zeros((), dtype=np.int32)
        self._logits: Floats = np.zeros((1, shape.vocabulary), dtype=np.float32)
        self._turns = _rotations(shape, _FIRST_POSITIONS)

    @property
    def peak_memory_bytes(self) -> int:
        """The most memory held so far, see ``engine.runtime.flops``."""
        return peak_memory_bytes()

    def use(self, layout: LayoutSettings) -> None:
        """Use this layout for later rows; raise ModelError if it counts keys as ALiBi can."""
        if layout.ranked:
            raise ModelError(Code.NO_ALIBI(layout=layout.name))

    def forget_steps(self) -> None:
        """Drop what is bound; the next passes bind it again."""
        self._passes.clear()
        self._session = self._network.session

    def evict(self, lane: int, gone: Eviction) -> None:
        """Drop rows in the middle of the cache, and move the later ones up.

        Their keys are turned back: rotations compose, so no key is computed again.
        """
        self._reach(gone.distance)
        cos, sin = (table[gone.distance] for table in self._turns)  # (D / 2,) each
        keys, values = self.layers[:, 0, lane], self.layers[:, 1, lane]  # (layers, H, K, D)
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
        sight = visible(*new[:2], *cached[:2])  # (1, Q, K)
        mask = np.where(sight, np.float32(0), _HIDDEN)[None]  # (1, 1, Q, K)
        if self._session is not self._network.session:
            self.forget_steps()
        bound = self._passes.get(len(rows)) or self._bind(len(rows))
        bound.ids[:] = [row.id for row in rows]
        bound.positions[0] = encoded
        length = mask.shape[-1]
        self._last[0], self._length[...] = length - 1, length
        bound.binding.bind_cpu_input("mask", mask)
        try:
            self._session.run_with_iobinding(bound.binding)
        except Exception as error:
            raise _as_ours(error) from error
        states = bound.states.copy() if ask.keep_states else None
        if rows != arrived:
            order = [rows.index(row) for row in arrived]
            self._arrange(lane, order)
            states = None if states is None else states[order]
        self.book.commit()
        logits = self._logits[0].copy()
        for id_ in ask.suppressed or ():  # a few: less than an index by a list
            logits[id_] = -np.inf
        return Computed(logits, states)

    def _arrange(self, lane: int, order: Sequence[int]) -> None:
        """Put the computed rows of the forward pass in another order: indexes into them."""
        start, end = self.book.n_rows[lane], self.book.n_rows[lane] + len(order)
        now = self.layers[:, :, lane, :, start:end]  # (layers, 2, H, Q, D)
        now[:] = now[..., order, :]
        self.book.arrange(lane, order)

    def _bind(self, n_rows: int) -> _BoundPass:
        """Bind the memory of passes of ``n_rows``."""
        ids = np.zeros(n_rows, dtype=np.int64)
        positions = np.zeros((1, n_rows), dtype=np.int64)
        binding = self._session.io_binding()
        cos, sin = self._turns
        inputs: dict[str, Floats | Integers | NDArray[np.int32]] = {
            "ids": ids,
            "positions": positions,
            "cos": cos,
            "sin": sin,
            "last": self._last,
            "length": self._length,
        }
        for name, array in inputs.items():
            _bind_input(binding, name, array)
        states = np.zeros((n_rows, self._network.shape.hidden), dtype=np.float32)
        _bind_output(binding, "logits", self._logits)
        _bind_output(binding, STATES, states)
        for layer, pair in enumerate(self.layers):
            for name, cached in zip(cache_names(layer), pair, strict=True):
                _bind_input(binding, name, cached)
                _bind_output(binding, new_name(name), cached)
        bound = _BoundPass(binding, ids, positions, states)
        if n_rows <= _MOST_BOUND:
            self._passes[n_rows] = bound
        return bound

    def _reach(self, position: int) -> None:
        """Make the tables of rotations reach a position."""
        n_positions = len(self._turns[0])
        if position >= n_positions:
            self._turns = _rotations(self._network.shape, max(2 * n_positions, position + 1))
            self._passes.clear()


def _rotations(shape: LlamaShape, n_positions: int) -> tuple[Floats, Floats]:
    """Return cosine and sine of each position and pair, shape (P, D / 2), as transformers rounds.

    Source: RoFormer (Su et al. 2021, https://arxiv.org/abs/2104.09864), section 3.2.2.
    """
    pairs = np.arange(0, shape.head_size, 2, dtype=np.float32) / np.float32(shape.head_size)
    speeds = np.float32(1) / np.float32(shape.theta) ** pairs  # (D / 2,)
    angles = np.arange(n_positions, dtype=np.float32)[:, None] * speeds  # (P, D / 2)
    return np.cos(angles), np.sin(angles)


def _bind_input(
    binding: "IOBinding", name: str, array: Floats | Integers | NDArray[np.int32]
) -> None:
    address = array.ctypes.data
    binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, address)


def _bind_output(binding: "IOBinding", name: str, array: Floats) -> None:
    address = array.ctypes.data
    binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, address)


def _as_ours(error: Exception) -> ModelError | MemoryError:
    """Return an error of the runtime, which have no common kind, as one of ours."""
    reason = first_line(error)
    if "alloc" in reason:
        return MemoryError(reason)
    return ModelError(Code.RUNTIME_FAILED(reason=reason))
