"""The slot KV cache: tensors allocated once, rows written in arrival order, truncated by length.

Arrival order is not position order: a late source word comes after targets that it precedes. So
positions and times of every row are kept beside its keys, and the mask is computed from those.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from transformers import PretrainedConfig
from transformers.cache_utils import Cache, CacheLayerMixin

from engine.errors import CacheFullError
from engine.layout.rows import NEVER, Places, Row

Turn = Callable[[Tensor, int], Tensor]


class SlotCache(Cache):
    """Keys and values of one conversation, batch size 1, for an unmodified transformers model.

    A forward pass: ``begin(rows)``, the model writes its layers by ``update``, ``commit``.

    Invariants: ``n_rows`` rows are valid; no tensor is allocated after construction; truncating and
    feeding again gives the same result as feeding.
    """

    def __init__(
        self, config: PretrainedConfig, capacity: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        n_heads, head_size = cached_shape(config)
        shape = (1, n_heads, capacity, head_size)  # (B, H, K, D)
        self._layers = [_SlotLayer(shape, dtype, device) for _ in range(config.num_hidden_layers)]
        super().__init__(layers=list(self._layers))
        self.capacity = capacity
        self.n_rows = 0
        self._n_new = 0
        numbers = torch.zeros(3, 1, capacity, dtype=torch.int64, device=device)  # (3, 1, K)
        numbers[1] = NEVER
        self._places = Places(*numbers)

    def begin(self, rows: Sequence[Row]) -> None:
        """Reserve the rows of a forward pass.

        Raises:
            CacheFullError: they do not fit; the cache is unchanged.
        """
        self.check_room(len(rows))
        start, end = self.n_rows, self.n_rows + len(rows)
        places = [(row.position, row.time, row.position + row.shift) for row in rows]
        columns = torch.tensor(places, dtype=torch.int64).T  # (3, Q)
        for cached, column in zip(self._places, columns, strict=True):
            cached[0, start:end] = column
        self._n_new = len(rows)
        for layer in self._layers:
            layer.span = (start, end)

    def check_room(self, n_rows: int) -> None:
        """Raise CacheFullError unless ``n_rows`` more rows fit."""
        if self.n_rows + n_rows > self.capacity:
            raise CacheFullError(capacity=self.capacity, wanted=self.n_rows + n_rows)

    def place_at(self, index: Tensor, places: Places, extent: int) -> Places:
        """Reserve rows whose indices only the device knows.

        As ``begin``, but independent of Python values, so that a graph can replay it. ``placed``
        and ``added`` replace ``commit``.

        Args:
            index: int64, shape (Q,); rows of the cache to write.
            places: of the new rows, shape (1, Q).
            extent: the number of first rows in attention, K.

        Returns:
            places of these with the new ones, shape (1, K).
        """
        for cached, column in zip(self._places, places, strict=True):
            cached.index_copy_(1, index, column)
        for layer in self._layers:
            layer.index, layer.span = index, (0, extent)
        return self._places.between(0, extent)

    def placed(self) -> None:
        """End the pass that ``place_at`` started."""
        for layer in self._layers:
            layer.index = None

    def added(self, n_rows: int) -> None:
        """Count the rows that a pass of ``place_at`` has written as valid."""
        self.n_rows += n_rows

    def commit(self) -> None:
        """Count the rows of the forward pass as valid."""
        self.n_rows += self._n_new
        self._n_new = 0

    def truncate(self, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows in arrival order."""
        if not 0 <= n_rows <= self.n_rows:
            msg = f"a cache of {self.n_rows} rows cannot be truncated to {n_rows}"
            raise ValueError(msg)
        self.n_rows = n_rows

    def evict(self, start: int, stop: int, distance: int, turn: Turn) -> None:
        """Drop the rows [start, stop) in arrival order; later rows move up.

        Args:
            start: in arrival order.
            stop: likewise.
            distance: positions that the later rows move towards the start.
            turn: moves keys, shape (1, H, N, D), by that distance.
        """
        end = start + self.n_rows - stop
        for layer in self._layers:
            kept = layer.keys[:, :, stop : self.n_rows]  # (1, H, N, D)
            layer.keys[:, :, start:end] = turn(kept, distance)
            layer.values[:, :, start:end] = layer.values[:, :, stop : self.n_rows].clone()
        for column, moved in zip(self._places, (distance, 0, distance), strict=True):
            column[:, start:end] = column[:, stop : self.n_rows] - moved
        self.n_rows = end

    @property
    def new_places(self) -> Places:
        """Positions and times of the rows of this forward pass; shape (1, Q)."""
        return self._places.between(self.n_rows, self.n_rows + self._n_new)

    @property
    def all_places(self) -> Places:
        """Positions and times of the cached rows and the new ones; shape (1, K)."""
        return self._places.between(0, self.n_rows + self._n_new)

    def get_seq_length(self, layer_idx: int = 0) -> int:  # noqa: ARG002  the library's signature
        """Return the number of cached rows, for the library."""
        return self.n_rows


def cached_shape(config: PretrainedConfig) -> tuple[int, int]:
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


class AllocatedLayer(CacheLayerMixin):  # type: ignore[no-untyped-call]
    """Keys and values of one layer in tensors that exist from the start."""

    is_sliding = False

    def __init__(
        self, shape: tuple[int, int, int, int], dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.keys: Tensor = torch.zeros(shape, dtype=dtype, device=device)
        self.values: Tensor = torch.zeros(shape, dtype=dtype, device=device)
        self.is_initialized = True

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Do nothing: the tensors exist."""


class _SlotLayer(AllocatedLayer):  # type: ignore[no-untyped-call]
    """Keys and values of one conversation."""

    def __init__(
        self, shape: tuple[int, int, int, int], dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__(shape, dtype, device)
        self.span = (0, 0)
        self.index: Tensor | None = None  # rows to write, if the span is only for attention

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Write the new rows, shape (1, H, Q, D); return views of all, shape (1, H, K, D)."""
        start, end = self.span
        if self.index is None:
            self.keys[:, :, start:end] = key_states
            self.values[:, :, start:end] = value_states
        else:
            self.keys.index_copy_(2, self.index, key_states)
            self.values.index_copy_(2, self.index, value_states)
        return self.keys[:, :, :end], self.values[:, :, :end]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the sizes of a mask, for the library; not used, since masks are explicit."""
        return self.span[0] + query_length, 0

    def get_seq_length(self) -> int:
        """Return the number of cached rows, for the library."""
        return self.span[0]

    def get_max_length(self) -> int:
        """Return the capacity, for the library."""
        return self.keys.shape[-2]
