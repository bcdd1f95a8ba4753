"""Choose the system and slot length of a model; the notices about them and about the source."""

from engine.errors import ModelError
from engine.messages import Code, Message
from engine.metrics.units import is_spaced
from engine.models.model_card import ModelCard

AUTO = "auto"
"""The system that a model was trained for."""

_UNTRAINED_SLOT_LENGTH = 16  # ExPosST's, for slots on a model that was not trained for them


def suited_system(requested: str, card: ModelCard) -> str:
    """Return the requested system; for ``auto`` the one that the model was trained for.

    Raises:
        ModelError: it cannot be run so: a model with an encoder and a decoder has no slots, and no
            other model has the two.
    """
    apart = "encoder-decoder"
    if requested == AUTO and card.family:
        return apart
    if requested != AUTO:
        if (requested == apart) != bool(card.family):
            suited = apart if card.family else "retranslate"
            code = Code.SYSTEM_UNFIT
            raise ModelError(code(model=card.name, system=requested, suited=suited))
        return requested
    return "slots" if card.knows_slots else "retranslate"


def makes_drafts(system: str) -> bool:
    """Return whether a system translates all words again and again, instead of by slots."""
    return system not in {"slots", "agreement"}


def suited_slot_length(card: ModelCard, system: str) -> int:
    """Return the default slot length."""
    if not (makes_drafts(system) or card.knows_slots):
        return _UNTRAINED_SLOT_LENGTH
    return card.slot_length


def source_notice(language: str) -> Message | None:
    """Return a notice if a source language has no blanks, at which words are told apart here."""
    return None if is_spaced(language) else Code.SOURCE_UNSPACED()


def mode_notice(card: ModelCard, system: str) -> Message | None:
    """Return a notice if a model was not trained for slots; ``docs/results.md`` has the losses."""
    if card.knows_slots or card.family:
        return None
    code = Code.SLOTS_UNTRAINED if system == "slots" else Code.RETRANSLATES
    return code(model=card.name)
