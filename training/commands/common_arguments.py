"""Arguments that several commands share, how their values are read, and tables of scores."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from engine.errors import PolicyError
from engine.layout.registry import LAYOUTS
from engine.models.resolve import AUTO, resolve
from engine.settings import (
    DEVICES,
    QUANTISATIONS,
    LayoutSettings,
    TranslationSettings,
    check_choice,
)
from training.errors import UsageError
from training.evaluation import table
from training.evaluation.model_choice import find_model, measured_model
from training.evaluation.run_record import RunSettings

if TYPE_CHECKING:
    from engine.metrics.quality import Quality

T = TypeVar("T")


class ScoresOfPolicy(Protocol):
    """Scores that have a line in a table."""

    @property
    def quality(self) -> "Quality":
        """Of all lines or segments."""

    def row(self) -> dict[str, str | float | None]:
        """Return all scores side by side, under their names."""


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
        help=f"out of read:N, wait:K, adaptive:TAU, stable:N and offline ({','.join(POLICIES)})",
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


def run_settings(
    arguments: argparse.Namespace,
    *,
    system: str = AUTO,
    n_workers: int = 1,
    batch: int = 1,
    arrivals: str | None = None,
    names: Path | None = None,
) -> RunSettings:
    """Make settings of the arguments of ``add_run_arguments``.

    Raises:
        TrainingError: there is no such model, or the adapter does not fit it.
        UsageError: an argument cannot be used.
    """
    model, card = find_model(
        arguments.model, arguments.to, arguments.adapter, source=arguments.spoken
    )
    try:
        own = resolve(card, system).layout
        check_choice("the layout", arguments.layout or own.name, LAYOUTS)
        layout = LayoutSettings(
            slot_length=own.slot_length if arguments.slot is None else arguments.slot,
            name=arguments.layout or own.name,
        )
        for policy in arguments.policies:
            resolve(card, system, TranslationSettings(policy=policy))
        return RunSettings(
            source=arguments.source,
            reference=arguments.reference,
            model=measured_model(
                model, arguments.adapter, arguments.device, system, arguments.quantise
            ),
            translation=TranslationSettings(
                target_language=arguments.to,
                source_language=arguments.spoken,
                layout=layout,
                cut_loops=arguments.cut_loops,
            ),
            policies=arguments.policies,
            out=arguments.out,
            limit=arguments.limit,
            names=names,
            n_workers=n_workers,
            batch=batch,
            arrivals=arrivals,
        )
    except (ValueError, PolicyError) as error:
        raise UsageError(str(error)) from error


def score_table(columns: Sequence[str], scores: Sequence[ScoresOfPolicy]) -> str:
    """Draw scores for a terminal, with sacreBLEU's signatures below."""
    quality = scores[0].quality
    rows = table.draw(columns, [each.row() for each in scores])
    return f"{rows}{quality.bleu_signature}\n{quality.chrf_signature}\n"


def settings_from(arguments: argparse.Namespace, kind: type[T], **others: object) -> T:
    """Make settings of the arguments that are named like their fields, and of others.

    Args:
        arguments: of a command; what is named like no field is left out.
        kind: a dataclass.
        others: fields that are no argument, or of which the argument is a part.

    Raises:
        UsageError: the settings refuse a value.
    """
    names = {field.name for field in fields(kind)} & vars(arguments).keys()  # type: ignore[arg-type]
    try:
        return kind(**{name: getattr(arguments, name) for name in names} | others)
    except ValueError as error:
        raise UsageError(str(error)) from error


def split_policies(text: str) -> tuple[str, ...]:
    """Split at commas and spaces; a policy named twice is measured once."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def named_values(texts: Iterable[str], form: str = "NAME=VALUE") -> list[tuple[str, str]]:
    """Split texts at their first equals sign; names may hold dots.

    Raises:
        UsageError: a text is not of that form.
    """
    pairs = list[tuple[str, str]]()
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            msg = f"{form} was expected, got {text!r}"
            raise UsageError(msg)
        pairs.append((name, value))
    return pairs
