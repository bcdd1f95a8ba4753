"""A forward pass over tensors with fixed addresses, which a CUDA graph can replay.

A decode step on a GPU is mostly Python and kernel launches. Here all values that change from step
to step are in one small tensor: places of all rows, and ids and columns of the new ones. The rest
is computed from it on the device, up to the logits: a CUDA graph replays it without Python, and
only the read of the next id waits.

Attention runs over a fixed number of cached rows (``extent``); invalid ones have time ``NEVER``.
Their weight is exactly 0, so the result is that of any other pass except for the order of its sums.
There are steps for several extents, so that a short utterance does not pay for a long one.
"""

import logging
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from engine.layout.rows import Places, Row
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.tensor_cache import TensorCache

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
            network: of the pass.
            cache: of one conversation; is written; its tensors must outlive the step.
            attention: makes the mask.
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

        Raises:
            RuntimeError: some library cannot be captured.
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
        """Compute rows and keep them; return logits as ``StaticStep.compute``.

        Raises:
            CacheFullError: the cache has no room for them.
        """
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
