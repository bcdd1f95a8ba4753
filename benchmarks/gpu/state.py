"""What the calls of a day with a GPU leave for the next one: results, and a run in pieces."""

import hashlib
import json
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PIECE_BYTES = 15_000_000
Result = dict[str, object]


@dataclass
class State:
    """What is known so far: the content of ``state.json``.

    Attributes:
        is_dry: the steps ran at tiny shapes on a CPU; figures mean nothing.
        results: by step.
        failures: one line by step.
        seconds: spent on each step, in all calls.
        most_mib: memory of the GPU in use by anybody, at most, by step.
        pieces: SHA-256 of the pieces of the training run, by name.
        calls: so far.
    """

    is_dry: bool
    results: dict[str, Result] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    most_mib: dict[str, int] = field(default_factory=dict)
    pieces: dict[str, str] = field(default_factory=dict)
    calls: int = 0


def read_state(out: Path, *, is_dry: bool) -> State:
    """Read what the calls before found.

    Raises:
        SystemExit: it is of another kind of run.
    """
    path = out / "state.json"
    if not path.exists():
        return State(is_dry=is_dry)
    state = State(**json.loads(path.read_text("utf-8")))
    if state.is_dry is not is_dry:
        kinds = ("a real run", "a dry run")
        msg = f"gpu-day: {out} holds {kinds[state.is_dry]}, this is {kinds[is_dry]}: name another"
        raise SystemExit(msg)
    return state


def pack(run: Path, out: Path) -> dict[str, str]:
    """Write the folders of a training run as pieces; the old ones stay until then.

    Args:
        run: its files, which are the data, are left out.
        out: of the pieces.

    Returns:
        SHA-256 of the pieces by name.
    """
    packed = run.with_suffix(".tar")
    with tarfile.open(packed, "w") as tar:
        for path in sorted(run.iterdir()):
            if path.is_dir():
                tar.add(path, path.name)
    pieces = split(packed, out, "train", PIECE_BYTES)
    packed.unlink()
    return pieces


def split(packed: Path, out: Path, name: str, piece_bytes: int) -> dict[str, str]:
    """Write a file as pieces ``NAME.tar.NNN`` in place of earlier ones; return their hashes."""
    pieces = dict[str, str]()
    with packed.open("rb") as source:
        while piece := source.read(piece_bytes):
            of_piece = f"{name}.tar.{len(pieces):03}"
            (out / f"{of_piece}.new").write_bytes(piece)
            pieces[of_piece] = hashlib.sha256(piece).hexdigest()
    for old in out.glob(f"{name}.tar.???"):
        old.unlink()
    for of_piece in pieces:
        (out / f"{of_piece}.new").rename(out / of_piece)
    return pieces


def unpack(pieces: Mapping[str, str], out: Path, run: Path) -> None:
    """Restore a training run from its pieces.

    Raises:
        SystemExit: a piece is missing or damaged.
    """
    fresh = run.with_suffix(".new")
    join(pieces, out, fresh)
    fresh.rename(run)


def join(pieces: Mapping[str, str], out: Path, folder: Path) -> None:
    """Unpack pieces into a folder; raise SystemExit if one is missing or damaged."""
    joined = folder.with_suffix(".tar")
    with joined.open("wb") as target:
        for name, digest in pieces.items():
            path = out / name
            content = path.read_bytes() if path.exists() else b""
            if hashlib.sha256(content).hexdigest() != digest:
                msg = f"gpu-day: {path} is missing or damaged: bring it, or remove state.json"
                raise SystemExit(msg)
            target.write(content)
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(joined) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        tar.extractall(folder)
    joined.unlink()
