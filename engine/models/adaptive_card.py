"""The part of a card about adaptive policies, and the header of the policy head beside it."""

import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from engine.errors import PolicyError
from engine.messages import Code
from engine.untrusted.faults import refuse
from engine.untrusted.regular_file import file_sha256, open_plain
from engine.untrusted.safetensors_header import SafetensorsHeader, read_header
from engine.untrusted.strict_json import SHA256, Between, shown

HEAD_FILE = "policy_head.safetensors"
HEAD_TENSOR = "weight"

_FLOAT = struct.Struct("<f")
_MOST_CHECKED_BYTES = 1 << 20  # four times the head of the widest models; all is read when loaded
_TAU = re.compile(r"0|1|0\.[0-9]{1,4}", re.ASCII)
_MOST_LAGS, _LONGEST_LAG = 20, 1000

_LAG_NAME = "lag"
_WANTED = re.compile(rf"{_LAG_NAME}:([0-9]{{1,3}}(?:\.[0-9]{{1,2}})?)", re.ASCII)


def _checked_lags(lags: Mapping[str, float]) -> Mapping[str, float]:
    if len(lags) > _MOST_LAGS:
        refuse(f"gives a lag for {len(lags)} values of tau, and {_MOST_LAGS} are the most")
    for tau in lags:
        if not _TAU.fullmatch(tau):
            refuse(f"gives a lag for {shown(tau)}, which is no tau from 0 to 1")
    return lags


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveCard:
    """The part of a card about adaptive policies.

    Attributes:
        head_sha256: of ``HEAD_FILE`` beside the card; empty where the model has no head.
        head_reads_target: the head reads the row that is asked for a token, not the newest source
            row.
        lags: lagging (LAAL, in source words) on development data by tau, as a policy is written;
            empty where it was not measured.
    """

    head_sha256: Annotated[str, SHA256] = ""
    head_reads_target: bool = False
    lags: Annotated[Mapping[str, Annotated[float, Between(0, _LONGEST_LAG)]], _checked_lags] = (
        field(default_factory=dict)
    )


def is_lag(text: str) -> bool:
    """Return whether a policy is chosen by its lag, which only a card can tell."""
    return text.partition(":")[0] == _LAG_NAME


def policy_of_lag(text: str, lags: Mapping[str, float], model: str) -> str:
    """Return the adaptive policy whose lag is nearest to that of ``lag:WORDS``.

    Args:
        text: as a person wrote it.
        lags: on the card of the model.
        model: its name.

    Raises:
        PolicyError: it is another text, or the card has no lags.
    """
    match = _WANTED.fullmatch(text)
    if match is None:
        raise PolicyError(Code.BAD_LAG(text=text))
    if not lags:
        raise PolicyError(Code.NO_LAGS(model=model, text=text))
    wanted = float(match[1])
    tau = min(lags, key=lambda one: (abs(lags[one] - wanted), float(one)))
    return f"adaptive:{tau}"


def check_head(folder: Path, width: int) -> None:
    """Check the header of the head in a folder, and its numbers, without numpy.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no head of this width; the text continues a sentence that begins with it.
    """
    header = read_header(folder / HEAD_FILE)
    check_header(header, width)
    with open_plain(folder / HEAD_FILE) as file:
        file.seek(header.data_start)
        content = file.read(min(_MOST_CHECKED_BYTES, header.n_bytes - header.data_start))
    n_whole = len(content) // _FLOAT.size * _FLOAT.size
    numbers = (number for (number,) in _FLOAT.iter_unpack(content[:n_whole]))
    if not all(map(math.isfinite, numbers)):
        refuse("holds numbers that are none (NaN) or infinite")


def head_sha256(folder: Path) -> str:
    """Return the hash of the head in a folder, for its card."""
    return file_sha256(folder / HEAD_FILE)


def check_header(header: SafetensorsHeader, width: int) -> None:
    """Refuse what is not one tensor of float32, a row for READ and one for WRITE.

    Raises:
        ValueError: as ``check_head``.
    """
    for name, entry in header.tensors.items():
        if name != HEAD_TENSOR or entry.dtype != "F32":
            refuse(
                f"has the tensor {shown(name)} of type {entry.dtype}, and {HEAD_TENSOR} of type "
                "F32 was expected"
            )
        if entry.shape != (2, width):
            sizes = f"2, {width}"
            refuse(f"has {name} in the shape {list(entry.shape)}, and [{sizes}] was expected")
    if not header.tensors:
        refuse(f"lacks the tensor {HEAD_TENSOR}")
