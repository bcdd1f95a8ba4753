"""The slot KV cache in tensors, and passes over it that a CUDA graph can replay.

One conversation's tensors are allocated once, so that a CUDA graph can hold their addresses. Those
of several grow: most conversations stay short.
"""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from torch import Tensor
from transformers import PretrainedConfig, PreTrainedModel
from transformers.cache_utils import Cache, CacheLayerMixin

from engine.layout.planner import Eviction
from engine.layout.rows import Places, Row
from engine.runtime.rows import Fed, RowBook
from engine.runtime.torch.attention import Attention

if TYPE_CHECKING:
    from types import EllipsisType


Turn = Callable[[int, Tensor, int], Tensor]

_Span: TypeAlias = "slice[int | None, int | None, None]"
_Index: TypeAlias = "tuple[_Span | Tensor, ...] | EllipsisType"

_FIRST_COLUMNS = 128


class TensorCache(Cache):
    """Keys and values of all lanes of a book, for an unmodified transformers model.

    A forward pass: ``begin(fed)`` or ``place``, then the model writes its layers by ``update``.
    """

    def __init__(
        self, config: PretrainedConfig, book: RowBook, dtype: torch.dtype, device: torch.device
    ) -> None:
        n_heads, head_size = _cached_shape(config)
        n_lanes = len(book.n_rows)
        n_columns = book.capacity if n_lanes == 1 else min(book.capacity, _FIRST_COLUMNS)
        shape = (n_lanes, n_heads, n_columns, head_size)  # (B, H, K, D)
        self._layers = [_Layer(shape, dtype, device) for _ in range(config.num_hidden_layers)]
        super().__init__(layers=list(self._layers))
        self.book = book
        self._device = device

    def begin(self, fed: Sequence[Fed]) -> None:
        """Prepare a forward pass over rows that the book has begun."""
        starts = [self.book.n_rows[lane] for lane, _ in fed]
        extent = max(start + len(rows) for start, (_, rows) in zip(starts, fed, strict=True))
        self._grow(extent)
        every = slice(None)
        if len(fed) == 1:  # slices: views, where indexes would copy
            lane = slice(fed[0][0], fed[0][0] + 1)
            self._prepare((lane, every, slice(starts[0], extent)), ..., lane, extent)
            return
        width = max(len(rows) for _, rows in fed)
        indices = [
            (lane, start + index, line, width - len(rows) + index)
            for line, (start, (lane, rows)) in enumerate(zip(starts, fed, strict=True))
            for index in range(len(rows))
        ]
        lane_, column, line, query = torch.tensor(indices, device=self._device).T  # (N,) each
        lanes = [lane for lane, _ in fed]
        all_ = len(lanes) == len(self.book.n_rows)
        chosen = every if all_ else torch.tensor(lanes, device=self._device)
        self._prepare((lane_, every, column), (line, every, query), chosen, extent)

    def place(self, columns: Tensor, extent: int) -> None:
        """Prepare a pass over rows of one conversation whose columns only the device knows.

        As ``begin``, but independent of Python values, so that a graph can replay it. ``columns``
        is int64, shape (Q,); the first ``extent`` columns are in attention, K.
        """
        every = slice(None)
        self._prepare((every, every, columns), ..., every, extent)

    def _prepare(self, into: _Index, out_of: _Index, lanes: "_Span | Tensor", extent: int) -> None:
        for layer in self._layers:
            layer.into, layer.out_of, layer.extent = into, out_of, extent
            layer.seen = (lanes, slice(None), slice(0, extent))

    def evict(self, lane: int, gone: Eviction, turn: Turn) -> None:
        """Drop rows of a lane that the book still has; ``turn`` moves keys of a layer."""
        old = self.book.n_rows[lane]
        start, end = gone.start, gone.start + old - gone.stop
        for index, layer in enumerate(self._layers):
            kept = layer.keys[lane : lane + 1, :, gone.stop : old]  # (1, H, N, D)
            layer.keys[lane : lane + 1, :, start:end] = turn(index, kept, gone.distance)
            layer.values[lane, :, start:end] = layer.values[lane, :, gone.stop : old].clone()

    def _grow(self, extent: int) -> None:
        """Double the columns until there are ``extent``."""
        columns = old = self._layers[0].get_max_length()
        while columns < extent:
            columns = min(2 * columns, self.book.capacity)
        if columns > old:
            for layer in self._layers:
                layer.grow(columns - old)


def _cached_shape(config: PretrainedConfig) -> tuple[int, int]:
    head_size = getattr(config, "head_dim", None)
    return _n_cached_heads(config), head_size or config.hidden_size // config.num_attention_heads


def _n_cached_heads(config: PretrainedConfig) -> int:
    """Falcon has its own names for the number of heads whose keys are cached."""
    if getattr(config, "new_decoder_architecture", False):
        return int(config.num_attention_heads)
    if getattr(config, "multi_query", None) is not None:
        return 1 if config.multi_query else int(config.num_attention_heads)
    return int(config.num_key_value_heads)


class _Layer(CacheLayerMixin):  # type: ignore[no-untyped-call]
    """Keys and values of one layer.

    Attributes:
        into: the places of the new rows in the cache.
        out_of: of the same in what the model computed.
        seen: what is in attention, ``extent`` columns.
    """

    is_sliding = False

    def __init__(
        self, shape: tuple[int, int, int, int], dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.keys: Tensor = torch.zeros(shape, dtype=dtype, device=device)
        self.values: Tensor = torch.zeros(shape, dtype=dtype, device=device)
        self.is_initialized = True
        self.into: _Index = ...
        self.out_of: _Index = ...
        self.seen: _Index = ...
        self.extent = 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Do nothing: the tensors exist."""

    def grow(self, n_columns: int) -> None:
        n_lanes, n_heads, _, head_size = self.keys.shape
        more = self.keys.new_zeros(n_lanes, n_heads, n_columns, head_size)
        self.keys = torch.cat((self.keys, more), dim=2)
        self.values = torch.cat((self.values, more), dim=2)

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Write the new rows, shape (B, H, Q, D); return all in attention, shape (B, H, K, D)."""
        self.keys[self.into] = key_states[self.out_of]
        self.values[self.into] = value_states[self.out_of]
        return self.keys[self.seen], self.values[self.seen]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:  # noqa: ARG002  the library's
        return self.extent, 0

    def get_seq_length(self) -> int:
        return self.extent

    def get_max_length(self) -> int:
        return self.keys.shape[-2]


# A decode step on a GPU is mostly Python and kernel launches. Here all values that change from step
# to step are in one small tensor: places of all rows, and ids and columns of the new ones. The rest
# is computed from it on the device, up to the logits: a CUDA graph replays it without Python, and
# only the read of the next id waits.
#
# Attention runs over a fixed number of cached rows (``extent``); invalid ones have time ``NEVER``.
# Their weight is exactly 0, so the result is that of any other pass but for the order of its sums.
# There are steps for several extents, so that a short utterance does not pay for a long one.

_log = logging.getLogger(__name__)

MAX_ROWS = 8
"""The largest pass that is worth a graph: a decode step, or a small read."""

_FIRST_EXTENT = 256
_WARM_UPS = 3  # libraries choose their kernels in the first passes, outside the graph


class StaticStep:
    """A pass for one number of rows and one extent."""

    def __init__(
        self,
        network: PreTrainedModel,
        cache: TensorCache,
        attention: Attention,
        *,
        n_rows: int,
        extent: int,
        ranked: bool,
    ) -> None:
        """Allocate the tensors; nothing is computed yet.

        Args:
            cache: of one conversation; is written; its tensors must outlive the step.
            n_rows: that every pass feeds.
            extent: rows of the cache in attention.
            ranked: as for ``Attention.bias``.
        """
        self._network = network
        self._cache = cache
        self._attention = attention
        self._n_rows = n_rows
        self._extent = extent
        self._ranked = ranked
        device = network.device
        n_numbers = 3 * extent + 2 * n_rows  # places of all; ids and columns of the new ones
        self._fed = torch.zeros(n_numbers, dtype=torch.int64, device=device)
        pinned = device.type == "cuda"  # so that copying from it is asynchronous
        self._staged = torch.zeros(n_numbers, dtype=torch.int64, pin_memory=pinned)
        n_ids = int(network.config.vocab_size)
        self._suppression = torch.zeros(n_ids, dtype=network.dtype, device=device)  # (V,)
        self._suppressed: Sequence[int] = ()
        self._graph: torch.cuda.CUDAGraph | None = None
        self._logits = torch.empty(0)  # (V,), of the newest pass; overwritten by the next

    def compute(self, rows: Sequence[Row], suppressed: Sequence[int]) -> Tensor:
        """Compute rows that the book has begun; return the logits of the last one, shape (V,).

        They are -inf where suppressed, and the next pass does not overwrite them.
        """
        self._suppress(suppressed)
        places = self._cache.book.places[:, 0, : self._extent]  # (3, K)
        columns = np.arange(self._n_rows) + self._cache.book.n_rows[0]  # (Q,)
        fed = np.concatenate((places.ravel(), [row.id for row in rows], columns))
        self._staged.copy_(torch.from_numpy(fed))
        self._fed.copy_(self._staged, non_blocking=True)
        if self._graph is None:
            self._compute()
        else:
            self._graph.replay()
        return self._logits + self._suppression

    def capture(self) -> None:
        """Record the pass as a CUDA graph.

        The recording writes its rows after the valid ones, where they are hidden.
        """
        self._fed[-self._n_rows :] = torch.arange(self._n_rows) + self._cache.book.n_rows[0]
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UPS):
                self._compute()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._compute()
        self._graph = graph

    def _compute(self) -> None:
        places, new_ones = self._fed[: 3 * self._extent], self._fed[3 * self._extent :]
        cached = Places(*places.view(3, 1, self._extent))  # (1, K)
        ids, columns = new_ones.view(2, self._n_rows)  # (Q,) each
        new = Places(*(column.index_select(1, columns) for column in cached))  # (1, Q)
        self._cache.place(columns, self._extent)
        logits: Tensor = self._network(
            input_ids=ids[None],
            position_ids=new.encoded,
            attention_mask=self._attention.bias(new, cached, ranked=self._ranked),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits
        self._logits = logits[0, -1]  # (V,)

    def _suppress(self, suppressed: Sequence[int]) -> None:
        if suppressed != self._suppressed:
            self._suppression.zero_()
            self._suppression[list(suppressed)] = -torch.inf
            self._suppressed = suppressed


class StaticSteps:
    """Steps made on demand, one for each number of rows and each extent."""

    def __init__(
        self,
        network: PreTrainedModel,
        cache: TensorCache,
        attention: Attention,
        *,
        captured: bool,
    ) -> None:
        self._network = network
        self._cache = cache
        self._attention = attention
        self._captured = captured
        self._steps = dict[tuple[int, int, bool], StaticStep]()

    def compute(self, rows: Sequence[Row], suppressed: Sequence[int], *, ranked: bool) -> Tensor:
        self._cache.book.begin([(0, rows)])
        logits = self.find(len(rows), ranked=ranked).compute(rows, suppressed)
        self._cache.book.commit()
        return logits

    def find(self, n_rows: int, *, ranked: bool) -> StaticStep:
        """Return the step for the next rows; making a new one takes a second."""
        extent = min(_FIRST_EXTENT, self._cache.book.capacity)
        while extent < self._cache.book.n_rows[0] + n_rows:
            extent = min(2 * extent, self._cache.book.capacity)
        key = (n_rows, extent, ranked)
        if key not in self._steps:
            step = StaticStep(
                self._network,
                self._cache,
                self._attention,
                n_rows=n_rows,
                extent=extent,
                ranked=ranked,
            )
            if self._captured:
                self._capture(step)
            self._steps[key] = step
        return self._steps[key]

    def forget(self) -> None:
        """Drop all steps: a graph depends on the addresses of the layers' tensors."""
        self._steps.clear()

    def _capture(self, step: StaticStep) -> None:
        """Capture a step; if a library cannot be captured, run without a graph."""
        try:
            step.capture()
        except RuntimeError as error:
            self._captured = False
            _log.warning("decode steps run without CUDA graphs: %s", error)
