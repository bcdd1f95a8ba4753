"""Which systems there are: ``slots`` is ours, ``retranslate`` is what it is held against.

Both run on the same weights and the same counters, and have the same verbs: ``open`` an utterance,
``set_source`` its words as they come, ``advance`` it.
"""

from engine.event_log import EventLog
from engine.loading import Weights
from engine.retranslator import Retranslator
from engine.settings import TranslationSettings
from engine.translator import Translator

System = Translator | Retranslator

_KINDS: dict[str, type[Translator] | type[Retranslator]] = {
    "slots": Translator,
    "retranslate": Retranslator,
}

SYSTEMS = tuple(_KINDS)


def make_system(
    name: str, weights: Weights, settings: TranslationSettings, *, capacity: int, log: EventLog
) -> System:
    """Make the system of that name.

    Raises:
        ModelError: the model does not know the language.
        PolicyError: the policy is written wrongly.
        ValueError: there is no such system.
    """
    if name not in _KINDS:
        msg = f"a system is one of {', '.join(SYSTEMS)}, got {name!r}"
        raise ValueError(msg)
    return _KINDS[name](weights, settings, capacity=capacity, log=log)
