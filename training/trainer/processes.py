"""The machine of a run: one process, or several that ``accelerate launch`` started; precision.

All processes see the same steps and compute a share of each; their gradients sum to those of a
single process. Only this module knows the difference between one process and several.
"""

import datetime as dt
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel

from training.errors import TrainingError

Item = TypeVar("Item")

_PATIENCE = dt.timedelta(hours=12)
"""How long processes wait for each other: process 0 may be aligning data that it fetched."""


@dataclass(frozen=True, slots=True)
class OneProcess:
    """A process on its own; methods and fields as those of ``LaunchedProcesses``."""

    device: torch.device
    rank: int = 0
    n_processes: int = 1
    shards: bool = False

    def spread(self, network: PreTrainedModel) -> nn.Module:
        return network

    def gathering(self, network: nn.Module, *, last: bool) -> AbstractContextManager[None]:  # noqa: ARG002  as several processes have it
        return nullcontext()

    def backward(self, loss: Tensor) -> None:
        loss.backward()  # type: ignore[no-untyped-call]

    def clip(self, network: nn.Module, norm: float) -> float:
        return float(nn.utils.clip_grad_norm_(network.parameters(), norm))

    def total(self, value: float) -> float:
        return value

    def collect(self, items: list[Item]) -> list[Item]:
        return items

    def wait(self) -> None:
        """Return at once."""


class LaunchedProcesses:
    """Processes of ``accelerate launch``, with copies (DDP) or shards (FSDP) of the network."""

    def __init__(self, *, cpu: bool, shards: bool) -> None:
        """Connect to the other processes.

        Args:
            cpu: compute on the CPU even if there is a GPU.
            shards: each process holds only a part of the network (FSDP).
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
        return cast("torch.device", self._accelerator.device)

    @property
    def rank(self) -> int:
        """Number of this process, from 0; process 0 writes the files."""
        return int(self._accelerator.process_index)

    @property
    def n_processes(self) -> int:
        return int(self._accelerator.num_processes)

    def spread(self, network: PreTrainedModel) -> nn.Module:
        """Shard the network block by block, or copy it to each process.

        The network that is returned may have other parameter objects. Sharding is torch's own
        (FSDP2): accelerate silently omits it on CPUs.
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
        """Add gradients; times the number of processes, since libraries average over them."""
        (loss * self.n_processes).backward()  # type: ignore[no-untyped-call]

    def clip(self, network: nn.Module, norm: float) -> float:
        """Scale gradients down to a norm; return the norm they had, over all shards."""
        total = nn.utils.clip_grad_norm_(network.parameters(), norm)
        return float(total.full_tensor() if isinstance(total, DTensor) else total)

    def total(self, value: float) -> float:
        """Sum a number over processes."""
        own = torch.tensor(value, dtype=torch.float64, device=self.device)
        return float(cast("Tensor", self._accelerator.reduce(own, "sum")))

    def collect(self, items: list[Item]) -> list[Item]:
        """Concatenate the lists of all processes, in the order of their ranks."""
        from accelerate.utils import gather_object  # noqa: PLC0415  as above

        return cast("list[Item]", gather_object(items))

    def wait(self) -> None:
        """Wait until every process calls this."""
        self._accelerator.wait_for_everyone()


Processes: TypeAlias = OneProcess | LaunchedProcesses


def computes_bf16(precision: str, device: torch.device) -> bool:
    """Return whether to compute in bf16; ``auto`` takes bf16 if it is faster on the device."""
    return precision == "bf16" or (precision == "auto" and bf16_pays(device))


def bf16_pays(device: torch.device) -> bool:
    """Time a block forwards and backwards in both precisions.

    Many CPUs only emulate bf16; others multiply in bf16 but are slow at the rest, so a whole block
    is timed.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return _block_s(torch.bfloat16) < _block_s(torch.float32)


def _block_s(dtype: torch.dtype) -> float:
    """Time a feed-forward block of the bundled model's size: the best of some tries, in seconds."""
    with torch.random.fork_rng(devices=[]):  # the run's own random state is unchanged
        block = nn.Sequential(
            nn.Linear(256, 704), nn.SiLU(), nn.Linear(704, 256), nn.LayerNorm(256)
        ).to(dtype)
    rows = torch.ones(1024, 256, dtype=dtype)
    seconds = list[float]()
    for _ in range(4):
        start = time.perf_counter()
        block(rows).float().sum().backward()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
