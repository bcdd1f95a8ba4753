"""Save and resume a run without pickles: safetensors and JSON, swapped in whole."""

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

_STATE, _COUNTERS = "state.safetensors", "counters.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Where a run stands.

    Attributes:
        step: optimiser steps taken, and batches used.
        pairs: sentence pairs used.
        rows: rows fed, padding left out.
        fingerprint: digest of what must not change between runs.
    """

    step: int = 0
    pairs: int = 0
    rows: int = 0
    fingerprint: str = ""


def save_checkpoint(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    counters: Counters,
) -> None:
    """Write a checkpoint beside the old one, then swap; a cut write loses nothing."""
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for parameter, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            tensors[f"optimizer.{parameter}.{key}"] = torch.as_tensor(value)
    # tied weights share storage, which safetensors refuses: each gets its own copy
    copies = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    save_file(copies, fresh / _STATE)
    (fresh / _COUNTERS).write_text(json.dumps(asdict(counters)) + "\n", encoding="utf-8")
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        os.replace(folder, old)  # noqa: PTH105  Path.replace refuses a folder that is not empty
    os.replace(fresh, folder)  # noqa: PTH105
    shutil.rmtree(old, ignore_errors=True)


def read_counters(folder: Path) -> Counters | None:
    """Tell where the run of a checkpoint stands; None where there is no checkpoint."""
    found = _find(folder)
    if found is None:
        return None
    return Counters(**json.loads((found / _COUNTERS).read_text(encoding="utf-8")))


def load_checkpoint(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer
) -> Counters | None:
    """Put a checkpoint's values into model and optimizer; None where there is no checkpoint."""
    found = _find(folder)
    if found is None:
        return None
    tensors = load_file(found / _STATE)
    model.load_state_dict(_part(tensors, "model."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in _part(tensors, "optimizer.").items():
        parameter, key = name.split(".", 1)
        state.setdefault(int(parameter), {})[key] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    return read_counters(found)


def _find(folder: Path) -> Path | None:
    """Find the checkpoint; the one before it where a run was cut between two renames."""
    for candidate in (folder, folder.with_name(folder.name + ".old")):
        if (candidate / _COUNTERS).exists():
            return candidate
    return None


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
