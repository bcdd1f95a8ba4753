"""Change a model that is there, or teach a small one.

The commands ``cut-vocabulary``, ``export``, ``calibrate`` and ``punctuation``.
"""

import argparse
import random
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path

from engine.models.adapters.adapter import write_adapter_card
from engine.models.encoder_decoder.original import is_encoder_decoder
from engine.models.encoder_decoder.record import save_calibration
from engine.models.model_card import Calibration, read_card
from training.data.corpus import read_pairs
from training.errors import CorpusError, UsageError
from training.evaluation.models import read_named_card
from training.settings import GEMMA_GGUF


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    for add in (add_cut_vocabulary, add_export, add_calibrate, add_punctuation):
        add(subparsers)


def add_cut_vocabulary(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    parser.set_defaults(run=run_cut_vocabulary)


def run_cut_vocabulary(arguments: argparse.Namespace) -> int:
    from training.trainer.cut_vocabulary import (  # noqa: PLC0415  torch takes seconds; help must not
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


def add_export(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    parser.set_defaults(run=run_export)


def run_export(arguments: argparse.Namespace) -> int:
    from training.trainer.export import export_folder  # noqa: PLC0415  imports the engine

    folder, out = arguments.folder, arguments.out
    export_folder(folder, out, bits=arguments.bits, adapter=arguments.adapter)
    return 0


def add_calibrate(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "calibrate",
        help="fit a model's confidence to a run of evaluate",
        description="Fit the confidence of a model, or of its base with an adapter, to runs of "
        "evaluate and write it on the card, with the confidence below which captions are marked "
        "as doubtful. Every second line is kept back to measure the error of the fit.",
    )
    owner = parser.add_mutually_exclusive_group(required=True)
    owner.add_argument("--model", type=Path, metavar="DIR")
    owner.add_argument("--adapter", type=Path, metavar="DIR")
    parser.add_argument("--policy", default="read:3", help="of the runs (%(default)s)")
    parser.add_argument("--run", nargs="+", dest="runs", type=Path, required=True, metavar="RUN")
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        metavar="P",
        help="mark captions that are less likely good than this (%(default)s)",
    )
    parser.set_defaults(run=run_calibrate)


def run_calibrate(arguments: argparse.Namespace) -> int:
    if not 0 <= arguments.threshold <= 1:
        msg = f"--threshold is a probability from 0 to 1, got {arguments.threshold}"
        raise UsageError(msg)
    from training.evaluation.runs import Sentence, read_run  # noqa: PLC0415  likewise
    from training.evaluation.scores import (  # noqa: PLC0415  numpy; help is there at once
        calibrate,
        calibration_error,
        is_good,
        marked,
    )

    runs = [read_run(folder) for folder in arguments.runs]
    sentences: list[Sentence] = []
    for one in runs:
        is_bare = one.record.adapter_sha256 is None
        if is_bare != (arguments.adapter is None):
            owner = "the bare model" if is_bare else "an adapter"
            msg = f"{one.folder} is a run of {owner}: name runs of what is calibrated"
            raise UsageError(msg)
        if arguments.policy not in one.policies:
            known = ", ".join(one.policies)
            msg = f"{one.folder} has {known}, and not {arguments.policy}: choose --policy"
            raise UsageError(msg)
        sentences += one.policies[arguments.policy].sentences
    calibration, fresh = calibrate(sentences[::2], arguments.threshold), sentences[1::2]
    save(arguments.model, arguments.adapter, calibration)
    sys.stdout.write(
        f"slope {calibration.slope:g}, offset {calibration.offset:g}; of the {len(fresh):,} "
        "sentences kept back:\n"
        f"{calibration_error(calibration, fresh):10.3f}  expected calibration error\n"
    )
    for name, part in zip(("marked", "unmarked"), marked(calibration, fresh), strict=True):
        good = sum(map(is_good, part)) / max(1, len(part))
        sys.stdout.write(f"{len(part):10,}  {name}, of which {good:.0%} good\n")
    return 0


def save(model: Path | None, adapter: Path | None, calibration: Calibration) -> None:
    """Write a calibration on the card of an adapter, or else of a model folder."""
    if adapter is not None:
        write_adapter_card(adapter, replace(read_named_card(adapter), calibration=calibration))
        return
    assert model is not None  # one of the two is named
    if is_encoder_decoder(model):
        save_calibration(model, calibration)
    else:
        replace(read_card(model), calibration=calibration).save(model)


def add_punctuation(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "punctuation",
        help="teach case and punctuation for speech models that write neither",
        description="Learn from sentences which words begin with a capital, and what stands behind "
        "a word. The program uses LANG.npz in assets/punctuation.",
    )
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="F.txt")
    parser.add_argument("--out", type=Path, required=True, metavar="LANG.npz")
    parser.add_argument("--passes", type=int, default=2)
    parser.set_defaults(run=run_punctuation)


def run_punctuation(arguments: argparse.Namespace) -> int:
    import numpy as np  # noqa: PLC0415  help must not wait for it

    from training.trainer.punctuation import examples, spoken, teach  # noqa: PLC0415  likewise

    try:
        lines = arguments.source.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{arguments.source} cannot be read as UTF-8 text ({error}): name a file of sentences"
        raise CorpusError(msg) from error
    rng = random.Random(1)
    rng.shuffle(lines)
    given = examples(filter(None, map(spoken, lines)), rng)
    weights, scale = teach(given, arguments.passes)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(arguments.out, weights=weights, scale=np.float64(scale))
    size = arguments.out.stat().st_size
    sys.stdout.write(f"{len(given.marks):,} words; {size:,} bytes in {arguments.out}\n")
    return 0
