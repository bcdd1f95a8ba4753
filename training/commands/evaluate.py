"""The ``evaluate`` command: measures a model on lines, translated live.

``engine.translation.feed`` feeds a line; ``training.evaluation.short_form`` lists the files.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.errors import PolicyError
from engine.layout.planner import LAYOUTS
from engine.models.resolve import AUTO, resolve
from engine.settings import (
    DEVICES,
    QUANTISATIONS,
    SYSTEMS,
    LayoutSettings,
    TranslationSettings,
    check_choice,
)
from training.commands.command_line import Cell, draw_table, settings_from, split_policies
from training.errors import UsageError
from training.evaluation.models import find_model, measured_model
from training.evaluation.runs import DRAWN, RunSettings
from training.evaluation.short_form import evaluate

_COLUMNS = (
    "policy", "bleu", "chrf", "al", "laal", "lag_s_p50", "lag_s_p95", "ap", "dal", "atd", "laal_ca",
    "ms_per_word_p50", "ms_per_word_p95", "tokens_fed", "tokens_recomputed", "gflops_per_sentence",
    "n_sentences", "n_empty", "n_degenerate",
)  # fmt: skip


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    workers = "processes (all cores; CUDA: 1)"
    parser.add_argument("--workers", dest="n_workers", type=int, metavar="N", help=workers)
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
    if arguments.n_workers is None:
        arguments.n_workers = (os.cpu_count() or 1) if arguments.device == "cpu" else 1
    scores = evaluate(run_settings(arguments, arguments.system))
    sys.stdout.write(score_table(_COLUMNS, [one.row() for one in scores]))
    return 0


POLICIES = (
    "wait:1", "wait:3", "wait:5", "wait:7",
    "read:1", "read:2", "read:3", "read:5", "read:7", "read:9",
)  # fmt: skip
"""Those of the papers, and the two read-n policies of the least lag, which others must surpass."""


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add test set, policies, model and run folder to a command."""
    parser.add_argument("--source", type=Path, required=True, metavar="FILE")
    parser.add_argument("--reference", type=Path, required=True, metavar="FILE")
    parser.add_argument("--to", required=True, metavar="LANG", help="target, for example de")
    parser.add_argument(
        "--from",
        dest="spoken",
        default=TranslationSettings().source_language,
        metavar="LANG",
        help="source, for models that translate from several (%(default)s)",
    )
    parser.add_argument(
        "--policies",
        type=split_policies,
        default=POLICIES,
        metavar="P,P,...",
        help=f"out of read:N, wait:K, stable:N and offline ({','.join(POLICIES)})",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder")
    parser.add_argument(
        "--model", type=Path, metavar="DIR", help="model folder (the bundled one for LANG)"
    )
    parser.add_argument("--adapter", type=Path, metavar="DIR", help="LoRA adapter folder")
    parser.add_argument("--slot", type=int, metavar="N", help="slot length (that of the model)")
    parser.add_argument(
        "--layout",
        metavar="NAME",
        help=f"positions of the words: {', '.join(LAYOUTS)} (that of the adapter, or slots)",
    )
    parser.add_argument(
        "--cut-loops", action="store_true", help="end writes that loop, as the window does"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N lines")
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="(%(default)s)")
    parser.add_argument(
        "--quantize",
        "--quantise",
        dest="quantise",
        choices=QUANTISATIONS,
        help="precision of the weights (whole on a CPU, so that machines can be compared)",
    )


def run_settings(arguments: argparse.Namespace, system: str = AUTO) -> RunSettings:
    model, card = find_model(
        arguments.model, arguments.to, arguments.adapter, source=arguments.spoken
    )
    try:
        own = resolve(card, system).layout
        check_choice("the layout", arguments.layout or own.name, LAYOUTS)
        for policy in arguments.policies:
            resolve(card, system, TranslationSettings(policy=policy))
        translation = TranslationSettings(
            target_language=arguments.to,
            source_language=arguments.spoken,
            layout=LayoutSettings(
                slot_length=own.slot_length if arguments.slot is None else arguments.slot,
                name=arguments.layout or own.name,
            ),
            cut_loops=arguments.cut_loops,
        )
        measured = measured_model(
            model, arguments.adapter, arguments.device, system, arguments.quantise
        )
        return settings_from(arguments, RunSettings, model=measured, translation=translation)
    except (ValueError, PolicyError) as error:
        raise UsageError(str(error)) from error


def score_table(columns: Sequence[str], rows: Sequence[Mapping[str, Cell]]) -> str:
    """Draw rows of scores for a terminal, with sacreBLEU's signatures below."""
    signatures = (rows[0][name] for name in ("bleu_signature", "chrf_signature"))
    return draw_table(columns, rows) + "".join(f"{one}\n" for one in signatures)
