"""What ``--model`` names: a folder, or a model on the Hugging Face hub."""

import sys
from pathlib import Path

from engine.untrusted.safe_names import is_hub_name


def hub_name(named: Path) -> str:
    """Take ``owner/name`` for a name on the hub, unless a folder is called so; else nothing."""
    text = named.as_posix()
    return text if is_hub_name(text) and not named.exists() else ""


def fetched_model(named: Path, library: Path) -> Path:
    """Name the folder of a model; one of the hub is fetched first, and how far that is is told.

    Ctrl+C ends it, and the next time it goes on from there.

    Raises:
        HubError: it cannot be fetched.
    """
    name = hub_name(named)
    if not name:
        return named
    from engine.hub.download import fetch_model  # noqa: PLC0415  the hub's library is slow to import

    told = ""

    def tell(done: int, total: int) -> None:
        nonlocal told
        text = f"surtitle: fetching {name}: {done / 1e9:.2f} of {total / 1e9:.2f} GB"
        if sys.stderr is not None and text != told:
            told = text
            sys.stderr.write(f"\r{text}")

    try:
        return fetch_model(name, library, progress=tell)
    finally:
        if told:
            sys.stderr.write("\n")
