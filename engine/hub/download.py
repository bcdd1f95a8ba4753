"""Find a model of the Hugging Face hub on this computer, or fetch it.

``find_model`` never uses the network; ``fetch_model`` does if it finds nothing, or ``again``, which
mends what is damaged of a folder. A model gets its folder once all of its files are complete and
match the hub's hashes. Until then they are in a hidden folder beside it, so that an interrupted
fetch can resume; that folder is deleted if its files cannot be trusted or the disk is full. A
connection that stalls, breaks or ends early is replaced by one that resumes at the last byte.

The hub is not trusted: its list is parsed by ``strict_json``, its names of revisions and files
become paths only if they are plain names, redirects stay within HTTP and HTTPS, no text of it is
shown to people as it came, and nothing but the hidden folder is ever deleted.
huggingface_hub's own download does not resume, does not check hashes, and trusts the list; so only
its settings, headers and cache are used.
"""

import contextlib
import errno
import hashlib
import http.client
import re
import shutil
import ssl
import string
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path, PurePosixPath
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit

from huggingface_hub import constants
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # it is public

from engine.errors import FetchCancelledError, HubError, ModelError, message_of
from engine.files import ByteCount
from engine.hub.catalogue import revision_of
from engine.messages import Code, Message
from engine.models.encoder_decoder.original import PIECES
from engine.models.fingerprint import read_footprint
from engine.untrusted.faults import refuse
from engine.untrusted.plain_files import (
    delete_hidden,
    file_sha256,
    folder_of,
    is_hub_name,
    is_plain_name,
    swap_folder,
)
from engine.untrusted.strict_json import JsonObject, shown

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelKind:
    """The files of a kind of model.

    Attributes:
        essential: end of a file name that every such model has.
        what: its name for people.
        is_wanted: returns whether a file of this name belongs to the model.
        check: raises ``ModelError`` or ``OSError`` if a folder does not hold a complete model.
    """

    essential: str
    what: str
    is_wanted: Callable[[str], bool]
    check: Callable[[Path], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """How a model is fetched.

    Attributes:
        settings: of the hub; None for those of every model.
        progress: called on the calling thread with bytes fetched and in all, up to 500 times.
        cancelled: called before each piece; True ends the fetch.
    """

    settings: HubSettings | None = None
    progress: Progress = lambda _done, _total: None
    cancelled: Callable[[], bool] = lambda: False


def _check_language_model(folder: Path) -> None:
    read_footprint(folder)
    if any((folder / name).exists() for name in PIECES):  # instead of it, or beside it
        return
    if not (folder / "tokenizer.json").exists():
        raise ModelError(Code.FOLDER_HAS_NO(folder=str(folder), name="tokenizer.json"))


_ALSO = frozenset({*PIECES, "README.md"})
"""What models with an encoder and a decoder have; README.md names their licence."""

LANGUAGE_MODEL = ModelKind(
    essential=".safetensors",
    what="safetensors",
    is_wanted=lambda name: (
        name in _ALSO or PurePosixPath(name).suffix in (".json", ".safetensors", ".jinja")
    ),
    check=_check_language_model,
)

_STEPS = 500  # of a progress bar
_LONGEST_FILE_NAME = 128
_MOST_FILES = 1000
_MAX_LIST_BYTES = 1 << 23
_COMMIT = re.compile("[0-9a-f]{40}")


def find_model(name: str, library: Path, kind: ModelKind = LANGUAGE_MODEL) -> Path | None:
    """Return the folder of a model in the library or in the cache of huggingface_hub, or None.

    Args:
        name: as on the hub, for example Qwen/Qwen2.5-7B-Instruct.
        kind: decides whether a cached model is complete.

    Raises:
        HubError: this is no name of a model.
    """
    folder = model_folder(name, library)
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download  # noqa: PLC0415  slow, and only where asked
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    try:
        cached = Path(snapshot_download(name, local_files_only=True))
        kind.check(cached)
    except (LocalEntryNotFoundError, OSError, ModelError):  # missing, or incomplete
        return None
    return cached


def fetch_model(
    name: str,
    library: Path,
    wanted: Fetching | None = None,
    *,
    kind: ModelKind = LANGUAGE_MODEL,
    again: bool = False,
) -> Path:
    """Return the folder of a model on this computer, or fetch it from the hub into the library.

    Args:
        library: folder of models, created if necessary.
        again: fetch it in any case. Of a folder that is there, files that match the hub's hashes
            stay, and others are fetched; what was converted from them goes, since it may be
            damaged. Until all files are here the folder stays as it is.

    Raises:
        HubError: it cannot be fetched; one sentence says why and what to do.
        FetchCancelledError: the fetch was cancelled; the next one resumes.
    """
    found = None if again else find_model(name, library, kind)
    return found or _fetched(name, library, wanted or Fetching(), kind)


def _fetched(name: str, library: Path, wanted: Fetching, kind: ModelKind) -> Path:
    settings = wanted.settings or HubSettings()
    revision, files = _listed(name, settings, kind, wanted.cancelled)
    folder = model_folder(name, library)
    staging = library / f".{folder.name}.{revision[:12]}"
    fetch = Fetch(name, staging, settings, in_steps(wanted.progress), wanted.cancelled)
    try:
        _drop_others(folder, staging)
        staging.mkdir(parents=True, exist_ok=True)
        _take_whole(folder, fetch, files)
        _check_room(fetch, files)
        for file in files:
            if not fetch_file(fetch, file, files):
                delete_hidden(staging, library)
                raise HubError(Code.HUB_NOT_SENT_AS_PROMISED(file=file.name, name=name))
        swap_folder(staging, folder)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            delete_hidden(staging, library)
        message = Code.HUB_CANNOT_WRITE(name=name, folder=str(library), reason=message_of(error))
        raise HubError(message) from error
    return folder


def _take_whole(folder: Path, fetch: Fetch, files: Sequence[HubFile]) -> None:
    for file in files if folder.is_dir() else ():
        if fetch.cancelled():
            raise FetchCancelledError(Code.HUB_CANCELLED(name=fetch.name))
        old, new = folder / file.name, fetch.staging / file.name
        is_good = False
        with contextlib.suppress(OSError):  # it is missing, or the disk cannot read it
            is_good = not old.is_symlink() and is_whole(old, file)
        if is_good and not new.exists():
            try:
                new.hardlink_to(old)
            except OSError:  # not every disk has them
                shutil.copyfile(old, new)


def in_steps(progress: Progress) -> Progress:
    """Limit the calls of ``progress`` to one for each step of a bar."""
    last = -1

    def report(done: int, total: int) -> None:
        nonlocal last
        step = _STEPS * done // max(total, 1)
        if step != last:
            last = step
            progress(done, total)

    return report


def model_folder(name: str, library: Path) -> Path:
    """Return the folder of a model in a library; two hyphens replace the slash of its name.

    Raises:
        HubError: this is no name of a model.
    """
    if not is_hub_name(name):
        raise HubError(Code.HUB_BAD_NAME(name=shown(name)))
    return library / folder_of(name)


def _listed(
    name: str, settings: HubSettings, kind: ModelKind, cancelled: Callable[[], bool]
) -> tuple[str, list[HubFile]]:
    if constants.HF_HUB_OFFLINE:
        raise HubError(Code.HUB_OFFLINE(name=name))
    endpoint = settings.endpoint or constants.ENDPOINT
    named = revision_of(name)
    path = f"{name}/revision/{quote(named, safe='')}" if named else name
    url = f"{endpoint}/api/models/{path}?blobs=true"
    try:
        content = fetch_answer(url, settings, cancelled, _MAX_LIST_BYTES)
    except FetchCancelledError as error:
        raise FetchCancelledError(Code.HUB_CANCELLED(name=name)) from error
    except HubError as error:
        raise HubError(Code.HUB_FAILED(name=name, reason=error.message)) from error
    except FAILURES as error:
        raise HubError(_refusal(name, endpoint, error)) from error
    if content.lstrip().startswith(b"<"):
        raise HubError(Code.HUB_WEB_PAGE(name=name))
    try:
        revision, files = _parsed(content, f"{endpoint}/{name}/resolve", kind)
    except ValueError as error:
        raise HubError(Code.HUB_BAD_LIST(name=name, reason=message_of(error))) from error
    if not any(file.name.endswith(kind.essential) for file in files):
        raise HubError(Code.HUB_NO_WEIGHTS(name=name, what=kind.what))
    return revision, files


def _parsed(content: bytes, address: str, kind: ModelKind) -> tuple[str, list[HubFile]]:
    listing = JsonObject.parse(content)
    revision = listing.text("sha")
    if not _COMMIT.fullmatch(revision):
        refuse(f"'sha' should be forty hexadecimal digits, got {shown(revision)}")
    files = []
    for entry in listing.inners("siblings"):
        name = entry.text("rfilename")
        if is_plain_name(name, _LONGEST_FILE_NAME) and kind.is_wanted(name):
            files.append(_file(entry, name, f"{address}/{revision}/{name}"))
    if len(files) > _MOST_FILES:
        refuse(f"it names {len(files)} files, and {_MOST_FILES} are the most")
    return revision, files


def _file(entry: JsonObject, name: str, url: str) -> HubFile:
    n_bytes = entry.integer("size", most=2**63 - 1)
    if entry.values.get("lfs") is not None:
        digest = entry.inner("lfs").sha256("sha256")
        return HubFile(name, url, n_bytes, digest, is_blob=False)
    digest = entry.text("blobId")
    if not _COMMIT.fullmatch(digest):
        refuse(f"'blobId' should be forty hexadecimal digits, got {shown(digest)}")
    return HubFile(name, url, n_bytes, digest, is_blob=True)


def _refusal(name: str, endpoint: str, error: Exception) -> Message:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Code.HUB_CERTIFICATE(name=name, reason=cause.verify_message)
    if isinstance(cause, OSError) and not isinstance(error, HTTPError):
        host = urlsplit(endpoint).hostname or shown(endpoint)
        return Code.HUB_UNREACHABLE(host=host, reason=reason_of(error))
    return Code.HUB_REFUSED(name=name, reason=reason_of(error))


def _drop_others(folder: Path, staging: Path) -> None:
    """Delete unfinished fetches of other revisions, and links in place of the staging folder."""
    begun = re.compile(rf"\.{re.escape(folder.name)}\.[0-9a-f]{{12}}")
    for other in folder.parent.glob(".*"):
        fresh = other == staging and other.is_dir() and not other.is_symlink()
        if begun.fullmatch(other.name) and not fresh:
            delete_hidden(other, folder.parent)


def _check_room(fetch: Fetch, files: Sequence[HubFile]) -> None:
    missing = sum(file.n_bytes for file in files) - fetched_bytes(fetch.staging)
    free = shutil.disk_usage(fetch.staging).free
    if missing > free:
        name, folder = fetch.name, str(fetch.staging.parent)
        sizes = {"missing": ByteCount(missing), "free": ByteCount(free)}
        raise HubError(Code.HUB_NO_ROOM(name=name, folder=folder, **sizes))
