"""Write the folder of a model that is handed on: ``surtitle-train export``."""

import argparse
from pathlib import Path


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``export`` to the command line."""
    parser = subparsers.add_parser(
        "export",
        help="write the folder of a model that is handed on",
        description="Write a model into another folder, without checkpoint and record of its run, "
        "and the hash of its weights into its card.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the model folder")
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="written there")
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
        UsageError: both are the same folder.
    """
    from training.trainer.pretraining.export import export_folder  # noqa: PLC0415  imports the engine

    folder, out = arguments.folder, arguments.out
    export_folder(folder, out, bits=arguments.bits, adapter=arguments.adapter)
    return 0
