"""Stop building a network that is larger than its weights.

A configuration may have a thousand layers with the weights of six. Libraries build all of them
before they read the weights, first as shapes alone and then in memory.
"""

import contextlib
import threading
from collections.abc import Iterator

from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from engine.untrusted.faults import FaultError

_ROOM = 1 << 26  # numbers of masks and tables that are in no file
_PARTS, _SPARE_PARTS = 20, 1000  # modules and tensors for each tensor of the file, and others


class TooLargeError(FaultError):
    """The network is larger than its weights."""


@contextlib.contextmanager
def growth_limit(n_tensors: int, n_numbers: int) -> Iterator[None]:
    """Limit a network that is built as shapes (on torch's device ``meta``) in this thread.

    Args:
        n_tensors: in the files of its weights.
        n_numbers: in these. The limit is four times as large: a shared table is built twice, and a
            layer that will be packed twice more.

    Raises:
        TooLargeError: it becomes larger, or has too many parts.
    """
    thread, counted = threading.get_ident(), [0, 0]
    most_parts, most_numbers = _PARTS * n_tensors + _SPARE_PARTS, 4 * n_numbers + _ROOM

    def count(parts: int, numbers: int) -> None:
        if threading.get_ident() != thread:
            return
        counted[0] += parts
        counted[1] += numbers
        if counted[0] > most_parts or counted[1] > most_numbers:
            msg = "its config.json asks for a larger network than it has weights for"
            raise TooLargeError(msg)

    def count_tensor(_owner: nn.Module, _name: str, tensor: Tensor | None) -> None:
        if tensor is not None and tensor.is_meta:  # the same tensors are later filled from the file
            count(1, tensor.numel())

    def count_part(_owner: nn.Module, _name: str, _part: nn.Module | None) -> None:
        count(1, 0)

    with contextlib.ExitStack() as hooks:
        for handle in (
            register_module_parameter_registration_hook(count_tensor),
            register_module_buffer_registration_hook(count_tensor),
            register_module_module_registration_hook(count_part),
        ):
            hooks.callback(handle.remove)
        yield
