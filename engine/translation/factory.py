"""Make a translation system: ``slots``, ``retranslate`` for any instruct model, or ``agreement``.

All use the same weights and counters, and have the methods of ``engine.translation.base.System``.
"""

from typing import cast

from engine.loading.weights import Weights
from engine.metrics.event_log import EventLog
from engine.settings import TranslationSettings
from engine.translation.agreement import AgreementTranslator
from engine.translation.base import AnySystem
from engine.translation.factory_names import suited_system
from engine.translation.retranslator import Retranslator
from engine.translation.slot_translator import Translator

_KINDS: dict[str, type[Translator] | type[Retranslator]] = {
    "slots": Translator,
    "retranslate": Retranslator,
    "agreement": AgreementTranslator,
}

SYSTEMS = tuple(_KINDS)


def make_system(
    name: str, weights: Weights, settings: TranslationSettings, *, capacity: int, log: EventLog
) -> AnySystem:
    """Make the system of that name; ``auto`` is the one that the model was trained for.

    Raises:
        ModelError: the model does not know the language, or cannot run the layout.
        PolicyError: the policy is written wrongly.
        ValueError: there is no such system.
    """
    kind = _KINDS.get(suited_system(name, weights.card))
    if kind is None:
        msg = f"a system is one of {', '.join(SYSTEMS)}, got {name!r}"
        raise ValueError(msg)
    # callers pass each system only the utterances that it opened, so their kind does not matter
    return cast("AnySystem", kind(weights, settings, capacity=capacity, log=log))
