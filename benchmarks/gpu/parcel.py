"""Send a large GPU what a run of Gemma needs: a cut base in 8 bits, and pairs.

    python -m benchmarks.gpu.parcel BASE --data de=D.aligned.tsv fr=F.aligned.tsv --out PARCEL

``PARCEL/gemma.tar.NNN`` are pieces of at most 60 MB, ``parcel.json`` has their hashes. The base is
a folder of ``surtitle-train cut-vocabulary``, or of a run that began with one, to go on with it.
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
from engine.models.int8_entries import CODES, SCALES
from engine.models.int8_rows import pack_rows, unpack_rows
from engine.models.llama_shape import WEIGHTS_FILE

LIST, BASE, DATA = "parcel.json", "base", "data"
_PIECE_BYTES = 60_000_000
_PACKED = "weights.safetensors"


def pack_base(base: Path, out: Path) -> None:
    """Write a model folder with its matrices in 8 bits, vectors in float32."""
    shutil.copytree(base, out, ignore=shutil.ignore_patterns("checkpoint", "*.safetensors"))
    packed = dict[str, np.ndarray]()
    for name, weight in load_torch(base / WEIGHTS_FILE).items():
        numbers = weight.float().numpy()
        if numbers.ndim == 1:
            packed[name] = numbers
        else:
            packed[name + CODES], packed[name + SCALES] = pack_rows(numbers)
    save_file(packed, out / _PACKED)


def unpack_base(folder: Path) -> None:
    """Make a model folder of what ``pack_base`` wrote."""
    packed = load_file(folder / _PACKED)
    weights = dict[str, torch.Tensor]()
    for name, numbers in packed.items():
        if name.endswith(CODES):
            stem = name.removesuffix(CODES)
            weights[stem] = torch.from_numpy(unpack_rows(numbers, packed[stem + SCALES]))
        elif not name.endswith(SCALES):
            weights[name] = torch.from_numpy(numbers)
    whole = {name: weight.to(torch.bfloat16) for name, weight in weights.items()}
    save_torch(whole, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    (folder / _PACKED).unlink()


def make_parcel(base: Path, data: Mapping[str, Path], out: Path) -> None:
    """Write the pieces of a base and of the pairs of each target language."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as place:
        folder = Path(place)
        pack_base(base, folder / BASE)
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


def open_parcel(parcel: Path, out: Path) -> dict[str, Path]:
    """Unpack the pieces; return the pairs by target language.

    Raises:
        SystemExit: a piece is missing or damaged.
    """
    if not out.exists():
        join(json.loads((parcel / LIST).read_text("utf-8")), parcel, out.with_suffix(".new"))
        unpack_base(out.with_suffix(".new") / BASE)
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
    parser.add_argument("--data", nargs="+", required=True, metavar="LANG=F.tsv")
    parser.add_argument("--out", type=Path, required=True, metavar="PARCEL")
    arguments = parser.parse_args(argv)
    data = dict(word.split("=", 1) for word in arguments.data)
    make_parcel(arguments.base, {code: Path(path) for code, path in data.items()}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
