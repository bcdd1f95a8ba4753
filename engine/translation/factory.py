"""Make a translator by its name: by slots, by re-translation or by an encoder and a decoder."""

from engine.metrics.event_log import EventLog
from engine.models.resolve import resolve
from engine.runtime.causal_model import AnyModel
from engine.runtime.ctranslate2.encoder_decoder_loader import EncoderDecoderWeights
from engine.runtime.loader import AnyWeights
from engine.settings import SOUND, TranslationSettings
from engine.translation.conversation import Conversation
from engine.translation.retranslator import EncoderDecoderTranslator, Retranslator
from engine.translation.slot_translator import Translator
from engine.translation.spoken import SpokenTranslator

TRANSLATORS: dict[str, type[Translator]] = {"slots": Translator, SOUND: SpokenTranslator}
"""Those over slots; research puts its own in the place."""


def make_system(
    name: str,
    weights: AnyWeights,
    settings: TranslationSettings,
    *,
    capacity: int,
    log: EventLog,
    model: AnyModel | None = None,
) -> Conversation:
    """Make the translator of that name; ``auto`` is the one that the model was trained for.

    ``model`` is one of several conversations that compute together; None makes one alone.

    Raises:
        ModelError: the model does not know the language, or cannot run the layout.
        PolicyError: the policy is written wrongly, or the system cannot follow it.
        ValueError: there is no such system.
    """
    kind = resolve(weights.card, name, settings).system
    if isinstance(weights, EncoderDecoderWeights):
        return EncoderDecoderTranslator(weights, settings, capacity=capacity, log=log, model=model)
    make = TRANSLATORS.get(kind, Retranslator)
    return make(weights, settings, capacity=capacity, log=log, model=model)
