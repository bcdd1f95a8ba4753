"""Look after adapters in the terminal: ``surtitle adapters list|inspect|add|remove``.

Neither Qt nor torch is imported. What cannot be done is one sentence on stderr. Exit codes: 0, 1
for a failure or an adapter that is blocked, 2 for wrong usage, 141 when the reader of the output
went away.
"""

import argparse
import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path

from app.library.adapter_details import NOTHING, rows
from app.system.text_io import ReaderGoneError, TextError, printable, send
from engine.adapters.adapter import Adapter, Status, inspect_adapter, verify_adapter
from engine.adapters.library import AdapterLibrary
from engine.errors import SurtitleError
from engine.files import bytes_text
from engine.hub.bundled import bundled_adapters, bundled_models
from engine.models.fingerprint import Fingerprint, read_fingerprint

_FAILED, _READER_GONE = 1, 141
_COLUMNS = ("name", "status", "to", "slot", "policies", "size")
_MANY = 4  # languages and policies that are named in a row; more are counted


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``adapters`` to the commands of ``surtitle``."""
    parser = subparsers.add_parser(
        "adapters",
        help="list, inspect, add and remove adapters",
        description="Look after the adapters that make a model translate live.",
    )
    commands = parser.add_subparsers(dest="adapters_command", metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="name the adapters at hand, and which can be used")
    _add_model(listing)
    listing.set_defaults(run=_run, act=_list)
    inspect = commands.add_parser("inspect", help="tell all that is known of an adapter")
    inspect.add_argument("adapter", metavar="NAME|DIR", help="an adapter at hand, or a folder")
    _add_model(inspect)
    inspect.set_defaults(run=_run, act=_inspect)
    add = commands.add_parser("add", help="check an adapter and copy it to those at hand")
    add.add_argument("adapter", type=Path, metavar="DIR", help="its folder")
    add.add_argument("--name", help="keep it under this name")
    add.add_argument("--replace", action="store_true", help="replace the one that has this name")
    add.set_defaults(run=_run, act=_add)
    remove = commands.add_parser("remove", help="delete an adapter that was added")
    remove.add_argument("adapter", metavar="NAME", help="its name in the list")
    remove.set_defaults(run=_run, act=_remove)


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        type=Path,
        default=argparse.SUPPRESS,  # the window takes it, too, before the command
        metavar="DIR",
        help="the model they should fit (the one that comes with Surtitle)",
    )


def _run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    """Obey the command line; tell what cannot be done."""
    try:
        exit_code: int = arguments.act(arguments, open_library(arguments.adapter_library))
    except ReaderGoneError:
        return _READER_GONE
    except (SurtitleError, TextError) as error:
        _complain(str(error))
        return _FAILED
    return exit_code


def open_library(folder: Path) -> AdapterLibrary:
    """Open the person's library, with the bundled adapters."""
    return AdapterLibrary(folder, bundled_adapters())


def _list(arguments: argparse.Namespace, library: AdapterLibrary) -> int:  # noqa: TID251
    base = _base(arguments.model)
    adapters = [(it.name, inspect_adapter(it.folder, base)) for it in library.adapters()]
    if not adapters:
        _say(["no adapters: surtitle adapters add DIR adds one"])
        return 0
    table = [_COLUMNS, *(_row(name, adapter) for name, adapter in adapters)]
    widths = [max(len(line[place]) for line in table) for place in range(len(_COLUMNS))]
    reasons = ["", *(adapter.reason for _, adapter in adapters)]
    lines = []
    for cells, reason in zip(table, reasons, strict=True):
        pairs = zip(cells, widths, strict=True)
        lines.append("  ".join(cell.ljust(width) for cell, width in pairs).rstrip())
        if reason:
            lines.append(f"    {reason}")
    _say(lines)
    return 0


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
    """Name the first few, and count the others."""
    first, more = [*names][:_MANY], [*names][_MANY:]
    told = ", ".join(first) or NOTHING
    return f"{told} and {len(more)} more" if more else told


def _inspect(arguments: argparse.Namespace, library: AdapterLibrary) -> int:  # noqa: TID251
    folder = adapter_folder(arguments.adapter, library)
    adapter = inspect_adapter(folder, _base(arguments.model))
    found = rows(adapter)
    width = max(len(label) for label, _ in found) + 2
    _say(f"{label.ljust(width)}{value}" for label, value in found)
    if adapter.status is Status.BLOCKED:
        _complain(f"the adapter in {folder} cannot be used: {adapter.reason}")
        return _FAILED
    _say([f"{'sha256'.ljust(width)}{verify_adapter(adapter)}"])  # reads it all, so it comes last
    return 0


def adapter_folder(named: str, library: AdapterLibrary) -> Path:
    """Find the folder of an adapter: a path that exists, else a name in the library.

    Raises:
        AdapterError: there is neither.
    """
    with contextlib.suppress(OSError, ValueError):  # what is no path may be a name
        if Path(named).exists():
            return Path(named)
    return library.find(named).folder


def _add(arguments: argparse.Namespace, library: AdapterLibrary) -> int:  # noqa: TID251
    adapter = library.add(arguments.adapter, name=arguments.name, replace=arguments.replace)
    _say([f"added {adapter.folder.name}: surtitle translate --adapter {adapter.folder.name}"])
    if adapter.status is Status.UNKNOWN:
        _complain(f"the adapter {adapter.folder.name} was added, but {adapter.reason}")
    return 0


def _remove(arguments: argparse.Namespace, library: AdapterLibrary) -> int:  # noqa: TID251
    library.remove(arguments.adapter)
    _say([f"removed {arguments.adapter}"])
    return 0


def _base(named: Path | None) -> Fingerprint | None:
    """Read the fingerprint of the model that adapters should fit; None where there is no model."""
    bundled = [] if named else bundled_models()
    folder = named or (bundled[0] if bundled else None)
    return None if folder is None else read_fingerprint(folder)


def _say(lines: Iterable[str]) -> None:
    if sys.stdout is None:
        msg = "standard output is closed: send it to a terminal, a file or a pipe"
        raise TextError(msg)
    send(sys.stdout.buffer, "".join(f"{printable(line)}\n" for line in lines))


def _complain(sentence: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"surtitle adapters: {printable(sentence)}\n")
