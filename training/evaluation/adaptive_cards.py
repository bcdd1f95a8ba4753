"""Write on the card of a model or an adapter what holds for its adaptive policies."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.adapters.adapter import write_adapter_card
from engine.adapters.card import AdapterCard, read_adapter_card
from engine.models.adaptive_card import AdaptiveCard
from engine.models.model_card import read_card
from training.errors import UsageError


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
