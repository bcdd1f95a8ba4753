"""Fetch bytes from the hub: a short answer, or a file over several connections.

A file is checked by its hash; until it is complete its name ends in ``.part``. A connection that
stalls, breaks or ends early is replaced by one that resumes at the last byte. Redirects are limited
to HTTP and HTTPS. No text of a hub is shown to people as it came.
"""

import hashlib
import http.client
import string
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit

from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # it is public

from engine.errors import FetchCancelledError, HubError, message_of
from engine.files import ByteCount
from engine.messages import Code, Message
from engine.untrusted.plain_files import file_sha256

Progress = Callable[[int, int], None]
"""Called with bytes fetched and bytes in all."""

FAILURES = (OSError, http.client.HTTPException, ValueError)
"""Errors of a request without an answer; ValueError if the address is invalid."""

_CHUNK = 1 << 20
_TIMEOUTS = 6  # time limit of a whole answer
_HOPS = 6
_REDIRECTS = (301, 302, 303, 307, 308)
_HANDLERS = (
    *(urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler),
    *(urllib.request.HTTPErrorProcessor, urllib.request.HTTPDefaultErrorHandler),
    urllib.request.UnknownHandler,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSettings:
    """Settings of connections to the hub.

    Attributes:
        endpoint: its address; None for the one of huggingface_hub.
        timeout_s: time without a byte after which a connection is replaced.
        tries: connections in a row without a byte after which the fetch fails.
    """

    endpoint: str | None = None
    timeout_s: float = 10.0
    tries: int = 4


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a model as the hub lists it.

    Attributes:
        name: a plain one (``engine.untrusted.plain_files``), also of the file in the library.
        digest: in hexadecimal; sha256 of its bytes, or with ``is_blob`` sha1 of its git blob.
    """

    name: str
    url: str
    n_bytes: int
    digest: str
    is_blob: bool


@dataclass(frozen=True, slots=True)
class Fetch:
    """One fetch of a model into the staging folder."""

    name: str
    staging: Path
    settings: HubSettings
    progress: Progress
    cancelled: Callable[[], bool]


def fetched_bytes(staging: Path) -> int:
    return sum(path.stat().st_size for path in staging.iterdir())


def fetch_answer(
    url: str, settings: HubSettings, cancelled: Callable[[], bool], most: int
) -> bytes:
    """Fetch one answer of at most ``most`` bytes, within six timeouts, over one connection."""
    content = bytearray()
    until = time.monotonic() + _TIMEOUTS * settings.timeout_s
    with _open(url, 0, settings.timeout_s) as answer:
        while piece := answer.read1(_CHUNK):
            content += piece
            if cancelled():
                raise FetchCancelledError(Code.HUB_CANCELLED(name=url))
            if len(content) > most:
                raise HubError(Code.HUB_ANSWER_TOO_LONG(most=most))
            if time.monotonic() > until:
                raise HubError(Code.HUB_NO_ANSWER(seconds=_TIMEOUTS * settings.timeout_s))
    return bytes(content)


def reason_of(error: Exception) -> Message:
    """Return a clause with the reason why no answer came, without text of the server."""
    if isinstance(error, HTTPError):
        known = [status.phrase for status in http.HTTPStatus if status == error.code]
        return Code.HUB_ANSWERS(status=" ".join([str(error.code), *known]))
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return Code.HUB_TIMED_OUT()
    if isinstance(cause, OSError):
        return message_of(cause) if cause.strerror else Code.HUB_BROKE()
    return Code.HUB_NO_HTTP()


def fetch_file(fetch: Fetch, file: HubFile, files: Sequence[HubFile]) -> bool:
    """Fetch the rest of a file, check its hash, and rename it from its ``.part``.

    ``files`` are all of the fetch, for its progress. Return False for a file without the promised
    length and hash; it remains a ``.part``.
    """
    whole = fetch.staging / file.name
    part = whole.with_name(file.name + ".part")
    if whole.is_file() and whole.stat().st_size == file.n_bytes:  # else the disk lost some of it
        return True
    total = sum(each.n_bytes for each in files)
    part.touch()
    before = fetched_bytes(fetch.staging) - part.stat().st_size
    failures = 0
    if part.stat().st_size:
        fetch.progress(before + part.stat().st_size, total)  # what a fetch before has left
    while (had := part.stat().st_size) < file.n_bytes:
        reason = _connect(fetch, file, part, lambda done: fetch.progress(before + done, total))
        failures = 0 if part.stat().st_size > had else failures + 1
        if failures >= fetch.settings.tries:
            done = before + part.stat().st_size
            sizes = {"done": ByteCount(done), "total": ByteCount(total)}
            raise HubError(Code.HUB_STOPPED(name=fetch.name, reason=reason, **sizes))
    if not is_whole(part, file):
        return False
    part.replace(whole)
    return True


def is_whole(path: Path, file: HubFile) -> bool:
    """Return whether a file has the length and the hash that the hub lists; raise OSError."""
    return path.stat().st_size == file.n_bytes and _digest(path, file) == file.digest


def _connect(
    fetch: Fetch, file: HubFile, part: Path, progress: Callable[[int], None]
) -> str | Message:
    """Append to a part over one connection; return the reason why it ended."""
    try:
        answer = _open(file.url, part.stat().st_size, fetch.settings.timeout_s)
    except FAILURES as error:
        return reason_of(error)
    with answer, part.open("ab") as sink:
        if answer.status == http.HTTPStatus.OK:  # the server does not resume
            sink.truncate(0)
        while sink.tell() <= file.n_bytes:
            if fetch.cancelled():
                raise FetchCancelledError(Code.HUB_CANCELLED(name=fetch.name))
            try:
                piece = answer.read1(_CHUNK)
            except FAILURES as error:
                return reason_of(error)
            if not piece:
                return "the connection ended"
            sink.write(piece)
            progress(sink.tell())
    return "it sent too much"


def _open(url: str, start: int, timeout_s: float) -> HTTPResponse:
    """Request an address from a byte on and follow redirects; raises ``FAILURES``."""
    opener = urllib.request.OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    home = urlsplit(url)[:2]  # protocol and host
    for _ in range(_HOPS):
        headers = build_hf_headers() if urlsplit(url)[:2] == home else {}  # a token is in them
        headers |= {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
        request = urllib.request.Request(url, headers=headers)
        try:
            return cast("HTTPResponse", opener.open(request, timeout=timeout_s))
        except HTTPError as error:
            error.close()
            if error.code not in _REDIRECTS or "Location" not in error.headers:
                raise
            given = quote(error.headers["Location"], safe=string.punctuation, encoding="latin-1")
            url = urljoin(url, given)
        if home[0] == "https" and urlsplit(url).scheme != "https":
            raise URLError(OSError(0, Code.HUB_NOT_SECURE()))
    raise URLError(OSError(0, Code.HUB_SENDS_ON()))


def _digest(part: Path, file: HubFile) -> str:
    """Hash a file as the hub does: a large one by sha256, a small one as a git blob."""
    if not file.is_blob:
        return file_sha256(part)
    digest = hashlib.sha1(b"blob %d\0" % part.stat().st_size, usedforsecurity=False)
    with part.open("rb") as content:
        return hashlib.file_digest(content, lambda: digest).hexdigest()
