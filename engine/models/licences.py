"""The meaning of a licence's name, as the hub writes it."""

_FOR_ALL = {"mit", "apache-2.0", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "bsd-3-clause"}


def forbids_commerce(licence: str) -> bool:
    """Return whether a licence forbids commercial use, such as CC-BY-NC-4.0."""
    return "nc" in licence.lower().split("-")


def allows_any_use(licence: str) -> bool:
    """Return whether a licence is known to allow every use, commercial use, too."""
    return licence.lower() in _FOR_ALL
