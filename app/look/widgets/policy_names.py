"""Names and explanations of the timings on offer: three where a model has slots, two of drafts.

Every other policy has no name; settings and the command line take it as the engine writes it.
"""

from collections.abc import Collection

from PySide6.QtCore import QCoreApplication, QLocale

from engine.hub.catalogue import MOONSHINE, STREAMING_MODELS, WHISPER_MODELS
from engine.messages import tr

_EARLY = (
    "read:3",
    tr("Early"),
    tr("Captions move on with every three words: sooner, and less sure."),
)
_BALANCED = "", tr("Balanced (recommended)"), tr("A few words are read before captions move on.")
_SURE = (
    "offline",
    tr("Sure"),
    tr("A sentence is translated when it is complete; long ones come later."),
)

_ABOUT = tr("About {} seconds from a word to its caption.")
_MEASURED = tr("Measured here: {} seconds from a word to its caption.")

_SECONDS: tuple[tuple[Collection[str], dict[str, float]], ...] = (
    ((MOONSHINE,), {"read:3": 1.22, "": 1.60, "offline": 2.40}),
    (STREAMING_MODELS, {"read:3": 0.97, "": 1.42, "offline": 2.21}),
    (
        (*WHISPER_MODELS, *WHISPER_MODELS.values()),
        {"read:3": 2.24, "": 2.68, "offline": 3.31},
    ),
)
"""By speech model and timing: the median from a word's end to its caption in chat, without
computing (docs/results.md, Seconds)."""


def policy_names(
    recognizer: str = "",
    step_s: float = 0.0,
    heard: tuple[str, float] | None = None,
    *,
    makes_drafts: bool = False,
) -> list[tuple[str, str, str]]:
    """Return the timings on offer: as the engine writes them, name, explanation with seconds.

    The one of no choice, written as an empty policy, is the standard one of the model. A model that
    re-translates has nothing earlier: its drafts must agree before anything is shown.

    Seconds are what was measured of a timing, and of the others as much more or less as in our
    table; before that the table and a step. Of what is in neither there are none.

    Args:
        step_s: what this computer takes to translate a few words.
        heard: a timing, and the measured median from a word's end to its caption under it.
        makes_drafts: the model re-translates, of which there is no table.
    """
    offered = (_BALANCED, _SURE) if makes_drafts else (_EARLY, _BALANCED, _SURE)
    known = () if makes_drafts else _SECONDS
    table = next((row for names, row in known if recognizer in names), dict[str, float]())
    later_s = step_s
    if heard is not None and heard[0] in table:
        later_s = heard[1] - table[heard[0]]
    told = {policy: _told(_ABOUT, max(0.0, seconds + later_s)) for policy, seconds in table.items()}
    if heard is not None:
        told[heard[0]] = _told(_MEASURED, heard[1])
    translate = QCoreApplication.translate
    return [
        (policy, translate("", name), translate("", tip) + told.get(policy, ""))
        for policy, name, tip in offered
    ]


def _told(text: str, seconds: float) -> str:
    number = QLocale().toString(seconds, "f", 1)
    return f" {QCoreApplication.translate('', text).format(number)}"


def unoffered_policy(policy: str) -> tuple[str, str, str]:
    """Return the entry of a policy that is chosen and not on offer."""
    return policy, policy, ""
