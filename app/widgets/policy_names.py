"""Names and explanations of the policies on offer, by what docs/results.md measured: their lag."""

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, QLocale

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

_ADAPTIVE = (
    tr("When it knows enough (about {lag} words behind)"),
    tr("Captions move on as soon as the model finds that it has read enough."),
)
_STEP = 0.5
"""Words by which the lags of two timings on offer differ, at least."""


def policy_names() -> list[tuple[str, str, str]]:
    """Return the policies on offer: as the engine writes them, name, explanation."""
    translate = QCoreApplication.translate
    return [
        (policy, translate("", name), translate("", explanation))
        for policy, (name, explanation) in _POLICIES.items()
    ]


def adaptive_names(lags: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Return the adaptive policies on offer, likewise, by the lag of a model at each tau."""
    name, explanation = (QCoreApplication.translate("", text) for text in _ADAPTIVE)
    offered = list[tuple[str, str, str]]()
    last = -_STEP
    for tau, lag in sorted(lags.items(), key=lambda item: float(item[0])):
        if lag - last >= _STEP:
            last = lag
            words = QLocale().toString(lag, "f", 1)
            offered.append((f"adaptive:{tau}", name.format(lag=words), explanation))
    return offered
