"""The ``cut-vocabulary`` command: a model with fewer ids, to be trained on."""

import argparse
from itertools import chain
from pathlib import Path

from training.data.corpus import read_pairs
from training.settings import GEMMA_GGUF


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``cut-vocabulary`` to the commands of ``surtitle-train``."""
    parser = subparsers.add_parser(
        "cut-vocabulary",
        help="make a smaller model of Gemma 3, with the ids that some languages need",
        description="Make a smaller model of Gemma 3: it keeps the ids that these texts need, and "
        "encodes them as before. Most of a small model is the embedding of ids. Train it on with "
        "pretrain --train-on.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model folder or a GGUF file")
    parser.add_argument(
        "--text",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="TSV files of pairs (source, target, corpus), plain, .gz or .xz",
    )
    parser.add_argument("--to", required=True, metavar="LANGS", help="for example de,fr,es")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the new folder")
    parser.add_argument(
        "--ids", type=int, default=45_056, metavar="N", help="ids to keep (%(default)s)"
    )
    parser.add_argument(
        "--sha256",
        default=GEMMA_GGUF,
        metavar="HASH",
        help="that a GGUF file must have; by default that of gemma-3-270m-q4_k_m.gguf",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Count the words, and write the model."""
    from training.trainer.pretraining.cut_vocabulary import (  # noqa: PLC0415  torch takes seconds; help must not
        CutSettings,
        cut_vocabulary,
    )

    settings = CutSettings(
        model=arguments.model,
        sha256=arguments.sha256,
        out=arguments.out,
        n_ids=arguments.ids,
        languages=tuple(arguments.to.split(",")),
    )
    pairs = chain.from_iterable(read_pairs([path]) for path in arguments.text)
    texts = (text for pair in pairs for text in (pair.source, pair.target))
    cut_vocabulary(settings, texts)
    return 0
