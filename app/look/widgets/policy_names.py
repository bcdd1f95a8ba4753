"""Names and explanations of the timings on offer: three where a model has slots, two of drafts.

Every other policy has no name; settings and the command line take it as the engine writes it.
"""

from PySide6.QtCore import QCoreApplication

from engine.messages import tr

_EARLY = "read:2", tr("Early"), tr("Up to half a second sooner, and less sure.")
_BALANCED = "", tr("Balanced (recommended)"), tr("A few words are read before captions move on.")
_SURE = (
    "offline",
    tr("Sure"),
    tr("A sentence is translated when it is complete: a second or more later."),
)


def policy_names(*, makes_drafts: bool = False) -> list[tuple[str, str, str]]:
    """Return the timings on offer: as the engine writes them, name, explanation.

    The one of no choice, written as an empty policy, is the standard one of the model. A model that
    re-translates has nothing earlier: its drafts must agree before anything is shown.
    """
    translate = QCoreApplication.translate
    offered = (_BALANCED, _SURE) if makes_drafts else (_EARLY, _BALANCED, _SURE)
    return [(policy, translate("", name), translate("", tip)) for policy, name, tip in offered]


def unoffered_policy(policy: str) -> tuple[str, str, str]:
    """Return the entry of a policy that is chosen and not on offer."""
    return policy, policy, ""
