"""The processes a run is spread over: one, or several that ``accelerate launch`` started.

All processes see the same steps and do a share of each; their gradients add up to what one process
would have computed. What differs between one process and several is here and nowhere else.
"""

import datetime as dt
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel

from training.errors import TrainingError

Item = TypeVar("Item")

_PATIENCE = dt.timedelta(hours=12)
"""How long processes wait for each other: the first one may be aligning what it fetched."""


class Processes(Protocol):
    """What a run asks of the processes it is spread over."""

    @property
    def device(self) -> torch.device:
        """Where this process computes."""

    @property
    def rank(self) -> int:
        """Which process this is, from 0; process 0 writes the files."""

    @property
    def n_processes(self) -> int:
        """How many there are."""

    @property
    def shards(self) -> bool:
        """Whether each process holds only a part of the network."""

    def spread(self, network: PreTrainedModel) -> nn.Module:
        """Make a network work on every process; its parameters may be others afterwards."""

    def gathering(self, network: nn.Module, *, last: bool) -> AbstractContextManager[None]:
        """Add gradients over processes in the last pass of a step, and not before."""

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of this process's part of a step's loss."""

    def clip(self, network: nn.Module, norm: float) -> float:
        """Scale gradients down to a norm; return the norm they had."""

    def total(self, value: float) -> float:
        """Sum a number over processes."""

    def collect(self, items: list[Item]) -> list[Item]:
        """Put the lists of all processes behind each other, in the order of their ranks."""

    def wait(self) -> None:
        """Wait until every process is here."""


@dataclass(frozen=True, slots=True)
class OneProcess:
    """Nothing to agree on."""

    device: torch.device
    rank: int = 0
    n_processes: int = 1
    shards: bool = False

    def spread(self, network: PreTrainedModel) -> nn.Module:
        """Leave it as it is."""
        return network

    def gathering(self, network: nn.Module, *, last: bool) -> AbstractContextManager[None]:  # noqa: ARG002  as several processes have it
        """Do nothing special."""
        return nullcontext()

    def backward(self, loss: Tensor) -> None:
        """Add gradients."""
        loss.backward()  # type: ignore[no-untyped-call]

    def clip(self, network: nn.Module, norm: float) -> float:
        """Scale gradients down to a norm; return the norm they had."""
        return float(nn.utils.clip_grad_norm_(network.parameters(), norm))

    def total(self, value: float) -> float:
        """Return the number."""
        return value

    def collect(self, items: list[Item]) -> list[Item]:
        """Return the list."""
        return items

    def wait(self) -> None:
        """Go on."""


class LaunchedProcesses:
    """What ``accelerate launch`` started: copies (DDP) or shards (FSDP) of the network."""

    def __init__(self, *, cpu: bool, shards: bool) -> None:
        """Find the other processes.

        Args:
            cpu: compute on the CPU, whatever else there is.
            shards: each process holds only a part of the network (FSDP).

        Raises:
            TrainingError: accelerate is missing.
        """
        try:
            from accelerate import (  # noqa: PLC0415  seconds, and few need it
                Accelerator,
                InitProcessGroupKwargs,
            )
        except ImportError as error:
            msg = "several processes need accelerate: pip install 'surtitle[finetune]'"
            raise TrainingError(msg) from error
        patience = InitProcessGroupKwargs(timeout=_PATIENCE)
        self._accelerator = Accelerator(cpu=cpu, kwargs_handlers=[patience])
        self.shards = shards

    @property
    def device(self) -> torch.device:
        """Where this process computes."""
        return cast("torch.device", self._accelerator.device)

    @property
    def rank(self) -> int:
        """Which process this is, from 0."""
        return int(self._accelerator.process_index)

    @property
    def n_processes(self) -> int:
        """How many there are."""
        return int(self._accelerator.num_processes)

    def spread(self, network: PreTrainedModel) -> nn.Module:
        """Shard the network block by block, or give each process a copy.

        Sharding is torch's own (FSDP2): accelerate leaves it out on CPUs, without a word.
        """
        if not self.shards:
            return cast("nn.Module", self._accelerator.prepare_model(network))
        kinds = set(network._no_split_modules or ())
        for module in network.modules():
            if type(module).__name__ in kinds:
                fully_shard(module)
        fully_shard(network)  # in place
        return network

    def gathering(self, network: nn.Module, *, last: bool) -> AbstractContextManager[None]:
        """Add gradients over processes in the last pass of a step, and not before."""
        if isinstance(network, FSDPModule):
            network.set_requires_gradient_sync(last)
            return nullcontext()
        return nullcontext() if last else self._accelerator.no_sync(network)

    def backward(self, loss: Tensor) -> None:
        """Add gradients; libraries take their mean over processes, and a sum is wanted."""
        (loss * self.n_processes).backward()  # type: ignore[no-untyped-call]

    def clip(self, network: nn.Module, norm: float) -> float:
        """Scale gradients down to a norm; return the norm they had, over all shards."""
        found = nn.utils.clip_grad_norm_(network.parameters(), norm)
        return float(found.full_tensor() if isinstance(found, DTensor) else found)

    def total(self, value: float) -> float:
        """Sum a number over processes."""
        own = torch.tensor(value, dtype=torch.float64, device=self.device)
        return float(cast("Tensor", self._accelerator.reduce(own, "sum")))

    def collect(self, items: list[Item]) -> list[Item]:
        """Put the lists of all processes behind each other, in the order of their ranks."""
        from accelerate.utils import gather_object  # noqa: PLC0415  as above

        return cast("list[Item]", gather_object(items))

    def wait(self) -> None:
        """Wait until every process is here."""
        self._accelerator.wait_for_everyone()
