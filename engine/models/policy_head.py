"""A policy head: how likely a write is after a source word; and what a card says of it.

Source: EASiST (Fu et al. 2025), p = softmax(W h) over READ and WRITE, without a bias. Our
deviation: h is the last layer's output at the newest source token of a text, not of a block of
speech, normed as the output layer reads it.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.models.tensor_file import Array, parse_tensors, read_tensor_file
from engine.untrusted.faults import Fault
from engine.untrusted.regular_file import file_sha256
from engine.untrusted.safetensors_header import (
    MAX_HEADER_BYTES,
    SafetensorsHeader,
    parse_header,
    read_header,
)
from engine.untrusted.strict_json import JsonObject, refuse, shown

HEAD_FILE = "policy_head.safetensors"
HEAD_TENSOR = "weight"

_FARTHEST = 700.0  # of two logits, so that no probability is 0
_TAU = re.compile(r"0|1|0\.[0-9]{1,4}", re.ASCII)
_MOST_LAGS, _LONGEST_LAG = 20, 1000


@dataclass(frozen=True, slots=True, eq=False)
class PolicyHead:
    """The weights of a head: a row for READ, and one for WRITE."""

    weight: NDArray[np.float64]  # (2, width)

    def probability(self, state: Array) -> float:
        """Return how likely a write is, above 0, by the state of a row, shape (width,)."""
        read, write = (self.weight @ state.astype(np.float64)).tolist()
        ahead = min(read - write, _FARTHEST)
        return math.exp(-ahead) / (1 + math.exp(-ahead)) if ahead > 0 else 1 / (1 + math.exp(ahead))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveCard:
    """What a card says of adaptive policies.

    Attributes:
        head_sha256: of ``HEAD_FILE`` beside the card; empty where the model has no head.
        lags: lagging (LAAL, in source words) on development data by tau, as a policy is written;
            empty where it was not measured.
    """

    head_sha256: str = ""
    lags: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def parse(cls, card: JsonObject) -> "AdaptiveCard | None":
        """Return the part of a card; None if it has none.

        Raises:
            ValueError: it is garbled; the text continues a sentence that begins with the file.
        """
        if card.values.get("adaptive") is None:
            return None
        content = card.inner("adaptive")
        lags = content.inner("lags") if "lags" in content else JsonObject({})
        if len(lags.values) > _MOST_LAGS:
            refuse(Fault.MANY_LAGS(n=len(lags.values), most=_MOST_LAGS))
        for tau in lags.values:
            if not _TAU.fullmatch(tau):
                refuse(Fault.NO_TAU(tau=shown(tau)))
        return cls(
            head_sha256=content.text("head_sha256", "") and content.sha256("head_sha256"),
            lags={tau: lags.number(tau, least=0, most=_LONGEST_LAG) for tau in lags.values},
        )


def check_head(folder: Path, width: int) -> None:
    """Check the head in a folder by its header alone.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no head of this width; the text continues a sentence that begins with it.
    """
    _check(read_header(folder / HEAD_FILE), width)


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
        refuse(Fault.HEAD_CHANGED())
    _check(parse_header(content), width)
    weight = parse_tensors(content)[HEAD_TENSOR].astype(np.float64)
    if not np.isfinite(weight).all():
        refuse(Fault.HEAD_NOT_FINITE())
    return PolicyHead(weight)


def head_sha256(folder: Path) -> str:
    """Return the hash of the head in a folder, for its card."""
    return file_sha256(folder / HEAD_FILE)


def _check(header: SafetensorsHeader, width: int) -> None:
    """Refuse what is not one tensor of float32, a row for READ and one for WRITE."""
    for name, entry in header.tensors.items():
        if name != HEAD_TENSOR or entry.dtype != "F32":
            refuse(Fault.HEAD_TENSOR(name=shown(name), dtype=entry.dtype, wanted=HEAD_TENSOR))
        if entry.shape != (2, width):
            sizes = f"2, {width}"
            refuse(Fault.TENSOR_SHAPE(name=name, shape=str(list(entry.shape)), wanted=sizes))
    if not header.tensors:
        refuse(Fault.TENSOR_MISSING(name=HEAD_TENSOR))
