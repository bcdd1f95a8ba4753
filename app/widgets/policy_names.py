"""Names and explanations of the policies on offer."""

from PySide6.QtCore import QCoreApplication


def policy_names() -> list[tuple[str, str, str]]:
    """Return the policies on offer: as the engine writes them, name, explanation."""
    return [
        (
            "read:3",
            QCoreApplication.translate("Policies", "Every 3 words (fast)"),
            QCoreApplication.translate(
                "Policies", "Captions move on each time three words have come."
            ),
        ),
        (
            "read:5",
            QCoreApplication.translate("Policies", "Every 5 words (steady)"),
            QCoreApplication.translate(
                "Policies", "Captions move on each time five words have come."
            ),
        ),
        (
            "wait:3",
            QCoreApplication.translate("Policies", "3 words behind (even)"),
            QCoreApplication.translate(
                "Policies", "A caption word for each word, three words later."
            ),
        ),
        (
            "wait:5",
            QCoreApplication.translate("Policies", "5 words behind (careful)"),
            QCoreApplication.translate(
                "Policies", "A caption word for each word, five words later."
            ),
        ),
        (
            "offline",
            QCoreApplication.translate("Policies", "Whole sentence (best)"),
            QCoreApplication.translate("Policies", "A sentence is translated when it is complete."),
        ),
    ]
