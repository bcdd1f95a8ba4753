"""Describe the hardware: processor, memory, and a graphics card if torch finds one.

Querying a driver can crash or hang, so windows use a separate process (``surtitle check``). torch
is imported inside ``look_around``, if it is installed, so that importing ``Machine`` stays cheap.
"""

import importlib.util
import os
import platform
from dataclasses import dataclass
from pathlib import Path

from engine.errors import first_line
from engine.runtime.processor import free_memory_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A computer; sizes in bytes, 0 if unknown.

    Attributes:
        cores: that this process may use.
        gpu: name of the graphics card, empty if torch finds none.
        trouble: why a card could not be queried, one sentence; empty if there is no trouble.
    """

    processor: str
    cores: int
    memory_bytes: int
    free_bytes: int
    gpu: str = ""
    gpu_bytes: int = 0
    gpu_free_bytes: int = 0
    trouble: str = ""


def look_around() -> Machine:
    """Describe this computer."""
    gpu, gpu_bytes, gpu_free_bytes, trouble = _graphics()
    return Machine(
        processor=_processor(),
        cores=_cores(),
        memory_bytes=_memory_bytes(),
        free_bytes=free_memory_bytes() or 0,
        gpu=gpu,
        gpu_bytes=gpu_bytes,
        gpu_free_bytes=gpu_free_bytes,
        trouble=trouble,
    )


def _graphics() -> tuple[str, int, int, str]:
    if importlib.util.find_spec("torch") is None:
        return "", 0, 0, ""
    import torch  # noqa: PLC0415  takes seconds

    if torch.backends.mps.is_available():
        return "Apple GPU (MPS)", 0, 0, ""
    if not torch.cuda.is_available():
        return "", 0, 0, ""
    try:  # a driver of another version, or a card that another program holds alone
        free, total = torch.cuda.mem_get_info(0)
        return torch.cuda.get_device_name(0), total, free, ""
    except RuntimeError as error:
        return "", 0, 0, first_line(error)


def _cores() -> int:
    if platform.system() == "Linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return 0


def _processor() -> str:
    """Return the name of the processor from Linux, elsewhere that of ``platform``."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
