"""Save and resume a run without pickles: safetensors and JSON, swapped in whole.

A checkpoint has the trained parameters and the optimiser's state of each. Sharded parameters are
gathered from the processes, so a run may resume with another number of processes.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor

from training.errors import TrainingError, UsageError


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces ``folder`` if the block succeeds.

    A process that is killed leaves the old folder, or the new one, or for a moment the old one
    under a name that ``intact_folder`` finds; the next call removes leftovers. If the block fails,
    the old folder is kept.
    """
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        yield fresh
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)  # frees a full disk at once
        raise
    old = _old(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.replace(folder, old)  # noqa: PTH105  Path.replace refuses a folder that is not empty
    os.replace(fresh, folder)  # noqa: PTH105
    shutil.rmtree(old, ignore_errors=True)


def intact_folder(folder: Path, file_name: str) -> Path | None:
    """Find the folder with that file, or the old one after a crash between two renames."""
    for candidate in (folder, _old(folder)):
        if (candidate / file_name).exists():
            return candidate
    return None


def _old(folder: Path) -> Path:
    return folder.with_name(folder.name + ".old")


_STATE, _COUNTERS = "state.safetensors", "counters.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Progress of a run.

    Attributes:
        step: optimiser steps taken.
        rows: rows fed, without padding.
        fingerprint: digests of the settings that must not change, ``name=digest name=digest``, so
            that a message can name the changed one.
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
    *,
    writes: bool = True,
) -> None:
    """Write a checkpoint beside the old one, then swap them, so that a crash loses nothing.

    Args:
        model: its trained parameters are saved.
        writes: False in all processes but one: they only contribute their shards.
    """
    tensors = dict(_whole_tensors(model, optimizer))
    if not writes:
        return
    try:
        with replacing_folder(folder) as fresh:
            save_file(tensors, fresh / _STATE)
            text = json.dumps(asdict(counters)) + "\n"
            (fresh / _COUNTERS).write_text(text, encoding="utf-8")
    except (OSError, SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        msg = (
            f"the checkpoint {folder} of step {counters.step} cannot be written ({reason}): "
            "make room and run again, the checkpoint before it is kept"
        )
        raise TrainingError(msg) from error


def read_counters(folder: Path) -> Counters | None:
    intact = intact_folder(folder, _COUNTERS)
    if intact is None:
        return None
    return Counters(**json.loads((intact / _COUNTERS).read_text(encoding="utf-8")))


def check_fingerprint(folder: Path, fingerprint: str) -> None:
    """Check that a checkpoint, if there is one, belongs to the run that would resume it."""
    counters = read_counters(folder)
    if counters is None:
        return
    theirs = dict(part.partition("=")[::2] for part in counters.fingerprint.split())
    ours = dict(part.partition("=")[::2] for part in fingerprint.split())
    changed = [name for name, digest in ours.items() if theirs.get(name) != digest]
    if changed:
        named = " and ".join(changed).replace("_", " ")
        msg = (
            f"{folder} was made with another {named}: go on with what it was made with, or use "
            "another folder"
        )
        raise UsageError(msg)


def load_checkpoint(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer
) -> Counters | None:
    intact = intact_folder(folder, _COUNTERS)
    if intact is None:
        return None
    tensors = load_file(intact / _STATE)
    parameters = dict(trained_parameters(model))
    for name, parameter in parameters.items():
        if f"model.{name}" not in tensors:
            msg = f"{intact} lacks the parameter {name}: remove that folder to start again"
            raise TrainingError(msg)
        with torch.no_grad():
            parameter.copy_(_spread_like(parameter, tensors[f"model.{name}"]))
    state: dict[int, dict[str, Tensor]] = {}
    in_order = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for name, value in tensors.items():
        kind, number, key = [*name.split(".", 2), ""][:3]
        if kind == "optimizer":
            # A sharded parameter has sharded averages; its count of steps is a plain number.
            like = in_order[int(number)] if value.dim() else value
            state.setdefault(int(number), {})[key] = _spread_like(like, value)
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    return read_counters(intact)


def trained_parameters(model: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """Yield names and trained parameters, tied ones once, names without those of wrappers."""
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            yield name.removeprefix("module."), parameter


def _whole_tensors(
    model: nn.Module, optimizer: torch.optim.Optimizer
) -> Iterator[tuple[str, Tensor]]:
    for name, parameter in trained_parameters(model):
        yield f"model.{name}", whole_tensor(parameter)
    for number, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            yield f"optimizer.{number}.{key}", whole_tensor(torch.as_tensor(value))


def whole_tensor(tensor: Tensor) -> Tensor:
    """Copy a tensor to the CPU; all processes gather a sharded tensor."""
    tensor = tensor.detach()
    if isinstance(tensor, DTensor):
        tensor = tensor.full_tensor()
    return tensor.cpu().contiguous().clone()


def _spread_like(like: Tensor, value: Tensor) -> Tensor:
    if isinstance(like, DTensor):
        return distribute_tensor(value.to(like.device), like.device_mesh, like.placements)
    return value
