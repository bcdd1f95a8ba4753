"""Names and explanations of the policies on offer: those of slots by their measured lag.

The lags were measured with slots (docs/results.md). Drafts must agree before anything is shown, so
the same policies are later there and have other names.
"""

from collections.abc import Mapping
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication, QLocale

from engine.messages import tr

_POLICIES = {
    "read:3": (
        tr("Fast (about 3 words behind)"),
        tr("Captions move on each time three words have come."),
    ),
    "read:5": (
        tr("A little later (about 4 words behind)"),
        tr("Captions move on each time five words have come."),
    ),
    "wait:3": (
        tr("Fast, steady (about 3 words behind)"),
        tr("A caption word for each word, three words later."),
    ),
    "wait:5": (
        tr("Later, steady (about 5 words behind)"),
        tr("A caption word for each word, five words later."),
    ),
    "offline": (
        tr("Wait for the whole sentence"),
        tr(
            "A sentence is translated when it is complete. With the bundled model that is hardly "
            "better than captions every five words."
        ),
    ),
}

_ADAPTIVE = (
    tr("When it knows enough (about {lag} words behind)"),
    tr("Captions move on as soon as the model finds that it has read enough."),
)
_ADAPTIVE_UNMEASURED = tr("When it knows enough")

_WAIT = (
    tr("When two drafts agree, from word {n} on"),
    tr("Nothing is shown before {n} words have come, then what two drafts in a row share."),
)
_READ = (
    tr("Every {n} words, if two drafts agree (late)"),
    tr(
        "The sentence is translated again each time {n} words have come; what two drafts in a row "
        "share is shown."
    ),
)
_OF_DRAFTS = {
    "stable:2": (
        tr("When two drafts agree (early)"),
        tr(
            "The sentence is translated again at each word; what two drafts in a row share is "
            "shown."
        ),
    ),
    "stable:3": (
        tr("When three drafts agree (a little later)"),
        tr(
            "The sentence is translated again at each word; what three drafts in a row share is "
            "shown."
        ),
    ),
    "wait:3": _WAIT,
    "wait:5": _WAIT,
    "read:3": _READ,
    "read:5": _READ,
    "offline": (
        tr("Wait for the whole sentence"),
        tr("A sentence is translated when it is complete."),
    ),
}
_STANDARD = (
    tr("Automatic (recommended)"),
    tr("As early as this model can: about every three words, or when it is sure enough."),
)
_STEP = 0.5
"""Words by which the lags of two timings on offer differ, at least."""


def policy_names(
    lags: Mapping[str, float] = MappingProxyType({}), *, makes_drafts: bool = False
) -> list[tuple[str, str, str]]:
    """Return the policies on offer: as the engine writes them, name, explanation.

    Args:
        lags: words that adaptive policies lag, by tau; they are on offer where this was measured.
        makes_drafts: the model re-translates, so that ``stable:N`` is on offer.
    """
    translate = QCoreApplication.translate
    offered = list[tuple[str, str, str]]()
    for policy, texts in (_OF_DRAFTS if makes_drafts else _POLICIES).items():
        number = policy.partition(":")[2]
        name, explanation = (translate("", text).format(n=number) for text in texts)
        offered.append((policy, name, explanation))
    return offered + _adaptive_names(lags)


def standard_entry() -> tuple[str, str, str]:
    """Return the entry of no choice, written as an empty policy."""
    name, explanation = (QCoreApplication.translate("", text) for text in _STANDARD)
    return "", name, explanation


def unoffered_policy(policy: str) -> tuple[str, str, str]:
    """Return the entry of a policy that is chosen and not on offer."""
    if not policy:
        return standard_entry()
    if policy.startswith("adaptive:"):
        translate = QCoreApplication.translate
        return policy, translate("", _ADAPTIVE_UNMEASURED), translate("", _ADAPTIVE[1])
    every = (*policy_names(), *policy_names(makes_drafts=True))
    return next((entry for entry in every if entry[0] == policy), (policy, policy, ""))


def _adaptive_names(lags: Mapping[str, float]) -> list[tuple[str, str, str]]:
    name, explanation = (QCoreApplication.translate("", text) for text in _ADAPTIVE)
    offered = list[tuple[str, str, str]]()
    last = -_STEP
    for tau, lag in sorted(lags.items(), key=lambda item: float(item[0])):
        if lag - last >= _STEP:
            last = lag
            words = QLocale().toString(lag, "f", 1)
            offered.append((f"adaptive:{tau}", name.format(lag=words), explanation))
    return offered
