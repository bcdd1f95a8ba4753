"""A policy head: how likely a write is after a source word.

Source: EASiST (Fu et al. 2025), p = softmax(W h) over READ and WRITE, without a bias. Our
deviation: h is the last layer's output at the newest source token of a text, not of a block of
speech, or at the row that is asked for a token, which sees all targets as well; normed as the
output layer reads it.
"""

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.models.adaptive_card import HEAD_FILE, HEAD_TENSOR, AdaptiveCard, check_header
from engine.models.tensor_file import Array, parse_tensors, read_tensor_file
from engine.untrusted.faults import refuse
from engine.untrusted.safetensors_header import MAX_HEADER_BYTES, parse_header

_FARTHEST = 700.0  # of two logits, so that no probability is 0


@dataclass(frozen=True, slots=True, eq=False)
class PolicyHead:
    """The weights of a head: a row for READ, and one for WRITE.

    Attributes:
        weight: shape (2, width).
        reads_target: it reads the row that is asked for a token, not the newest source row.
    """

    weight: NDArray[np.float64]
    reads_target: bool = False

    def probability(self, state: Array) -> float:
        """Return how likely a write is, above 0, by the state of a row, shape (width,)."""
        read, write = (self.weight @ state.astype(np.float64)).tolist()
        ahead = min(read - write, _FARTHEST)
        return math.exp(-ahead) / (1 + math.exp(-ahead)) if ahead > 0 else 1 / (1 + math.exp(ahead))


def read_head(folder: Path, card: AdaptiveCard | None, width: int) -> PolicyHead | None:
    """Read the head that a card names; None if it names none.

    Args:
        folder: of the card.
        card: names it.
        width: of the states that it reads.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not the one that the card names, or does not fit; the text continues a
            sentence that begins with the file.
    """
    if card is None or not card.head_sha256:
        return None
    content = read_tensor_file(folder / HEAD_FILE, MAX_HEADER_BYTES + 16 * width)
    if hashlib.sha256(content).hexdigest() != card.head_sha256:
        refuse("was changed or damaged after its card was written")
    check_header(parse_header(content), width)
    weight = parse_tensors(content)[HEAD_TENSOR].astype(np.float64)
    if not np.isfinite(weight).all():
        refuse("holds numbers that are none (NaN) or infinite")
    return PolicyHead(weight, card.head_reads_target)
