"""Write the graph with which a model runs without torch: ``surtitle-train export``."""

import argparse
import sys
from pathlib import Path


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``export`` to the command line."""
    parser = subparsers.add_parser(
        "export",
        help="write the graph with which a model runs without torch",
        description="Write graph.onnx into a model folder, and its hash into the folder's card. "
        "The weights stay in model.safetensors. It is for Llama models as pretrain makes them, "
        "and pretrain ends with it.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the model folder")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from training.trainer.pretraining.export import export_graph  # noqa: PLC0415  imports the engine

    hashes = export_graph(arguments.folder)
    sys.stdout.write(f"graph.onnx: sha256 {hashes.sha256}\n")
    return 0
