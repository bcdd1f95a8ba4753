"""Processes below one, and what they cost; Linux only."""

import os
from pathlib import Path

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> dict[int, str]:
    """Return a process and those that it and its children started, with their command lines."""
    parents, names = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int(_fields(folder)[1])
                names[int(folder.name)] = (folder / "cmdline").read_text(errors="replace")
            except OSError:  # it has ended
                continue

    def is_below(other: int) -> bool:
        while other != pid and other > 1:
            other = parents.get(other, 0)
        return other == pid

    return {other: name for other, name in names.items() if is_below(other)}


def processor_s(pid: int) -> float:
    """Return the seconds of the processor that a process and those below it have taken."""
    total_s = 0.0
    for other in family(pid):
        try:
            fields = _fields(Path("/proc", str(other)))
        except OSError:
            continue
        total_s += (int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND
    return total_s


def _fields(folder: Path) -> list[str]:
    return (folder / "stat").read_text().rpartition(")")[2].split()
