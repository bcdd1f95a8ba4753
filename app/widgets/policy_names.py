"""Names and explanations of the policies on offer, by what docs/results.md measured: their lag."""

from PySide6.QtCore import QCoreApplication

from engine.messages import tr

_POLICIES = {
    "read:3": (
        tr("Every 3 words (early)"),
        tr("Captions move on each time three words have come."),
    ),
    "read:5": (
        tr("Every 5 words (a little later)"),
        tr("Captions move on each time five words have come."),
    ),
    "wait:3": (
        tr("3 words behind (word by word)"),
        tr("A caption word for each word, three words later."),
    ),
    "wait:5": (
        tr("5 words behind (word by word)"),
        tr("A caption word for each word, five words later."),
    ),
    "offline": (
        tr("Whole sentence (latest)"),
        tr(
            "A sentence is translated when it is complete. With the bundled model that is hardly "
            "better than every 5 words."
        ),
    ),
}


def policy_names() -> list[tuple[str, str, str]]:
    """Return the policies on offer: as the engine writes them, name, explanation."""
    translate = QCoreApplication.translate
    return [
        (policy, translate("", name), translate("", explanation))
        for policy, (name, explanation) in _POLICIES.items()
    ]
