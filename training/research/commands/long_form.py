"""The ``long-form`` command: measures a model on whole talks, translated live.

``training.research.long_form.evaluate_talks`` lists the files.
"""

import argparse
import sys
from pathlib import Path

from training.commands.common_arguments import add_run_arguments, run_settings, score_table
from training.research.long_form.evaluate_talks import evaluate_talks

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
        "Run it again to resume a run that was stopped.",
    )
    add_run_arguments(parser)
    parser.add_argument(
        "--talks", type=Path, metavar="FILE", help="each line's talk (all lines are one talk)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Translate, cut, score, write, print."""
    settings = run_settings(arguments, system="slots", names=arguments.talks)
    scores = evaluate_talks(settings)
    sys.stdout.write(score_table(_COLUMNS, scores))
    return 0
