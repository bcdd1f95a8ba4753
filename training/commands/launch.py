"""Parts of several commands: the processes of a run, and our folders."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from training.trainer.distributed import Processes


def launched_processes(device: str) -> "Processes":
    """Return one process, or those of ``accelerate launch`` or torchrun, on a device by name."""
    from engine.runtime.device import pick_device  # noqa: PLC0415  torch takes seconds; help must not
    from training.trainer.distributed import LaunchedProcesses, OneProcess  # noqa: PLC0415  likewise

    picked = pick_device(device)
    # launchers tell each process so what it is part of
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return OneProcess(picked)
    shards = os.environ.get("ACCELERATE_USE_FSDP") == "true"
    return LaunchedProcesses(cpu=picked.type == "cpu", shards=shards)


def model_library() -> Path:
    """Find where models that are fetched lie, as ``surtitle`` does."""
    home = os.environ.get("SURTITLE_HOME")
    data = Path(home) if home else platformdirs.user_data_path("surtitle", appauthor=False)
    return data / "models"


def cache_folder() -> Path:
    """Find where libraries keep their caches, as ``surtitle`` does."""
    home = os.environ.get("SURTITLE_HOME")
    return (
        Path(home, "cache") if home else platformdirs.user_cache_path("surtitle", appauthor=False)
    )
