"""The slot KV cache of several conversations that are computed together.

The rows of each conversation stand in arrival order from the first column on, as in
``engine.runtime.torch.slot_cache``. So conversations need not keep in step: each is truncated and
evicted by itself, and a new one may start beside others. What stands behind its valid rows has time
``NEVER``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PretrainedConfig
from transformers.cache_utils import Cache

from engine.errors import CacheFullError
from engine.layout.rows import NEVER, Places, Row
from engine.runtime.torch.slot_cache import AllocatedLayer, Turn, cached_shape

Fed = tuple[int, Sequence[Row]]
"""A conversation, and the rows it is fed."""

_FIRST_COLUMNS = 128
_ABSENT = (0, NEVER, 0)


@dataclass(frozen=True, slots=True)
class _Pass:
    """Where the rows of a forward pass are read and written.

    Attributes:
        lanes: conversation of each line of the batch, shape (B,); None for all in their order.
        lane, column: of each row in the cache, shape (N,).
        line, query: of each row in the batch, shape (N,).
        extent: columns in attention, K.
    """

    lanes: Tensor | None
    lane: Tensor
    column: Tensor
    line: Tensor
    query: Tensor
    extent: int


class BatchedCache(Cache):
    """Keys and values of ``n`` conversations, for an unmodified transformers model.

    A forward pass: ``begin(fed)``, the model writes its layers by ``update``, ``commit``. Lines of
    a batch are padded in front, so that the last column of each is its last row.

    Attributes:
        n_rows: valid rows of each conversation.
    """

    def __init__(
        self,
        config: PretrainedConfig,
        n: int,
        capacity: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        n_heads, head_size = cached_shape(config)
        columns = min(capacity, _FIRST_COLUMNS)
        shape = (n, n_heads, columns, head_size)  # (n, H, K, D)
        self._layers = [
            _BatchedLayer(shape, dtype, device) for _ in range(config.num_hidden_layers)
        ]
        super().__init__(layers=list(self._layers))
        self.capacity = capacity
        self.n_rows = [0] * n
        self._new: Sequence[Fed] = ()
        self._places = _absent(n, columns, device)  # (3, n, K)

    def begin(self, fed: Sequence[Fed]) -> tuple[Places, Places]:
        """Reserve the rows of a forward pass.

        Args:
            fed: at least one row of each conversation, conversations in rising order.

        Returns:
            places of the new rows, shape (B, Q), and of all in attention, shape (B, K).

        Raises:
            CacheFullError: the rows of a conversation do not fit; the cache is unchanged.
        """
        for lane, rows in fed:
            if self.n_rows[lane] + len(rows) > self.capacity:
                raise CacheFullError(capacity=self.capacity, wanted=self.n_rows[lane] + len(rows))
        extent = max(self.n_rows[lane] + len(rows) for lane, rows in fed)
        self._grow(extent)
        width = max(len(rows) for _, rows in fed)
        lines = [
            [_ABSENT] * (width - len(rows))
            + [(row.position, row.time, row.position + row.shift) for row in rows]
            for _, rows in fed
        ]
        device = self._places.device
        new = torch.tensor(lines, device=device).permute(2, 0, 1)  # (3, B, Q)
        indices = [
            (lane, self.n_rows[lane] + index, line, width - len(rows) + index)
            for line, (lane, rows) in enumerate(fed)
            for index in range(len(rows))
        ]
        lane, column, line, query = torch.tensor(indices, device=device).T  # (N,) each
        self._places[:, lane, column] = new[:, line, query]
        lanes = [lane for lane, _ in fed]
        chosen = None if len(lanes) == len(self.n_rows) else torch.tensor(lanes, device=device)
        now = _Pass(chosen, lane, column, line, query, extent)
        for layer in self._layers:
            layer.now = now
        self._new = fed
        cached = self._places[..., :extent]  # (3, n, K)
        return Places(*new), Places(*(cached if chosen is None else cached[:, chosen]))

    def commit(self) -> None:
        """Count the rows of the forward pass as valid."""
        for lane, rows in self._new:
            self.n_rows[lane] += len(rows)
        self._new = ()

    @torch.inference_mode()  # what grew in a forward pass is a tensor of that mode
    def truncate(self, lane: int, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows of a conversation in arrival order."""
        if not 0 <= n_rows <= self.n_rows[lane]:
            msg = f"a cache of {self.n_rows[lane]} rows cannot be truncated to {n_rows}"
            raise ValueError(msg)
        self._places[1, lane, n_rows : self.n_rows[lane]] = NEVER
        self.n_rows[lane] = n_rows

    @torch.inference_mode()
    def evict(self, lane: int, start: int, stop: int, distance: int, turn: Turn) -> None:
        """Drop rows of a conversation, as ``SlotCache.evict``."""
        old, end = self.n_rows[lane], start + self.n_rows[lane] - stop
        for layer in self._layers:
            kept = layer.keys[lane : lane + 1, :, stop:old]  # (1, H, N, D)
            layer.keys[lane : lane + 1, :, start:end] = turn(kept, distance)
            layer.values[lane, :, start:end] = layer.values[lane, :, stop:old].clone()
        for column, moved in zip(self._places[:, lane], (distance, 0, distance), strict=True):
            column[start:end] = column[stop:old] - moved
        self.truncate(lane, end)

    def get_seq_length(self, layer_idx: int = 0) -> int:  # noqa: ARG002  the library's signature
        """Return the most rows of a conversation, for the library."""
        return max(self.n_rows)

    def _grow(self, extent: int) -> None:
        """Double the columns until there are ``extent``: most conversations stay short."""
        columns = old = self._places.shape[-1]
        while columns < extent:
            columns = min(2 * columns, self.capacity)
        if columns > old:
            places = _absent(len(self.n_rows), columns, self._places.device)
            places[..., :old] = self._places
            self._places = places
            for layer in self._layers:
                layer.grow(columns)


def _absent(n: int, columns: int, device: torch.device) -> Tensor:
    """Return places of rows that do not exist, shape (3, n, K)."""
    blank = torch.tensor(_ABSENT, device=device)
    return blank[:, None, None].expand(3, n, columns).clone()


class _BatchedLayer(AllocatedLayer):  # type: ignore[no-untyped-call]
    """Keys and values of all conversations."""

    def __init__(
        self, shape: tuple[int, int, int, int], dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__(shape, dtype, device)
        self.now: _Pass | None = None

    def grow(self, columns: int) -> None:
        """Make room for so many columns."""
        n, n_heads, old, head_size = self.keys.shape
        for name in ("keys", "values"):
            more = getattr(self, name).new_zeros(n, n_heads, columns - old, head_size)
            setattr(self, name, torch.cat((getattr(self, name), more), dim=2))

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Write the new rows, shape (B, H, Q, D); return all, shape (B, H, K, D)."""
        now = self.now
        assert now is not None, "begin comes first"
        self.keys[now.lane, :, now.column] = key_states[now.line, :, now.query]  # (N, H, D)
        self.values[now.lane, :, now.column] = value_states[now.line, :, now.query]
        keys, values = self.keys[:, :, : now.extent], self.values[:, :, : now.extent]
        if now.lanes is None:
            return keys, values
        return keys[now.lanes], values[now.lanes]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the sizes of a mask, for the library; not used, since masks are explicit."""
        return (query_length if self.now is None else self.now.extent), 0

    def get_seq_length(self) -> int:
        """Return the columns in attention, for the library."""
        return 0 if self.now is None else self.now.extent

    def get_max_length(self) -> int:
        """Return the columns, for the library."""
        return self.keys.shape[-2]
