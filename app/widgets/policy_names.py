"""Names and explanations of the policies on offer, by what docs/results.md measured: their lag."""

from PySide6.QtCore import QCoreApplication


def policy_names() -> list[tuple[str, str, str]]:
    """Return the policies on offer: as the engine writes them, name, explanation."""
    return [
        (
            "read:3",
            QCoreApplication.translate("Policies", "Every 3 words (early)"),
            QCoreApplication.translate(
                "Policies", "Captions move on each time three words have come."
            ),
        ),
        (
            "read:5",
            QCoreApplication.translate("Policies", "Every 5 words (a little later)"),
            QCoreApplication.translate(
                "Policies", "Captions move on each time five words have come."
            ),
        ),
        (
            "wait:3",
            QCoreApplication.translate("Policies", "3 words behind (word by word)"),
            QCoreApplication.translate(
                "Policies", "A caption word for each word, three words later."
            ),
        ),
        (
            "wait:5",
            QCoreApplication.translate("Policies", "5 words behind (word by word)"),
            QCoreApplication.translate(
                "Policies", "A caption word for each word, five words later."
            ),
        ),
        (
            "offline",
            QCoreApplication.translate("Policies", "Whole sentence (latest)"),
            QCoreApplication.translate(
                "Policies",
                "A sentence is translated when it is complete. With the bundled model that is "
                "hardly better than every 5 words.",
            ),
        ),
    ]
