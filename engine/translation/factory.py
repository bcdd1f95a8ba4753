"""Make a translation system: by slots, by re-translation or by an encoder-decoder.

All have the methods of ``engine.translation.base.System``. ``slots`` and ``retranslate`` (for any
instruct model) use the same weights and counters.
"""

from typing import TYPE_CHECKING, cast

from engine.metrics.event_log import EventLog
from engine.models.resolve import resolve
from engine.runtime.causal_model import AnyModel
from engine.runtime.loader import AnyWeights
from engine.settings import TranslationSettings
from engine.translation.base import AnySystem
from engine.translation.retranslator import Retranslator
from engine.translation.slot_translator import Translator

if TYPE_CHECKING:
    from engine.runtime.weights import Weights

TRANSLATORS: dict[str, type[Translator]] = {"slots": Translator}
"""Systems over slots by name; research adds to them."""


def make_system(
    name: str,
    weights: AnyWeights,
    settings: TranslationSettings,
    *,
    capacity: int,
    log: EventLog,
    model: AnyModel | None = None,
) -> AnySystem:
    """Make the system of that name; ``auto`` is the one that the model was trained for.

    ``model`` is one of several conversations that compute together; None makes one alone.

    Raises:
        ModelError: the model does not know the language, or cannot run the layout.
        PolicyError: the policy is written wrongly, or the system cannot follow it.
        ValueError: there is no such system.
    """
    kind = resolve(weights.card, name, settings).system
    # callers pass each system only the utterances that it opened, so their kind does not matter
    if kind in TRANSLATORS:
        causal = cast("Weights", weights)  # ``resolve`` lets no other pass
        system = TRANSLATORS[kind](causal, settings, capacity=capacity, log=log, model=model)
        return cast("AnySystem", system)
    retranslator = Retranslator(weights, settings, capacity=capacity, log=log, model=model)
    return cast("AnySystem", retranslator)
