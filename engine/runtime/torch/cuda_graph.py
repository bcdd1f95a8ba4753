"""A forward pass over tensors with fixed addresses, which a CUDA graph can replay.

A decode step on a GPU is mostly Python and kernel launches. Here all values that change from step
to step are in one small tensor: ids, positions and times, and the rows of the cache to write. The
rest is computed from it on the device, up to the next id: a CUDA graph replays it without Python,
and only the read of that id waits.

Attention runs over a fixed number of cached rows (``extent``); invalid ones are hidden. Their
weight is exactly 0, so the result is that of ``SlotModel.feed`` except for the order of its sums.
There are steps for several extents, so that a short utterance does not pay for a long one.
"""

import logging
from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from engine.layout.rows import Places, Row
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.slot_cache import SlotCache

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
        cache: SlotCache,
        attention: Attention,
        *,
        n_rows: int,
        extent: int,
        ranked: bool,
    ) -> None:
        """Allocate the tensors; nothing is computed yet.

        Args:
            network: of the pass.
            cache: is written; its tensors must outlive the step.
            attention: makes the mask.
            n_rows: that every pass feeds.
            extent: rows of the cache in attention.
            ranked: as for ``Attention.bias``.
        """
        self._network = network
        self._cache = cache
        self._attention = attention
        self._extent = extent
        self._ranked = ranked
        device = network.device
        self._fed = torch.zeros(6, n_rows, dtype=torch.int64, device=device)  # (6, Q)
        pinned = device.type == "cuda"  # so that copying from it is asynchronous
        self._staged = torch.zeros(6, n_rows, dtype=torch.int64, pin_memory=pinned)  # (6, Q)
        self._cache_index = torch.arange(extent, device=device)  # (K,)
        n_ids = int(network.config.vocab_size)
        self._suppression = torch.zeros(n_ids, dtype=network.dtype, device=device)  # (V,)
        self._suppressed: Sequence[int] = ()
        self._graph: torch.cuda.CUDAGraph | None = None
        self.logits = torch.empty(0)  # (V,), of the newest pass; overwritten by the next
        self.allowed_logits = torch.empty(0)  # (V,), the same, -inf where an id is suppressed
        self._id = torch.empty(0)

    def next_id(self, rows: Sequence[Row], suppressed: Sequence[int]) -> int:
        """Feed rows and choose the likeliest next id, as ``SlotModel.next_id``."""
        self._suppress(suppressed)
        start = self._cache.n_rows
        columns = [
            (row.id, row.position, row.time, row.position + row.shift, start + n, start + len(rows))
            for n, row in enumerate(rows)
        ]
        self._staged.copy_(torch.tensor(columns, dtype=torch.int64).T)
        self._fed.copy_(self._staged, non_blocking=True)
        if self._graph is None:
            self._compute()
        else:
            self._graph.replay()
        self._cache.added(len(rows))
        return int(self._id)

    def capture(self) -> None:
        """Record the pass as a CUDA graph.

        The recording writes its rows after the valid ones, where they are hidden.

        Raises:
            RuntimeError: some library cannot be captured.
        """
        self._fed[4] = torch.arange(len(self._fed[4])) + self._cache.n_rows
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
        ids, position, time, encoded, index, n_valid = self._fed  # (Q,) each
        new = Places(position[None], time[None], encoded[None])  # (1, Q)
        cached = self._cache.place_at(index, new, self._extent)  # (1, K)
        hidden = (self._cache_index >= n_valid[:1]).expand(1, len(ids), -1)  # (1, Q, K)
        bias = self._attention.bias(new, cached, ranked=self._ranked, apart=hidden)
        logits: Tensor = self._network(
            input_ids=ids[None],
            position_ids=new.encoded,
            attention_mask=bias,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits
        self._cache.placed()
        self.logits = logits[0, -1]  # (V,)
        self.allowed_logits = self.logits + self._suppression  # (V,)
        self._id = self.allowed_logits.argmax()  # ()

    def _suppress(self, suppressed: Sequence[int]) -> None:
        if suppressed != self._suppressed:
            self._suppression.zero_()
            self._suppression[list(suppressed)] = -torch.inf
            self._suppressed = suppressed


class StaticSteps:
    """Steps made on demand, one for each number of rows and each extent."""

    def __init__(
        self, network: PreTrainedModel, cache: SlotCache, attention: Attention, *, captured: bool
    ) -> None:
        self._network = network
        self._cache = cache
        self._attention = attention
        self._captured = captured
        self._steps = dict[tuple[int, int, bool], StaticStep]()

    def find(self, n_rows: int, *, ranked: bool) -> StaticStep:
        """Return the step for the next rows; making a new one takes a second.

        Raises:
            CacheFullError: the cache has no room for them.
        """
        self._cache.check_room(n_rows)
        extent = min(_FIRST_EXTENT, self._cache.capacity)
        while extent < self._cache.n_rows + n_rows:
            extent = min(2 * extent, self._cache.capacity)
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
