"""Measure a model: ``surtitle-train evaluate`` translates a test set live and scores it.

How a line is fed is told in ``training.live``, which files a run folder holds in
``training.evaluation``.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.adapter import model_card, usable_adapter
from engine.bundled import bundled_models
from engine.card import ModelCard
from engine.errors import ModelError, PolicyError
from engine.fingerprint import read_fingerprint
from engine.settings import DEVICES, LAYOUTS, LayoutSettings
from training.errors import TrainingError, UsageError
from training.evaluation import SYSTEMS, EvaluateSettings, evaluate
from training.table import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from training.scores import Scores

_COLUMNS = (
    "policy", "bleu", "chrf", "al", "laal", "ap", "dal", "atd", "laal_ca", "ms_per_word_p50",
    "ms_per_word_p95", "tokens_fed", "tokens_recomputed", "gflops_per_sentence", "n_sentences",
    "n_empty", "n_degenerate",
)  # fmt: skip


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``evaluate`` to the command line."""
    parser = subparsers.add_parser(
        "evaluate",
        help="translate a test set live under several policies and score it",
        description="Translate a test set word by word and score quality, lagging and cost. "
        "Run it again to go on with a run that was stopped.",
    )
    parser.add_argument("--source", type=Path, required=True, metavar="FILE")
    parser.add_argument("--reference", type=Path, required=True, metavar="FILE")
    parser.add_argument("--to", required=True, metavar="LANG", help="target, for example de")
    parser.add_argument(
        "--policies", required=True, metavar="P,P,...", help="out of read:N, wait:K and offline"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder")
    parser.add_argument(
        "--model", type=Path, metavar="DIR", help="model folder (the bundled one for LANG)"
    )
    parser.add_argument("--adapter", type=Path, metavar="DIR", help="LoRA adapter folder")
    parser.add_argument(
        "--system",
        choices=SYSTEMS,
        default="slots",
        help="retranslate: all words anew at each one, local agreement (%(default)s)",
    )
    parser.add_argument("--slot", type=int, metavar="N", help="slot length (that of the model)")
    parser.add_argument(
        "--layout",
        metavar="NAME",
        help=f"positions of the words: {', '.join(LAYOUTS)} (that of the adapter, or slots)",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N lines")
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="(%(default)s)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (all cores; CUDA: 1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Obey the command line: translate, write, score, print.

    Raises:
        TrainingError: one sentence says what is wrong.
    """
    model, card = find_model(arguments.model, arguments.to, arguments.adapter)
    n_workers = (os.cpu_count() or 1) if arguments.device == "cpu" else 1
    try:
        settings = EvaluateSettings(
            source=arguments.source,
            reference=arguments.reference,
            language=arguments.to,
            policies=tuple(dict.fromkeys(arguments.policies.replace(",", " ").split())),
            model=model,
            adapter=arguments.adapter,
            system=arguments.system,
            layout=LayoutSettings(
                slot_length=card.slot_length if arguments.slot is None else arguments.slot,
                name=arguments.layout or card.layout,
            ),
            out=arguments.out,
            limit=arguments.limit,
            device=arguments.device,
            n_workers=n_workers if arguments.workers is None else arguments.workers,
        )
    except (ValueError, PolicyError) as error:
        raise UsageError(str(error)) from error
    sys.stdout.write(table(evaluate(settings)))
    return 0


def find_model(
    directory: Path | None, language: str, adapter: Path | None = None
) -> tuple[Path, ModelCard]:
    """Read the card of a model folder, or find the bundled model of a language.

    Where an adapter is named, the card is its own: languages, slots and layout are as it was
    trained.

    Raises:
        TrainingError: there is no such model, or the adapter does not fit it.
        UsageError: model or adapter do not know the language.
    """
    if directory is None:
        known = ((path, _card(path, adapter)) for path in bundled_models())
        for path, card in known:
            if language in card.languages:
                return path, card
        msg = f"no bundled model translates to {language!r}: name a model folder with --model"
        raise UsageError(msg)
    card = _card(directory, adapter)
    try:
        card.language(language)
    except ModelError as error:
        raise UsageError(str(error)) from error
    return directory, card


def _card(directory: Path, adapter: Path | None) -> ModelCard:
    try:
        found = None if adapter is None else usable_adapter(adapter, read_fingerprint(directory))
        return model_card(directory, found)
    except ModelError as error:
        raise TrainingError(str(error)) from error


def table(scores: "Sequence[Scores]") -> str:
    """Draw the scores for a terminal, with the signatures below."""
    quality = scores[0].quality
    rows = draw(_COLUMNS, [one.row() for one in scores])
    return f"{rows}{quality.bleu_signature}\n{quality.chrf_signature}\n"
