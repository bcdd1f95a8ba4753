"""The verbs of a network with its slot cache, whichever library computes it.

``engine.runtime.torch.slot_model`` computes by torch, ``engine.runtime.onnx.onnx_model`` by ONNX
Runtime. What feeds rows knows neither.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.layout.planner import Eviction
from engine.layout.rows import Row
from engine.settings import LayoutSettings

_UNLIKELY = -30.0


class Logits(Protocol):
    """One number for each id."""

    def tolist(self) -> list[float]:
        """Return them as a list."""


class AnyModel(Protocol):
    """What every system shows of the network that computes for it.

    Attributes:
        tokens_fed: rows fed so far; like the other counters it never decreases.
        forwards: forward passes so far.
        flops: floating-point operations so far.
        last_flops: of the newest forward pass.
    """

    tokens_fed: int
    forwards: int
    flops: int
    last_flops: int

    @property
    def n_rows(self) -> int:
        """Rows in the cache."""

    @property
    def peak_memory_bytes(self) -> int:
        """The most memory held so far, see ``engine.runtime.flops``."""

    def truncate(self, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows in arrival order."""

    def use(self, layout: LayoutSettings) -> None:
        """Use this layout for later rows; raise ModelError if the network does not support it."""

    def forget_steps(self) -> None:
        """Drop what was prepared for small passes, after a change of the network's layers."""


class CausalModel(AnyModel, Protocol):
    """One conversation with a model: feed rows, get the next id, truncate.

    Attributes:
        max_positions: that the network was trained for.
    """

    max_positions: int

    @property
    def capacity(self) -> int:
        """The largest number of rows in the cache."""

    def evict(self, gone: Eviction) -> None:
        """Drop rows in the middle of the cache, and move the later ones up."""

    def feed(self, rows: Sequence[Row]) -> Logits:
        """Compute rows in one forward pass and keep them; return the logits of the last one.

        Raises:
            CacheFullError: the cache has no room for them.
        """

    def next_id(
        self, rows: Sequence[Row], suppressed: Sequence[int], *, keep_states: bool = False
    ) -> int:
        """Feed rows and choose the likeliest next id among those that are not suppressed.

        ``keep_states``: so that ``states`` returns those of the rows.
        """

    def logits(self) -> NDArray[np.float32]:
        """Return those that the newest ``next_id`` chose from, shape (V,); -inf if suppressed.

        The next pass may overwrite them.
        """

    def states(self) -> NDArray[np.float32]:
        """Return the states of the rows that the newest ``next_id`` kept, shape (Q, width).

        A state is the last layer's output as the output layer reads it.
        """


def probability_of_others(logits: NDArray[np.float32], id_: int) -> float:
    """Return how likely any id but this one is by the logits, shape (V,): 0 only if none can be.

    In float64, and summed over the others: 1 - p would be 0 where the id is nearly certain.
    """
    shares = np.exp(logits.astype(np.float64) - float(logits.max()))  # (V,)
    others = float(shares[:id_].sum() + shares[id_ + 1 :].sum())
    return others / (others + float(shares[id_]))


def log_probability(logits: NDArray[np.float32], id_: int) -> float:
    """Return how likely an id is by its logits, shape (V,): in nats, at least ``_UNLIKELY``."""
    if logits[id_] == -np.inf:
        return _UNLIKELY
    top = logits.max()
    return max(_UNLIKELY, float(logits[id_] - top - np.log(np.exp(logits - top).sum())))
