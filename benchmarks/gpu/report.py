"""The report of a day with a GPU."""

import contextlib
import importlib.metadata
import platform
import subprocess
import time
from collections.abc import Iterator, Sequence

from benchmarks.gpu.state import State

AIMS = {
    "bound / decode": (">=", 0.4),
    "generate / decode": (">=", 8.0),
    "cycle / decode": ("<=", 1.3),
}
"""What decode steps are to reach on a GPU; the second at 8 billion parameters."""

_PACKAGES = ("torch", "transformers", "bitsandbytes", "peft", "triton")


def report(state: State, steps: Sequence[str]) -> str:
    """Write everything down that is known so far, for people."""
    return "\n".join(_lines(state, steps)) + "\n"


def _lines(state: State, steps: Sequence[str]) -> Iterator[str]:
    yield "# A day with a GPU\n"
    if state.is_dry:
        yield "**A dry run: tiny shapes on a processor. No figure means anything.**\n"
    machine = machine_name(is_dry=state.is_dry)
    yield f"`scripts/gpu-day`, {time.strftime('%Y-%m-%d')}, {machine}, {state.calls} calls.\n"
    yield "| step | state | seconds | GPU memory at most (MiB) |\n|---|---|---|---|"
    for name in steps:
        found = "done" if name in state.results else "to do"
        found = (
            f"failed: {state.failures[name].replace('|', '/')}" if name in state.failures else found
        )
        seconds, memory = state.seconds.get(name, 0), state.most_mib.get(name, "")
        yield f"| {name} | {found} | {seconds:.0f} | {memory} |"
    if "tests" in state.results:
        yield f"\n## Tests\n\n{state.results['tests']['summary']}"
    yield from _decode_lines(state)
    for name, title in (
        ("qlora", "QLoRA on a random model of 7 billion"),
        ("train", "The bundled model"),
        ("gemma", "Gemma, trained on"),
    ):
        if name in state.results:
            yield f"\n## {title}\n"
            yield from (f"* {key}: {value}" for key, value in state.results[name].items())


def _decode_lines(state: State) -> Iterator[str]:
    found = {name: one for name, one in state.results.items() if name.startswith("decode ")}
    if not found:
        return
    columns = [key for key in next(iter(found.values())) if key != "machine"]
    yield "\n## Decode steps in NF4 (ms; benchmarks/README.md says what the columns mean)\n"
    yield "| model | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1)
    for name, times in found.items():
        yield (
            f"| {name.removeprefix('decode ')} | "
            + " | ".join(f"{times[key]:.2f}" for key in columns)
            + " |"
        )
    yield "\n| aim | " + " | ".join(name.removeprefix("decode ") for name in found) + " |"
    yield "|---|" + "---|" * len(found)
    for ratio, (sign, aim) in AIMS.items():
        met = [
            times[ratio] >= aim if sign == ">=" else times[ratio] <= aim for times in found.values()
        ]
        yield (
            f"| {ratio} {sign} {aim} | "
            + " | ".join("met" if one else "**not met**" for one in met)
            + " |"
        )


def machine_name(*, is_dry: bool) -> str:
    """Name the processor or GPU, and the versions that matter."""
    versions = []
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{package} {importlib.metadata.version(package)}")
    name = platform.machine()
    if not is_dry:
        query = [
            "nvidia-smi",
            "--query-gpu=name,memory.total,driver_version",
            "--format=csv,noheader",
        ]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            name = subprocess.run(
                query, capture_output=True, text=True, timeout=20, check=False
            ).stdout.strip()
    return ", ".join([name, *versions])
