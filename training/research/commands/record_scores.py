"""Write scores of ``evaluate`` on an adapter's card: ``surtitle-research record-scores``.

Beside each score the card can hold that of the bare base on the same lines, so that people and
programs see whether the adapter is an improvement.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.models.adapters.adapter import write_adapter_card
from engine.models.adapters.card import AdapterScore
from training.commands.common_arguments import named_values
from training.errors import TrainingError, UsageError
from training.evaluation.named_card import read_named_card
from training.evaluation.run_record import fingerprint
from training.evaluation.runs import Run, read_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A test set, the adapter's run on it, and the run of its base, if any."""

    test_set: str
    run: Path
    base_run: Path | None


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``record-scores`` to the command line."""
    parser = subparsers.add_parser(
        "record-scores",
        help="write scores of evaluate on an adapter's card",
        description="Write BLEU and LAAL by policy on an adapter's card, and the base's beside "
        "them. Scores that were on the card before are replaced.",
    )
    parser.add_argument("--adapter", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--run",
        nargs="+",
        dest="runs",
        required=True,
        metavar="SET=RUN[,BASE_RUN]",
        help="name of the test set, run folder with the adapter, and without it",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    record_scores(arguments.adapter, list(_measured(arguments.runs)))
    sys.stdout.write(f"{arguments.adapter}\n")
    return 0


def record_scores(adapter: Path, measured: Sequence[Measured]) -> None:
    """Replace the scores on an adapter's card.

    Raises:
        AdapterError: the adapter cannot be used, or its card cannot be written.
        TrainingError: a run folder cannot be read.
        UsageError: a run is of another adapter, or the base's run of other lines.
    """
    card = read_named_card(adapter)
    sha256 = fingerprint(adapter)
    scores = [score for one in measured for score in _scores(one, sha256)]
    write_adapter_card(adapter, replace(card, scores=tuple(scores)))


def _measured(texts: Sequence[str]) -> Iterator[Measured]:
    form = "SET=RUN or SET=RUN,BASE_RUN"
    for test_set, folders in named_values(texts, form):
        folder, _, base_folder = folders.partition(",")
        if not folder:
            msg = f"{form} was expected, got {f'{test_set}={folders}'!r}"
            raise UsageError(msg)
        base_run = Path(base_folder) if base_folder else None
        yield Measured(test_set=test_set, run=Path(folder), base_run=base_run)


def _scores(measured: Measured, adapter_sha256: str) -> Iterator[AdapterScore]:
    own_run = read_run(measured.run)
    if own_run.record.adapter_sha256 != adapter_sha256:
        msg = f"{measured.run} was run with another adapter: run evaluate again with this one"
        raise UsageError(msg)
    base_bleu = {} if measured.base_run is None else _base_bleu(measured.base_run, own_run)
    for policy, policy_run in own_run.policies.items():
        scores = policy_run.scores
        yield AdapterScore(
            test_set=measured.test_set,
            lines=scores.n_sentences,
            language=own_run.record.language,
            policy=policy,
            bleu=round(scores.bleu, 2),
            laal=None if scores.laal is None else round(scores.laal, 2),
            signature=scores.bleu_signature,
            base_bleu=base_bleu.get(policy),
        )


def _base_bleu(folder: Path, own_run: Run) -> dict[str, float]:
    """Read BLEU by policy of the base alone, on the same lines."""
    base_run = read_run(folder)
    same = replace(own_run.record, adapter_sha256=None, slot_length=base_run.record.slot_length)
    if base_run.record != same or base_run.n_sentences != own_run.n_sentences:
        msg = (
            f"{folder} is no run of the base alone over the lines of {own_run.folder}: "
            "run evaluate without --adapter and otherwise alike"
        )
        raise TrainingError(msg)
    return {policy: round(one.scores.bleu, 2) for policy, one in base_run.policies.items()}
