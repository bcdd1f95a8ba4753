"""Measure a model on whole talks: ``surtitle-train long-form``.

What is done, and which files a run folder holds, is told in ``training.evaluation.long_form``.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import PolicyError
from engine.settings import TranslationSettings
from training.commands.common_arguments import add_run_arguments
from training.errors import UsageError
from training.evaluation.long_form import LongFormSettings, evaluate_talks
from training.evaluation.model_choice import choose_layout, find_model, measured_model
from training.plots.table import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from training.metrics.long_scores import LongScores

_COLUMNS = (
    "policy", "bleu", "chrf", "stream_laal", "stream_laal_ca", "bleu_soft", "long_yaal",
    "long_yaal_ca", "ms_per_word_p50", "ms_per_word_p95", "tokens_fed", "tokens_recomputed",
    "n_talks", "n_segments", "n_words", "n_empty", "n_degenerate",
)  # fmt: skip


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``long-form`` to the command line."""
    parser = subparsers.add_parser(
        "long-form",
        help="translate whole talks live, without their segments, and score them",
        description="Translate whole talks word by word, cut the output to the reference, score. "
        "Run it again to go on with a run that was stopped.",
    )
    add_run_arguments(parser)
    parser.add_argument(
        "--talks", type=Path, metavar="FILE", help="each line's talk (all lines are one talk)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Obey the command line: translate, cut, score, write, print.

    Raises:
        TrainingError: one sentence says what is wrong.
    """
    model, card = find_model(arguments.model, arguments.to, arguments.adapter)
    try:
        settings = LongFormSettings(
            source=arguments.source,
            reference=arguments.reference,
            names=arguments.talks,
            model=measured_model(model, arguments.adapter, arguments.device),
            translation=TranslationSettings(
                target_language=arguments.to,
                layout=choose_layout(card, arguments.slot, arguments.layout),
                cut_loops=arguments.cut_loops,
            ),
            policies=arguments.policies,
            out=arguments.out,
            limit=arguments.limit,
        )
    except (ValueError, PolicyError) as error:
        raise UsageError(str(error)) from error
    sys.stdout.write(_table(evaluate_talks(settings)))
    return 0


def _table(scores: "Sequence[LongScores]") -> str:
    quality = scores[0].quality
    drawn = draw(_COLUMNS, [one.row() for one in scores])
    return f"{drawn}{quality.bleu_signature}\n{quality.chrf_signature}\n"
