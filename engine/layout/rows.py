"""Position and time of every token, and the visibility between them: the heart of the project.

Every token is one row with two integers: a **position**, the input of the position encoding, and a
**time**, the index of the forward pass in which the row is fed. One rule decides sight, in training
and while translating:

    a query sees a key  <=>  position_k <= position_q  and  time_k <= time_q

Source: ExPosST, section 2.2 and 2.3. The paper words the rule as a policy mask; the two integers
are our form of it, equal to the paper's cell by cell when the assistant header counts as target.
"""

from typing import TYPE_CHECKING, NamedTuple, overload

if TYPE_CHECKING:  # nothing here computes by a library of its own
    import numpy as np
    import torch
    from numpy.typing import NDArray
    from torch import Tensor

IGNORE = -100
"""Label of a row without a target (the value cross-entropy ignores)."""

NEVER = 2**63 - 1
"""Time of a row that does not exist: padding in training, the largest int64. No row sees it."""

UNFED = -1
"""Time of a row that is planned and not yet fed; it never reaches a mask."""


class Row(NamedTuple):
    """One token in the cache or in a training sample.

    Attributes:
        id: token id.
        position: decides sight; with ``shift`` it is the encoded position.
        time: index of the forward pass that feeds the row.
        label: the token that this row must predict, or ``IGNORE``.
        shift: encoded position minus position: 0 in slots. Layouts in which target positions
            overlap source positions or drift (``training.research.methods``) need it.
    """

    id: int
    position: int
    time: int = UNFED
    label: int = IGNORE
    shift: int = 0


class Places(NamedTuple):
    """Positions and times of rows as int64 tensors; ``encoded`` is for the position encoding."""

    position: "Tensor"  # (..., N)
    time: "Tensor"  # (..., N)
    encoded: "Tensor"  # (..., N)

    def to(self, device: "torch.device") -> "Places":
        position, time, encoded = self
        return Places(position.to(device), time.to(device), encoded.to(device))

    def between(self, start: int, end: int) -> "Places":
        position, time, encoded = self
        return Places(position[..., start:end], time[..., start:end], encoded[..., start:end])


class Headers(NamedTuple):
    """Token ids around source and target, taken from the chat template.

    Attributes:
        system: everything before the first user header, with the beginning-of-sequence token (P).
        user: header of a source segment (U).
        assistant: header of a target segment (A).
        first: header of the first source segment: the user header, or nothing if the template puts
            the system text into the first user turn, which ``system`` then contains.
    """

    system: tuple[int, ...]
    user: tuple[int, ...]
    assistant: tuple[int, ...]
    first: tuple[int, ...]


@overload
def visible(
    position_q: "Tensor", time_q: "Tensor", position_k: "Tensor", time_k: "Tensor"
) -> "Tensor": ...


@overload
def visible(
    position_q: "NDArray[np.int64]",
    time_q: "NDArray[np.int64]",
    position_k: "NDArray[np.int64]",
    time_k: "NDArray[np.int64]",
) -> "NDArray[np.bool_]": ...


def visible(
    position_q: "Tensor | NDArray[np.int64]",
    time_q: "Tensor | NDArray[np.int64]",
    position_k: "Tensor | NDArray[np.int64]",
    time_k: "Tensor | NDArray[np.int64]",
) -> "Tensor | NDArray[np.bool_]":
    """Return which keys each query may attend to.

    A source word that arrives late (``s3``, time 1) has a smaller position than the header that is
    already cached (``<a>``, time 0): it must not see it, and must not have been seen by it.
    With wait-2 and a slot of 3 the rule draws::

                  key  <u> s1 s2 s3 <a> t1      position 0 1 2 3 4 5
        query <u>       1  .  .  .  .  .        time     0 0 0 1 0 1
              s1        1  1  .  .  .  .
              s2        1  1  1  .  .  .
              s3        1  1  1  1  .  .
              <a>       1  1  1  .  1  .
              t1        1  1  1  1  1  1

    Args:
        position_q: int64, shape (..., Q); all four are tensors of torch, or all arrays of numpy.
        time_q: int64, shape (..., Q).
        position_k: int64, shape (..., K).
        time_k: int64, shape (..., K); ``NEVER`` for padding.

    Returns:
        bool, shape (..., Q, K); True where the query sees the key.
    """
    not_ahead = position_k[..., None, :] <= position_q[..., :, None]
    arrived = time_k[..., None, :] <= time_q[..., :, None]
    return not_ahead & arrived
