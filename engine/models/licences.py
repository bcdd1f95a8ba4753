"""What the name of a licence says, as the hub writes it."""


def forbids_commerce(licence: str) -> bool:
    """Return whether a licence forbids commercial use, such as CC-BY-NC-4.0."""
    return "nc" in licence.lower().split("-")
