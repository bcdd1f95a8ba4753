"""Measure a model: ``surtitle-train evaluate`` translates a test set live and scores it.

How a line is fed is told in ``engine.translation.feed``, which files a run folder holds in
``training.evaluation.short_form``.
"""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from engine.errors import PolicyError
from training.commands.common_arguments import add_run_arguments
from training.errors import UsageError
from training.evaluation.model_choice import choose_layout, find_model
from training.evaluation.short_form import SYSTEMS, EvaluateSettings, evaluate
from training.plots.table import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from training.metrics.scores import Scores

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
    add_run_arguments(parser)
    parser.add_argument(
        "--system",
        choices=SYSTEMS,
        default="slots",
        help="retranslate: all words anew at each one, local agreement (%(default)s)",
    )
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
            policies=arguments.policies,
            model=model,
            adapter=arguments.adapter,
            system=arguments.system,
            layout=choose_layout(card, arguments.slot, arguments.layout, arguments.system),
            out=arguments.out,
            limit=arguments.limit,
            cut_loops=arguments.cut_loops,
            device=arguments.device,
            n_workers=n_workers if arguments.workers is None else arguments.workers,
        )
    except (ValueError, PolicyError) as error:
        raise UsageError(str(error)) from error
    sys.stdout.write(table(evaluate(settings)))
    return 0


def table(scores: "Sequence[Scores]") -> str:
    """Draw the scores for a terminal, with the signatures below."""
    quality = scores[0].quality
    rows = draw(_COLUMNS, [one.row() for one in scores])
    return f"{rows}{quality.bleu_signature}\n{quality.chrf_signature}\n"
