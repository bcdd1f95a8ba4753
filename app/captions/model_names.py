"""Resolves ``--model``: a folder, or the name of a model on the Hugging Face hub."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from app.config.text_io import progress_line
from engine.untrusted.plain_files import is_hub_name


def hub_name(named: Path) -> str:
    """Return ``owner/name`` if it is no existing folder, else an empty string."""
    text = named.as_posix()
    return text if is_hub_name(text) and not named.exists() else ""


def fetched_model(named: Path, library: Path) -> Path:
    """Return the folder of a model; one of the hub is downloaded first, with progress on stderr.

    An interrupted download is resumed next time.

    Raises:
        HubError: the download failed.
    """
    name = hub_name(named)
    if not name:
        return named
    from engine.hub.download import Fetching, fetch_model  # noqa: PLC0415  the hub's library is slow to import

    with download_line(name) as progress:
        return fetch_model(name, library, Fetching(progress=progress))


@contextlib.contextmanager
def download_line(name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of the downloaded and all bytes that shows both in one line on stderr."""
    with progress_line() as show:
        yield lambda done, total: show(
            f"downloading {name}: {done / 1e9:.2f} of {total / 1e9:.2f} GB"
        )
