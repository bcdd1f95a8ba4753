"""Read and change the card that a command names: that of a model folder, or of an adapter."""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.models.adapters.adapter import write_adapter_card
from engine.models.adapters.card import AdapterCard, read_adapter_card
from engine.models.adaptive_card import AdaptiveCard
from engine.models.model_card import read_card
from training.errors import UsageError

if TYPE_CHECKING:
    from training.evaluation.runs import Run  # numpy; help is there at once


def add_owner(parser: argparse.ArgumentParser) -> None:
    """Add ``--model`` and ``--adapter``, of which one is given."""
    owner = parser.add_mutually_exclusive_group(required=True)
    owner.add_argument("--model", type=Path, metavar="DIR")
    owner.add_argument("--adapter", type=Path, metavar="DIR")


def check_owner(runs: "Iterable[Run]", adapter: Path | None) -> None:
    """Raise UsageError for a run of the bare model where an adapter is named, and vice versa."""
    for one in runs:
        if (one.record.adapter_sha256 is None) != (adapter is None):
            owner = "the bare model" if one.record.adapter_sha256 is None else "an adapter"
            msg = f"{one.folder} is a run of {owner}: name runs of what is calibrated"
            raise UsageError(msg)


def read_named_card(adapter: Path) -> AdapterCard:
    """Read the card of an adapter that a command names; raise UsageError if it cannot be read."""
    try:
        return read_adapter_card(adapter)
    except (OSError, ValueError) as error:
        msg = f"{adapter} has no card that can be read ({error}): name an adapter folder"
        raise UsageError(msg) from error


def change_adaptive(
    model: Path | None,
    adapter: Path | None,
    change: Callable[[AdaptiveCard | None], AdaptiveCard | None],
) -> None:
    """Change what the card of an adapter, or else of a model folder, says; None is nothing.

    Raises:
        SurtitleError: the card cannot be read or written.
        UsageError: the adapter has none.
    """
    if adapter is not None:
        card = read_named_card(adapter)
        write_adapter_card(adapter, replace(card, adaptive=change(card.adaptive)))
        return
    assert model is not None  # one of the two is named
    own = read_card(model)
    replace(own, adaptive=change(own.adaptive)).save(model)
