"""Names and explanations of the policies on offer."""

from PySide6.QtCore import QCoreApplication

from engine.messages import tr

_POLICIES = {
    "read:3": (tr("Every 3 words (fast)"), tr("Captions move on each time three words have come.")),
    "read:5": (
        tr("Every 5 words (steady)"),
        tr("Captions move on each time five words have come."),
    ),
    "wait:3": (tr("3 words behind (even)"), tr("A caption word for each word, three words later.")),
    "wait:5": (
        tr("5 words behind (careful)"),
        tr("A caption word for each word, five words later."),
    ),
    "offline": (
        tr("Whole sentence (best)"),
        tr("A sentence is translated when it is complete."),
    ),
}


def policy_names() -> list[tuple[str, str, str]]:
    """Return the policies on offer: as the engine writes them, name, explanation."""
    translate = QCoreApplication.translate
    return [
        (policy, translate("", name), translate("", explanation))
        for policy, (name, explanation) in _POLICIES.items()
    ]
