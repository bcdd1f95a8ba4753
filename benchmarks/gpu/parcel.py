"""Send a large GPU what a run of Gemma needs: a cut base in 8 bits, and pairs.

    python -m benchmarks.gpu.parcel BASE --data de=D.aligned.tsv fr=F.aligned.tsv --out PARCEL
    python -m benchmarks.gpu.parcel RUN --since CUT --out KEPT      # what a run has learnt, 75 MB
    python -m benchmarks.gpu.parcel KEPT --since CUT --open FOLDER  # and the model again

``PARCEL/gemma.tar.NNN`` are pieces of at most 60 MB, ``parcel.json`` has their hashes. The base is
a folder of ``surtitle-train cut-vocabulary``, or of a run that began with one, to go on with it.
With ``--since`` only the differences to a folder are kept, in 4 bits: they are small beside the
weights, so little is lost, and whoever has the cut model goes on from there. RUN may be a run that
has not ended: the weights of its checkpoint are taken.
"""

import argparse
import json
import lzma
import shutil
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from safetensors.torch import load_file as load_torch
from safetensors.torch import save_file as save_torch

from benchmarks.gpu.state import join, split
from engine.models.llama import WEIGHTS_FILE
from engine.models.tensor_file import pack_blocks, pack_rows, unpack_blocks, unpack_rows
from engine.untrusted.file_headers import CODES, SCALES

LIST, BASE, DATA = "parcel.json", "base", "data"
_PIECE_BYTES = 60_000_000
_PACKED = "weights.safetensors"


def pack_base(base: Path, out: Path, since: Path | None = None) -> None:
    """Write a model folder with its matrices in 8 bits, vectors in float32.

    Args:
        base: folder of a model, or of a run that has a checkpoint.
        out: a new folder.
        since: keep the differences to this model, in 4 bits.
    """
    ignored = shutil.ignore_patterns("checkpoint", "*.safetensors")
    shutil.copytree(base, out, ignore=ignored)
    before = {} if since is None else _weights(since)
    if since is not None:
        shutil.copyfile(since / "config.json", out / "config.json")
    packed = dict[str, np.ndarray]()
    for name, numbers in _weights(base).items():
        if numbers.ndim == 1:
            packed[name] = numbers
        elif before:
            codes, scales = pack_blocks(numbers - before[name])
            packed[name + CODES], packed[name + SCALES] = codes, scales.astype(np.float16)
        else:
            packed[name + CODES], packed[name + SCALES] = pack_rows(numbers)
    save_file(packed, out / _PACKED)


def _weights(folder: Path) -> dict[str, np.ndarray]:
    """Return the weights of a model, or of the checkpoint of a run, in float32."""
    kept = folder / "checkpoint" / "state.safetensors"
    state = load_torch(kept if kept.exists() else folder / WEIGHTS_FILE)
    if kept.exists():  # with the optimiser's state
        mine = (name for name in state if name.startswith("model."))
        state = {name.removeprefix("model."): state[name] for name in mine}
    return {name: weight.float().numpy() for name, weight in state.items()}


def unpack_base(folder: Path, since: Path | None = None) -> None:
    """Make a model folder of what ``pack_base`` wrote, with the same ``since``."""
    packed = load_file(folder / _PACKED)
    before = {} if since is None else _weights(since)
    weights = dict[str, torch.Tensor]()
    for name, numbers in packed.items():
        if name.endswith(CODES):
            stem = name.removesuffix(CODES)
            scales = packed[stem + SCALES].astype(np.float32)
            whole = (
                unpack_blocks(numbers, scales) + before[stem]
                if numbers.ndim == 3
                else unpack_rows(numbers, scales)
            )
            weights[stem] = torch.from_numpy(whole)
        elif not name.endswith(SCALES):
            weights[name] = torch.from_numpy(numbers)
    rounded = {name: weight.to(torch.bfloat16) for name, weight in weights.items()}
    save_torch(rounded, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    (folder / _PACKED).unlink()


def make_parcel(base: Path, data: Mapping[str, Path], out: Path, since: Path | None = None) -> None:
    """Write the pieces of a base and of the pairs of each target language."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as place:
        folder = Path(place)
        pack_base(base, folder / BASE, since)
        (folder / DATA).mkdir()
        for language, path in data.items():
            with path.open("rb") as source, lzma.open(folder / DATA / f"{language}.xz", "wb") as to:
                shutil.copyfileobj(source, to)
        packed = folder / "gemma.tar"
        with tarfile.open(packed, "w") as tar:
            for name in (BASE, DATA):
                tar.add(folder / name, name)
        pieces = split(packed, out, "gemma", _PIECE_BYTES)
    (out / LIST).write_text(json.dumps(pieces, indent=1) + "\n", encoding="utf-8")


def open_parcel(parcel: Path, out: Path, since: Path | None = None) -> dict[str, Path]:
    """Unpack the pieces; return the pairs by target language.

    Raises:
        SystemExit: a piece is missing or damaged.
    """
    if not out.exists():
        join(json.loads((parcel / LIST).read_text("utf-8")), parcel, out.with_suffix(".new"))
        unpack_base(out.with_suffix(".new") / BASE, since)
        for path in sorted((out.with_suffix(".new") / DATA).glob("*.xz")):
            with lzma.open(path) as source, path.with_suffix(".tsv").open("wb") as to:
                shutil.copyfileobj(source, to)
            path.unlink()
        out.with_suffix(".new").rename(out)
    return {path.stem: path for path in sorted((out / DATA).glob("*.tsv"))}


def main(argv: Sequence[str] | None = None) -> int:
    """Read the arguments and pack."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path, metavar="BASE", help="folder of the model to train on")
    parser.add_argument("--data", nargs="*", default=[], metavar="LANG=F.tsv")
    parser.add_argument("--since", type=Path, metavar="CUT", help="keep the differences to it")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--out", type=Path, metavar="PARCEL", help="pack")
    way.add_argument("--open", type=Path, metavar="FOLDER", help="unpack BASE, which is a parcel")
    arguments = parser.parse_args(argv)
    if arguments.open is not None:
        open_parcel(arguments.base, arguments.open, arguments.since)
        return 0
    data = dict(word.split("=", 1) for word in arguments.data)
    files = {code: Path(path) for code, path in data.items()}
    make_parcel(arguments.base, files, arguments.out, arguments.since)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
