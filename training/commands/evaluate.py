"""The ``evaluate`` command: measures a model on lines, translated live.

``engine.translation.feed`` feeds a line; ``training.evaluation.short_form`` lists the files.
"""

import argparse
import os
import sys

from engine.models.resolve import AUTO
from engine.settings import SYSTEMS
from training.commands.common_arguments import add_run_arguments, run_settings, score_table
from training.evaluation.arrivals import DRAWN
from training.evaluation.short_form import evaluate

_COLUMNS = (
    "policy", "bleu", "chrf", "al", "laal", "lag_s_p50", "lag_s_p95", "ap", "dal", "atd", "laal_ca",
    "ms_per_word_p50", "ms_per_word_p95", "tokens_fed", "tokens_recomputed", "gflops_per_sentence",
    "n_sentences", "n_empty", "n_degenerate",
)  # fmt: skip


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``evaluate`` to the command line."""
    parser = subparsers.add_parser(
        "evaluate",
        help="translate a test set live under several policies and score it",
        description="Translate a test set word by word and score quality, lagging and cost. "
        "Run it again to resume a run that was stopped.",
    )
    add_run_arguments(parser)
    parser.add_argument(
        "--system",
        choices=tuple(SYSTEMS),
        default=AUTO,
        help="; ".join(f"{name}: {does}" for name, does in SYSTEMS.items()) + " (%(default)s)",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes (all cores; CUDA: 1)")
    parser.add_argument(
        "--batch",
        type=int,
        default=1,
        metavar="N",
        help="lines that a process translates side by side, by torch: sooner, and "
        "nothing is timed (%(default)s)",
    )
    parser.add_argument(
        "--arrivals",
        metavar="WHEN",
        help="when words come, for lag in seconds; those of a moment come together: "
        f"{', '.join(DRAWN)}, or a file with SAID:CAME for each word of a line, in seconds",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Translate, write, score, print."""
    n_workers = arguments.workers
    if n_workers is None:
        n_workers = (os.cpu_count() or 1) if arguments.device == "cpu" else 1
    settings = run_settings(
        arguments,
        system=arguments.system,
        n_workers=n_workers,
        batch=arguments.batch,
        arrivals=arguments.arrivals,
    )
    sys.stdout.write(score_table(_COLUMNS, evaluate(settings)))
    return 0
