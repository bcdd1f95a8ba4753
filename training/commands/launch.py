"""Part of several commands: the processes of a run."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from training.settings import TrainSettings
    from training.trainer.distributed import Processes

Settings = TypeVar("Settings", bound="TrainSettings")


def launched_processes(device: str) -> "Processes":
    """Return one process, or those of ``accelerate launch`` or torchrun, on a device by name."""
    from engine.runtime.load_plan import pick_device  # noqa: PLC0415  torch takes seconds; help must not
    from training.trainer.distributed import LaunchedProcesses, OneProcess  # noqa: PLC0415  likewise

    picked = pick_device(device)
    # launchers tell each process so what it is part of
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return OneProcess(picked)
    shards = os.environ.get("ACCELERATE_USE_FSDP") == "true"
    return LaunchedProcesses(cpu=picked.type == "cpu", shards=shards)


def train_and_tell(
    train: Callable[[Settings, "Processes"], object], settings: Settings, result: Path
) -> None:
    """Train in the launched processes; the first of them prints the result once it is there."""
    processes = launched_processes(settings.device)
    train(settings, processes)
    if processes.rank == 0 and result.exists():
        sys.stdout.write(f"{result}\n")
