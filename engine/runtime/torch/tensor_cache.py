"""The slot KV cache in tensors: keys and values of the rows of a row book.

One conversation's tensors are allocated once, so that a CUDA graph can hold their addresses. Those
of several grow: most conversations stay short.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch import Tensor
from transformers import PretrainedConfig
from transformers.cache_utils import Cache, CacheLayerMixin

from engine.layout.planner import Eviction
from engine.runtime.rows import Fed, RowBook

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

        As ``begin``, but independent of Python values, so that a graph can replay it.

        Args:
            columns: int64, shape (Q,).
            extent: the number of first columns in attention, K.
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
    """Return the number of heads whose keys are cached, and the size of a head."""
    head_size = getattr(config, "head_dim", None)
    return _n_cached_heads(config), head_size or config.hidden_size // config.num_attention_heads


def _n_cached_heads(config: PretrainedConfig) -> int:
    """Return the number of heads whose keys are cached: Falcon has its own names for them."""
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
        """Make room for so many further columns."""
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
        """Return the sizes of a mask, for the library; not used, since masks are explicit."""
        return self.extent, 0

    def get_seq_length(self) -> int:
        """Return the columns in attention, for the library."""
        return self.extent

    def get_max_length(self) -> int:
        """Return the columns, for the library."""
        return self.keys.shape[-2]
