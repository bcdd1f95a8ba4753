"""Manage adapters in the terminal: ``surtitle adapters list|inspect|add|remove``.

Neither Qt nor torch is imported. Exit codes as in ``exit_code_of``; 1 also for a blocked adapter.
"""

import argparse
import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from app.captions.adapter_details import NOTHING, rows
from app.cli.exit_codes import exit_code_of, standard_output, tell
from app.config.text_io import printable, send
from engine.errors import AdapterError
from engine.files import bytes_text
from engine.hub.catalogue import bundled_adapters, bundled_model, bundled_models
from engine.models.adapters.adapter import Adapter, Status, inspect_adapter, verify_adapter
from engine.models.adapters.library import AdapterLibrary
from engine.models.fingerprint import Fingerprint, read_fingerprint

_NAME = "adapters"
_COLUMNS = ("name", "status", "to", "slot", "policies", "size")
_MANY = 4  # languages and policies named in a row; the others are counted


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        _NAME,
        help="list, inspect, add and remove adapters",
        description="Manage the adapters that make a model translate live.",
    )
    commands = parser.add_subparsers(dest="adapters_command", metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="list the adapters and whether each can be used")
    _add_model(listing)
    listing.set_defaults(run=_run, act=_list)
    inspect = commands.add_parser("inspect", help="show what is known of an adapter")
    inspect.add_argument("adapter", metavar="NAME|DIR", help="an adapter of the list, or a folder")
    _add_model(inspect)
    inspect.set_defaults(run=_run, act=_inspect)
    add = commands.add_parser("add", help="check an adapter and copy it into the library")
    add.add_argument("adapter", type=Path, metavar="DIR", help="its folder")
    add.add_argument("--name", help="its name in the library")
    add.add_argument("--replace", action="store_true", help="replace the adapter of this name")
    add.set_defaults(run=_run, act=_add)
    remove = commands.add_parser("remove", help="delete an adapter that was added")
    remove.add_argument("adapter", metavar="NAME", help="its name in the list")
    remove.set_defaults(run=_run, act=_remove)


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        type=Path,
        default=argparse.SUPPRESS,  # the window accepts it, too, before the command
        metavar="DIR|NAME",
        help="the model they should fit, or a bundled one by its name (any that is bundled)",
    )


def _run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    return exit_code_of(
        _NAME, lambda: arguments.act(arguments, open_library(arguments.adapter_library))
    )


def open_library(folder: Path) -> AdapterLibrary:
    """Open the user's library, with the bundled adapters."""
    return AdapterLibrary(folder, bundled_adapters())


def _list(arguments: argparse.Namespace, library: AdapterLibrary) -> None:  # noqa: TID251  as above
    bases = _bases(arguments.model)
    adapters = [(it.name, _inspected(it.folder, bases)) for it in library.adapters()]
    if not adapters:
        _say(["no adapters: surtitle adapters add DIR adds one"])
        return
    table = [_COLUMNS, *(_row(name, adapter) for name, adapter in adapters)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    reasons = [None, *(adapter.reason for _, adapter in adapters)]
    lines = []
    for cells, reason in zip(table, reasons, strict=True):
        pairs = zip(cells, widths, strict=True)
        lines.append("  ".join(cell.ljust(width) for cell, width in pairs).rstrip())
        if reason is not None:
            lines.append(f"    {reason}")
    _say(lines)


def _row(name: str, adapter: Adapter) -> tuple[str, ...]:
    card, weights = adapter.card, adapter.weights
    return (
        name,
        str(adapter.status),
        _some(card.languages if card else ()),
        str(card.slot_length) if card else NOTHING,
        _some(card.policies if card else ()),
        bytes_text(weights.n_bytes) if weights else NOTHING,
    )


def _some(names: Iterable[str]) -> str:
    first, more = [*names][:_MANY], [*names][_MANY:]
    shown = ", ".join(first) or NOTHING
    return f"{shown} and {len(more)} more" if more else shown


def _inspect(arguments: argparse.Namespace, library: AdapterLibrary) -> None:  # noqa: TID251  as above
    folder = adapter_folder(arguments.adapter, library)
    adapter = _inspected(folder, _bases(arguments.model))
    details = [(str(label), str(value)) for label, value in rows(adapter)]
    width = max(len(label) for label, _ in details) + 2
    _say(f"{label.ljust(width)}{value}" for label, value in details)
    if adapter.status is Status.BLOCKED:
        msg = f"the adapter in {folder} cannot be used: {adapter.reason}"
        raise AdapterError(msg)
    _say([f"{'sha256'.ljust(width)}{verify_adapter(adapter)}"])  # reads the file, so it comes last


def adapter_folder(named: str, library: AdapterLibrary) -> Path:
    """Return the folder of an adapter: an existing path, else a name in the library.

    Raises:
        AdapterError: there is neither.
    """
    with contextlib.suppress(OSError, ValueError):  # a name may be no valid path
        if Path(named).exists():
            return Path(named)
    return library.find(named).folder


def _add(arguments: argparse.Namespace, library: AdapterLibrary) -> None:  # noqa: TID251  as above
    adapter = library.add(arguments.adapter, name=arguments.name, replace=arguments.replace)
    _say([f"added {adapter.folder.name}: surtitle translate --adapter {adapter.folder.name}"])
    if adapter.status is Status.UNKNOWN:
        tell(_NAME, f"the adapter {adapter.folder.name} was added, but {adapter.reason}")


def _remove(arguments: argparse.Namespace, library: AdapterLibrary) -> None:  # noqa: TID251  as above
    library.remove(arguments.adapter)
    _say([f"removed {arguments.adapter}"])


def _bases(named: Path | None) -> list[Fingerprint]:
    if named is not None:
        return [read_fingerprint(bundled_model(named) or named)]
    return [read_fingerprint(folder) for folder in bundled_models()]


def _inspected(folder: Path, bases: Sequence[Fingerprint]) -> Adapter:
    """Inspect an adapter beside the base that it fits best, or by its card where there is none."""
    found = [inspect_adapter(folder, base) for base in bases] or [inspect_adapter(folder)]
    return min(found, key=lambda adapter: list(Status).index(adapter.status))


def _say(lines: Iterable[str]) -> None:
    send(standard_output(), "".join(f"{printable(line)}\n" for line in lines))
