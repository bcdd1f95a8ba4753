"""A network and its slot cache: rows in, the next id out.

Works over unmodified transformers models: positions and masks are always explicit, because
libraries build their causal mask from cache order, which is wrong here. ``engine.runtime.loader``
makes the network.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from engine.layout.planner import Eviction
from engine.layout.rows import Row
from engine.runtime.flops import Arithmetic, peak_memory_bytes
from engine.runtime.torch.attention import Attention, turn_keys
from engine.runtime.torch.cuda_graph import MAX_ROWS, StaticSteps
from engine.runtime.torch.slot_cache import SlotCache
from engine.settings import LayoutSettings


class SlotModel:
    """One conversation with a model: feed rows, get the next id, truncate.

    The counters ``tokens_fed``, ``forwards`` and ``flops`` never decrease.
    """

    def __init__(
        self, network: PreTrainedModel, capacity: int, *, static: bool | None = None
    ) -> None:
        """Make the cache.

        Args:
            network: in evaluation mode.
            capacity: rows of the cache.
            static: run small passes over fixed tensors (``engine.runtime.torch.cuda_graph``); None:
                on CUDA only, as graphs.
        """
        self._network = network
        self._cache = SlotCache(network.config, capacity, network.dtype, network.device)
        self._attention = Attention.of(network)
        self._arithmetic = Arithmetic.of(network)
        on_cuda = network.device.type == "cuda"
        # elsewhere a pass over the valid rows alone is faster
        static = on_cuda if static is None else static
        self._steps = (
            StaticSteps(network, self._cache, self._attention, captured=on_cuda) if static else None
        )
        self._ranked = False  # ALiBi counts visible keys: see ``Attention.bias``
        trained = getattr(network.config, "max_position_embeddings", None)
        self.max_positions = int(trained or capacity)  # that the network was trained for
        self._logits = torch.full((network.config.vocab_size,), -torch.inf)  # of ``next_id``
        self._states = torch.empty(0, 0)  # likewise
        self.tokens_fed = 0
        self.forwards = 0
        self.flops = 0
        self.last_flops = 0  # of the newest forward pass

    @property
    def n_rows(self) -> int:
        """Rows in the cache."""
        return self._cache.n_rows

    @property
    def capacity(self) -> int:
        """The largest number of rows in the cache."""
        return self._cache.capacity

    @property
    def peak_memory_bytes(self) -> int:
        """The most memory held so far, on a CUDA device or in the process."""
        device = self._network.device
        if device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(device))
        return peak_memory_bytes()

    def truncate(self, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows in arrival order."""
        self._cache.truncate(n_rows)

    def use(self, layout: LayoutSettings) -> None:
        """Use this layout for later rows; raise ModelError if the network does not support it."""
        self._ranked = self._attention.ranks(layout)

    def forget_steps(self) -> None:
        """Drop the small passes, after a change of the network's layers."""
        if self._steps is not None:
            self._steps.forget()

    @torch.inference_mode()
    def evict(self, gone: Eviction) -> None:
        """Drop rows in the middle of the cache, and move the later ones up."""
        turn = partial(turn_keys, self._network)
        self._cache.evict(gone.start, gone.stop, gone.distance, turn)

    @torch.inference_mode()
    def feed(self, rows: Sequence[Row]) -> Tensor:
        """Compute rows in one forward pass and keep them.

        Returns:
            logits of the last row, shape (V,).

        Raises:
            CacheFullError: the cache has no room for them.
        """
        return self._compute(rows, keep_states=False)

    def _compute(self, rows: Sequence[Row], *, keep_states: bool) -> Tensor:
        """Compute rows as ``feed`` does, and keep their states if asked."""
        cache = self._cache
        cache.begin(rows)
        places = cache.new_places  # (1, Q)
        ids = torch.tensor([[row.id for row in rows]], device=self._network.device)
        output = self._network(
            input_ids=ids,
            position_ids=places.encoded,
            attention_mask=self._attention.bias(places, cache.all_places, ranked=self._ranked),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
            output_hidden_states=keep_states,
        )
        cache.commit()
        self._count(len(rows))
        if keep_states:
            self._states = output.hidden_states[-1][0]
        logits: Tensor = output.logits
        return logits[0, -1]

    @torch.inference_mode()
    def next_id(
        self, rows: Sequence[Row], suppressed: Sequence[int], *, keep_states: bool = False
    ) -> int:
        """Feed rows and choose the likeliest next id among those that are not suppressed.

        Args:
            rows: as for ``feed``.
            suppressed: ids that may not be chosen.
            keep_states: for ``states``; such a pass is none over fixed tensors.
        """
        if self._steps is not None and len(rows) <= MAX_ROWS and not keep_states:
            step = self._steps.find(len(rows), ranked=self._ranked)
            id_ = step.next_id(rows, suppressed)
            self._logits = step.allowed_logits
            self._count(len(rows))
            return id_
        logits = self._compute(rows, keep_states=True) if keep_states else self.feed(rows)
        logits[list(suppressed)] = -torch.inf
        self._logits = logits
        return int(logits.argmax())

    def logits(self) -> NDArray[np.float32]:
        """Return those that the newest ``next_id`` chose from, shape (V,); -inf if suppressed."""
        logits: NDArray[np.float32] = self._logits.float().numpy(force=True)
        return logits

    def states(self) -> NDArray[np.float32]:
        """Return the states of the rows that the newest ``next_id`` kept, shape (Q, width)."""
        states: NDArray[np.float32] = self._states.float().numpy(force=True)
        return states

    def _count(self, n_rows: int) -> None:
        self.tokens_fed += n_rows
        self.forwards += 1
        self.last_flops = self._arithmetic.flops(n_rows, self._cache.n_rows)
        self.flops += self.last_flops
