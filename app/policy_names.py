"""Policies in the words of the person who chooses one."""

from PySide6.QtCore import QCoreApplication


def policy_names() -> list[tuple[str, str, str]]:
    """List the policies that are offered: as the engine writes them, name, explanation."""
    tr = QCoreApplication.translate
    return [
        (
            "read:3",
            tr("Policies", "Every 3 words (fast)"),
            tr("Policies", "Captions move on each time three words have come."),
        ),
        (
            "read:5",
            tr("Policies", "Every 5 words (steady)"),
            tr("Policies", "Captions move on each time five words have come."),
        ),
        (
            "wait:3",
            tr("Policies", "3 words behind (even)"),
            tr("Policies", "A caption word for each word, three words later."),
        ),
        (
            "wait:5",
            tr("Policies", "5 words behind (careful)"),
            tr("Policies", "A caption word for each word, five words later."),
        ),
        (
            "offline",
            tr("Policies", "Whole sentence (best)"),
            tr("Policies", "A sentence is translated when it is complete."),
        ),
    ]
