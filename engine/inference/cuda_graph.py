"""A forward pass over tensors that stay where they are, so that a GPU can repeat it by itself.

A decode step on a GPU is mostly Python and launches. Here everything that changes from step to step
is put into one small tensor: ids, places, and the rows of the cache that are written. The rest is
computed from it on the device, up to the next id: a CUDA graph replays it without Python, and one
read of that id is all that waits.

Attention runs over a fixed number of cached rows (``extent``), of which those that are not valid
are hidden. Their weight is exactly 0, so what is computed is what ``SlotModel.feed`` computes, but
for the order of its sums. Steps are made for some extents, each larger than the one before, so that
a short utterance does not pay for a long one.
"""

import logging
from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from engine.inference.attention import Attention
from engine.inference.slot_cache import SlotCache
from engine.layout.rows import Places, Row

_log = logging.getLogger(__name__)

MAX_ROWS = 8
"""Rows of a pass that is worth a graph: a decode step, or a small read."""

_FIRST_EXTENT = 256
_WARM_UPS = 3  # libraries choose their kernels in the first passes, outside the graph


class StaticStep:
    """One number of rows, one extent."""

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
        """Make the tensors; nothing is computed yet.

        Args:
            network: what computes.
            cache: is written; its tensors must outlive the step.
            attention: how the network is told who sees whom.
            n_rows: that every pass feeds.
            extent: rows of the cache that attention looks at.
            ranked: as for ``Attention.bias``.
        """
        self._network = network
        self._cache = cache
        self._attention = attention
        self._extent = extent
        self._ranked = ranked
        device = network.device
        self._fed = torch.zeros(6, n_rows, dtype=torch.int64, device=device)
        pinned = device.type == "cuda"  # so that copying from it makes nobody wait
        self._staged = torch.zeros(6, n_rows, dtype=torch.int64, pin_memory=pinned)
        self._places_in_cache = torch.arange(extent, device=device)
        n_ids = int(network.config.vocab_size)
        self._suppression = torch.zeros(n_ids, dtype=network.dtype, device=device)
        self._suppressed: Tensor | None = None  # on the processor
        self._graph: torch.cuda.CUDAGraph | None = None
        self.logits = torch.empty(0)  # shape (V,), of the newest pass; overwritten by the next
        self._id = torch.empty(0)

    def next_id(self, rows: Sequence[Row], suppressed: Tensor) -> int:
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
        """Let the device remember the pass.

        Rows that ``next_id`` has not fed are written behind the valid ones, where nobody looks.

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
        ids, position, time, encoded, index, n_valid = self._fed
        new = Places(position[None], time[None], encoded[None])
        cached = self._cache.place_at(index, new, self._extent)
        hidden = (self._places_in_cache >= n_valid[:1]).expand(1, len(ids), -1)
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
        self.logits = logits[0, -1]
        self._id = (self.logits + self._suppression).argmax()

    def _suppress(self, suppressed: Tensor) -> None:
        if self._suppressed is None or not torch.equal(suppressed, self._suppressed):
            self._suppression.zero_()
            self._suppression[suppressed.to(self._suppression.device)] = -torch.inf
            self._suppressed = suppressed


class StaticSteps:
    """Steps as they are needed: one for each number of rows and each extent."""

    def __init__(
        self, network: PreTrainedModel, cache: SlotCache, attention: Attention, *, captured: bool
    ) -> None:
        self._network = network
        self._cache = cache
        self._attention = attention
        self._captured = captured
        self._steps = dict[tuple[int, int, bool], StaticStep]()

    def find(self, n_rows: int, *, ranked: bool) -> StaticStep:
        """Find or make the step for the next rows; those that do not exist yet take a second.

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
        """Make every step anew: a graph knows the layers' tensors by where they were."""
        self._steps.clear()

    def _capture(self, step: StaticStep) -> None:
        """Capture a step; where a library cannot be captured, it runs without."""
        try:
            step.capture()
        except RuntimeError as error:
            self._captured = False
            _log.warning("decode steps run without CUDA graphs: %s", error)
