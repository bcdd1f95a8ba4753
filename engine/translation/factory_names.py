"""Which way of translating suits a model, and what a person is told of it."""

from engine.messages import Code, Message
from engine.models.model_card import ModelCard

AUTO = "auto"
"""The system that a model was trained for."""

_UNTRAINED_SLOT_LENGTH = 16  # where slots are tried on a model that knows none: ExPosST's


def suited_system(asked: str, card: ModelCard) -> str:
    """Name the system that is used: what was asked for, or what the model was trained for."""
    if asked != AUTO:
        return asked
    return "slots" if card.knows_slots else "retranslate"


def suited_slot_length(card: ModelCard, system: str) -> int:
    """Name the slot length where nobody asked for one."""
    if system == "slots" and not card.knows_slots:
        return _UNTRAINED_SLOT_LENGTH
    return card.slot_length


def mode_notice(card: ModelCard, system: str) -> Message | None:
    """Say which mode runs on a model without an adapter for slots; None where slots were learnt.

    What an adapter gains, and what slots lose without one, is measured in ``docs/results.md``.
    """
    if card.knows_slots:
        return None
    code = Code.SLOTS_UNTRAINED if system == "slots" else Code.RETRANSLATES
    return code(model=card.name)
