"""The bytes of one file from the hub: over as many connections as it takes, then held to its hash.

What is not whole ends in ``.part``. A connection that stalls, breaks or ends early is made anew
from the byte that came last.
"""

import hashlib
import http.client
import shutil
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # it is public

from engine.errors import FetchCancelledError, HubError
from engine.file_hash import file_sha256

Progress = Callable[[int, int], None]
"""Is told of bytes that are there and bytes in all."""

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSettings:
    """How the hub is spoken to.

    Attributes:
        endpoint: its address; None: the one huggingface_hub knows.
        timeout_s: without a byte for so long, a connection is given up and made anew.
        tries: connections in a row that bring nothing before the fetch is given up.
    """

    endpoint: str | None = None
    timeout_s: float = 10.0
    tries: int = 4


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a model as the hub lists it; ``digest`` is of its bytes, or of its git blob."""

    name: str
    url: str
    n_bytes: int
    digest: str
    is_blob: bool


@dataclass(frozen=True, slots=True)
class Fetch:
    """One fetch: where to, how, and whom to tell."""

    name: str
    staging: Path
    settings: HubSettings
    progress: Progress
    cancelled: Callable[[], bool]


def there(staging: Path) -> int:
    """Count the bytes that are there already."""
    return sum(path.stat().st_size for path in staging.iterdir())


def fetch_file(fetch: Fetch, file: HubFile, files: Sequence[HubFile]) -> None:
    """Fetch what is missing of a file, hold it against its hash, and give it its name.

    Args:
        fetch: which it is part of.
        file: the file.
        files: all files of the fetch, to tell progress of the whole.

    Raises:
        HubError: the hub stopped sending, or sent something else; then nothing is kept.
        FetchCancelledError: somebody wished so.
        OSError: the file cannot be written.
    """
    whole = fetch.staging / file.name
    part = whole.with_name(file.name + ".part")
    if whole.exists():
        return
    total = sum(one.n_bytes for one in files)
    part.touch()
    before = there(fetch.staging) - part.stat().st_size
    failures = 0
    while (had := part.stat().st_size) < file.n_bytes:
        reason = _connect(fetch, file, part, lambda done: fetch.progress(before + done, total))
        failures = 0 if part.stat().st_size > had else failures + 1
        if failures >= fetch.settings.tries:
            done = before + part.stat().st_size
            msg = (
                f"the hub stopped sending {fetch.name} after {done} of {total} bytes ({reason}): "
                "try again later, it goes on from there"
            )
            raise HubError(msg)
    if part.stat().st_size != file.n_bytes or _digest(part, file) != file.digest:
        shutil.rmtree(fetch.staging)
        msg = (
            f"the hub sent a {file.name} of {fetch.name} that is not what it promised: it was "
            "thrown away; try again later or choose another model"
        )
        raise HubError(msg)
    part.rename(whole)


def _connect(fetch: Fetch, file: HubFile, part: Path, tell: Callable[[int], None]) -> str:
    """Append to a part over one connection; say why it ended.

    Raises:
        FetchCancelledError: somebody wished so.
        OSError: the part cannot be written.
    """
    try:
        answer = _open(file, part.stat().st_size, fetch.settings.timeout_s)
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    with answer, part.open("ab") as sink:
        if answer.status == http.HTTPStatus.OK:  # it sends the whole again
            sink.truncate(0)
        while sink.tell() <= file.n_bytes:
            if fetch.cancelled():
                msg = f"fetching {fetch.name} was cancelled: what is there is kept"
                raise FetchCancelledError(msg)
            try:
                piece = answer.read1(_CHUNK)
            except (OSError, http.client.HTTPException) as error:
                return str(error) or type(error).__name__
            if not piece:
                return "the connection ended"
            sink.write(piece)
            tell(sink.tell())
    return "it sent too much"


def _open(file: HubFile, start: int, timeout_s: float) -> http.client.HTTPResponse:
    request = urllib.request.Request(file.url)
    for key, value in build_hf_headers().items():
        request.add_unredirected_header(key, value)  # the token is for the hub alone
    request.add_header("Accept-Encoding", "identity")
    if start:
        request.add_header("Range", f"bytes={start}-")
    return cast("http.client.HTTPResponse", urllib.request.urlopen(request, timeout=timeout_s))


def _digest(part: Path, file: HubFile) -> str:
    """Hash a file as the hub does: large ones plainly, small ones as git hashes a blob."""
    if not file.is_blob:
        return file_sha256(part)
    content = part.read_bytes()
    blob = b"blob %d\0" % len(content) + content
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest()
