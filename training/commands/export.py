"""Write the graph with which a model runs without torch: ``surtitle-train export``."""

import argparse
import sys
from pathlib import Path

from training.errors import UsageError


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``export`` to the command line."""
    parser = subparsers.add_parser(
        "export",
        help="write the graph with which a model runs without torch, or a folder to hand on",
        description="Write graph.onnx into a model folder, and its hash into the folder's card. "
        "The weights stay in model.safetensors. It is for Llama models as pretrain makes them, "
        "and pretrain ends with it. With --out the model is written into another folder, without "
        "checkpoint and record of its run.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the model folder")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the model there instead")
    parser.add_argument(
        "--int8",
        dest="bits",
        action="store_const",
        const=8,
        default=0,
        help="keep its matrices in 8 bits there, with a scale for each row; they are computed in "
        "float32",
    )
    parser.add_argument(
        "--int4",
        dest="bits",
        action="store_const",
        const=4,
        help="keep them in 4 bits, with a scale for each 32 numbers, and compute in these; for "
        "models of 100 million parameters and more",
    )
    parser.add_argument(
        "--adapter",
        type=Path,
        metavar="DIR",
        help="add this adapter to the weights there: the model alone computes what both together "
        "did, and must be calibrated again",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command.

    Raises:
        SurtitleError: one sentence says what is wrong.
        UsageError: other weights are asked for in the folder itself.
    """
    for option, given in (
        (f"int{arguments.bits}", arguments.bits),
        ("adapter", arguments.adapter),
    ):
        if given and arguments.out is None:
            msg = f"--{option} never replaces the weights of a folder: name another with --out"
            raise UsageError(msg)
    from training.trainer.pretraining.export import (  # noqa: PLC0415  imports the engine
        export_folder,
        export_graph,
    )

    if arguments.out is None:
        hashes = export_graph(arguments.folder)
    else:
        hashes = export_folder(
            arguments.folder,
            arguments.out,
            bits=arguments.bits,
            adapter=arguments.adapter,
        )
    sys.stdout.write(f"graph.onnx: sha256 {hashes.sha256}\n")
    return 0
