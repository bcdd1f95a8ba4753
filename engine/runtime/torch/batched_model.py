"""A network with the slot cache of several conversations: rows of many in, their logits out.

``engine.runtime.torch.slot_model`` computes one conversation. On small models most of a decode step
is overhead that does not grow with the number of conversations, so many together are many times
cheaper.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor
from transformers import PreTrainedModel

from engine.layout.planner import Eviction
from engine.runtime.flops import Arithmetic
from engine.runtime.torch.attention import Attention, turn_keys
from engine.runtime.torch.batched_cache import BatchedCache, Fed
from engine.settings import LayoutSettings

_WORTH_A_PASS = 24
"""Padded rows that cost about as much as the overhead of another pass (7 ms and 0.3 ms a row)."""


class BatchedModel:
    """Several conversations with one network; each is a lane, numbered from 0."""

    def __init__(self, network: PreTrainedModel, n_lanes: int, capacity: int) -> None:
        """Make the cache, of up to ``capacity`` rows in each lane."""
        self._network = network
        self._cache = BatchedCache(network.config, n_lanes, capacity, network.dtype, network.device)
        self._attention = Attention.of(network)
        self._ranked = False
        self._wanted = set[int]()  # lanes whose states are kept in their next pass
        self._states = dict[int, Tensor]()  # that were kept last, by lane
        # padding costs a processor as much as rows do, and a graphics card next to nothing
        self._sorts = network.device.type == "cpu"
        trained = getattr(network.config, "max_position_embeddings", None)
        self.max_positions = int(trained or capacity)  # that the network was trained for
        self.arithmetic = Arithmetic.of(network)

    @property
    def n_lanes(self) -> int:
        """Conversations."""
        return len(self._cache.n_rows)

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return self._network.device

    @property
    def capacity(self) -> int:
        """The largest number of rows in a lane."""
        return self._cache.capacity

    def n_rows(self, lane: int) -> int:
        """Return the rows of a lane."""
        return self._cache.n_rows[lane]

    def use(self, layout: LayoutSettings) -> None:
        """Use this layout in all lanes; raise ModelError if the network does not support it."""
        self._ranked = self._attention.ranks(layout)

    def truncate(self, lane: int, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows of a lane in arrival order."""
        self._cache.truncate(lane, n_rows)

    def keep_states(self, lane: int) -> None:
        """Keep the states of a lane's rows in its next pass, for ``states``."""
        self._wanted.add(lane)

    def states(self, lane: int) -> Tensor:
        """Return the states of a lane's rows that were kept last, shape (Q, width)."""
        return self._states[lane]

    @torch.inference_mode()
    def evict(self, lane: int, gone: Eviction) -> None:
        """Drop rows in the middle of a lane, and move the later ones up."""
        turn = partial(turn_keys, self._network)
        self._cache.evict(lane, gone.start, gone.stop, gone.distance, turn)

    def feed(self, fed: Sequence[Fed]) -> list[Tensor]:
        """Compute rows of several lanes and keep them.

        Args:
            fed: at least one row of each lane, lanes in rising order.

        Returns:
            logits of the last row of each, shape (V,), in the same order.

        Raises:
            CacheFullError: the rows of a lane do not fit; other lanes may have got theirs.
        """
        logits = dict[int, Tensor]()
        for group in self._groups(fed):
            computed = self._compute(group)  # (B, V)
            logits |= {lane: row for (lane, _), row in zip(group, computed, strict=True)}
        return [logits[lane] for lane, _ in fed]

    def _groups(self, fed: Sequence[Fed]) -> list[Sequence[Fed]]:
        """Divide lanes into forward passes: single rows apart where their padding costs more."""
        single = [(lane, rows) for lane, rows in fed if len(rows) == 1]
        n_padded = len(single) * (max(len(rows) for _, rows in fed) - 1)
        if not self._sorts or n_padded < _WORTH_A_PASS:
            return [fed]
        return [single, [(lane, rows) for lane, rows in fed if len(rows) > 1]]

    @torch.inference_mode()
    def _compute(self, fed: Sequence[Fed]) -> Tensor:
        """Compute rows in one forward pass; return the logits of the last ones, shape (B, V)."""
        places, cached = self._cache.begin(fed)
        width = places.position.shape[-1]
        ids = [[0] * (width - len(rows)) + [row.id for row in rows] for _, rows in fed]
        wanted = self._wanted.intersection(lane for lane, _ in fed)
        output = self._network(
            input_ids=torch.tensor(ids, device=self._network.device),
            position_ids=places.encoded,
            attention_mask=self._attention.bias(places, cached, ranked=self._ranked),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
            output_hidden_states=bool(wanted),
        )
        self._cache.commit()
        for index, (lane, rows) in enumerate(fed):
            if lane in wanted:
                self._states[lane] = output.hidden_states[-1][index, width - len(rows) :]
        self._wanted -= wanted
        logits: Tensor = output.logits
        return logits[:, -1]
