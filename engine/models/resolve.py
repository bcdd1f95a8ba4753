"""Decide how a model translates: by which system, under which policy, in which slots.

Every translator asks here about its model (``engine.translation.conversation``), and so does code
that must know before a model is loaded; nobody else decides it.
"""

from dataclasses import dataclass

from engine.errors import ModelError, PolicyError
from engine.messages import Code, Message
from engine.models.model_card import ModelCard
from engine.policy import Policy, Stable, parse_policy
from engine.settings import SOUND, SYSTEMS, LayoutSettings, TranslationSettings, check_choice

AUTO = "auto"
"""The system that a model was trained for."""

STANDARD_POLICY, STANDARD_OF_DRAFTS = "read:5:7", "stable:2"
"""Where none was chosen: by seconds and BLEU in docs/results.md."""

POLICY_OF_RECORDINGS = "offline"
"""For what nobody waits for: each sentence is read to its end, which gives the best captions."""

_NOTHING = TranslationSettings()
_APART = "encoder-decoder"
_OF_DRAFTS = frozenset({_APART, "retranslate"})
_UNTRAINED_SLOT_LENGTH = 16  # ExPosST's, for slots on a model that was not trained for them


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """How a model translates: by one of ``SYSTEMS`` other than auto, with notices for people."""

    system: str
    policy: Policy
    layout: LayoutSettings
    notices: tuple[Message, ...]

    @property
    def makes_drafts(self) -> bool:
        """Whether all words are translated again and again, instead of by slots."""
        return self.system in _OF_DRAFTS


def resolve(
    card: ModelCard,
    system: str = AUTO,
    wanted: TranslationSettings = _NOTHING,
    *,
    replaces_policy: bool = False,
) -> Resolved:
    """Decide how a model translates; what is not asked for is as the model was trained.

    Args:
        card: of the adapter in use, else of the model.
        wanted: its policy and layout count.
        replaces_policy: a policy that the system cannot follow is replaced, with a notice.

    Raises:
        ModelError: the model cannot be run by this system.
        PolicyError: the policy is written wrongly, or needs what the model does not have.
        ValueError: there is no such system.
    """
    kind = _system(card, system)
    slotted = kind not in _OF_DRAFTS
    notices = list[Message]()
    if not (card.knows_slots or card.family):
        code = Code.SLOTS_UNTRAINED if slotted else Code.RETRANSLATES
        notices.append(code(model=card.name))
    policy = suited_policy(wanted.policy, makes_drafts=not slotted)
    if wanted.policy and policy != wanted.policy:
        if not replaces_policy:
            raise PolicyError(Code.POLICY_OF_DRAFTS(text=wanted.policy))
        notices.append(Code.POLICY_REPLACED(model=card.name))
    untrained = slotted and not card.knows_slots
    length = _UNTRAINED_SLOT_LENGTH if untrained else card.slot_length
    return Resolved(
        system=kind,
        policy=parse_policy(policy),
        layout=wanted.layout or LayoutSettings(slot_length=length, name=card.layout),
        notices=tuple(notices),
    )


def check_policy(text: str) -> str:
    """Check a policy as far as that needs no model, and return it as the engine writes it.

    Raises:
        PolicyError: it is written wrongly.
    """
    return str(parse_policy(text))


def suited_policy(policy: str, *, makes_drafts: bool) -> str:
    """Return a policy, or the standard one where none was chosen or drafts are missing for it.

    Raises:
        PolicyError: it is written wrongly.
    """
    if policy and (makes_drafts or not isinstance(parse_policy(policy), Stable)):
        return policy
    return STANDARD_OF_DRAFTS if makes_drafts else STANDARD_POLICY


def _system(card: ModelCard, asked: str) -> str:
    if asked == SOUND:
        if card.speech is None:
            raise ModelError(Code.NO_SPEECH_ENCODER(model=card.name))
        return asked
    check_choice("the system", asked, SYSTEMS)
    if asked == AUTO and card.knows_slots:
        return "slots"
    suited = _APART if card.family else "retranslate"
    if asked == AUTO:
        return suited
    if (asked == _APART) != bool(card.family):  # the one kind has no slots, the other no two halves
        raise ModelError(Code.SYSTEM_UNFIT(model=card.name, system=asked, suited=suited))
    return asked
