"""A model by its name on the Hugging Face hub: found on this computer, or fetched when asked.

``find_model`` never touches the network. ``fetch_model`` does, and only where nothing is found. A
model stands under its name when all of its files are there and are what the hub says they are; what
is not whole lies in a hidden folder beside it, so that a fetch that was broken off goes on where it
was, and is thrown away where it cannot be trusted or the disk is full.

The hub is a stranger: its list is read as ``strict_json`` reads files of strangers, what it calls a
revision or a file becomes a path only if it is a plain name, and only what was begun here is ever
deleted. huggingface_hub's own download begins again after a stop, does not hold the bytes against
their hashes, and believes the list; so only its settings, headers and cache are used.
"""

import errno
import re
import shutil
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.error import URLError

from huggingface_hub import constants

from engine.errors import FetchCancelledError, HubError, ModelError
from engine.files import bytes_text
from engine.hub.transfer import (
    FAILURES,
    Fetch,
    HubFile,
    HubSettings,
    Progress,
    fetch_answer,
    fetch_file,
    reason_of,
    there,
)
from engine.messages import Code, Message
from engine.models.memory_footprint import read_footprint
from engine.untrusted.safe_names import delete_hidden, is_hub_name, is_plain_name
from engine.untrusted.strict_json import JsonObject, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelKind:
    """What is fetched of a model, and what makes it whole.

    Attributes:
        essential: how the name of a file ends that every such model has.
        what: such a model, for people.
        is_wanted: tells of a file's name whether it belongs to the model.
        check: raises ``ModelError`` or ``OSError`` where a folder does not hold a whole model.
    """

    essential: str
    what: str
    is_wanted: Callable[[str], bool]
    check: Callable[[Path], object]


def _check_language_model(folder: Path) -> None:
    read_footprint(folder)
    if not (folder / "tokenizer.json").exists():
        msg = f"{folder} has no tokenizer.json: name another folder"
        raise ModelError(msg)


LANGUAGE_MODEL = ModelKind(
    essential=".safetensors",
    what="safetensors",
    is_wanted=lambda name: PurePosixPath(name).suffix in (".json", ".safetensors", ".jinja"),
    check=_check_language_model,
)

_STEPS = 500  # of a progress bar
_LONGEST_FILE_NAME = 128
_MOST_FILES = 1000
_MAX_LIST_BYTES = 1 << 23
_COMMIT = re.compile("[0-9a-f]{40}")


def find_model(name: str, library: Path, kind: ModelKind = LANGUAGE_MODEL) -> Path | None:
    """Find a model on this computer: in the library, else in the cache of huggingface_hub.

    Args:
        name: as on the hub, for example Qwen/Qwen2.5-7B-Instruct.
        library: folder of models.
        kind: what makes it whole.

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
    except (LocalEntryNotFoundError, OSError, ModelError):  # not there, or not all of it
        return None
    return cached


def fetch_model(
    name: str,
    library: Path,
    settings: HubSettings | None = None,
    *,
    kind: ModelKind = LANGUAGE_MODEL,
    progress: Progress = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """Find a model on this computer, or fetch it from the hub into the library.

    Args:
        name: as on the hub.
        library: folder of models; it is made.
        settings: of the hub.
        kind: what belongs to it.
        progress: called on the thread that called, as often as a bar of 500 steps can move.
        cancelled: asked before every piece.

    Returns:
        the model's folder.

    Raises:
        HubError: it cannot be fetched; one sentence says why and what to do.
        FetchCancelledError: ``cancelled`` said so; what is there is kept for the next time.
    """
    found = find_model(name, library, kind)
    if found is not None:
        return found
    settings = settings or HubSettings()
    revision, files = _listed(name, settings, kind, cancelled)
    folder = model_folder(name, library)
    staging = library / f".{folder.name}.{revision[:12]}"
    fetch = Fetch(name, staging, settings, in_steps(progress), cancelled)
    try:
        _drop_others(folder, staging)
        staging.mkdir(parents=True, exist_ok=True)
        _check_room(fetch, files)
        for file in files:
            if not fetch_file(fetch, file, files):
                delete_hidden(staging, library)
                raise HubError(Code.HUB_NOT_SENT_AS_PROMISED(file=file.name, name=name))
        staging.rename(folder)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            delete_hidden(staging, library)
        reason = error.strerror or str(error)
        message = Code.HUB_CANNOT_WRITE(name=name, folder=str(library), reason=reason)
        raise HubError(message) from error
    return folder


def in_steps(progress: Progress) -> Progress:
    """Pass on only the progress that moves a bar: a million pieces are not a million events."""
    last = -1

    def passed_on(done: int, total: int) -> None:
        nonlocal last
        step = _STEPS * done // max(total, 1)
        if step != last:
            last = step
            progress(done, total)

    return passed_on


def model_folder(name: str, library: Path) -> Path:
    """Return the folder of a model in a library; hyphens stand for the slash in its name.

    Raises:
        HubError: this is no name of a model.
    """
    if not is_hub_name(name):
        raise HubError(Code.HUB_BAD_NAME(name=shown(name)))
    return library / name.replace("/", "--")


def _listed(
    name: str, settings: HubSettings, kind: ModelKind, cancelled: Callable[[], bool]
) -> tuple[str, list[HubFile]]:
    """Ask the hub for a model's newest revision and the files that are needed of it.

    Raises:
        HubError: it has none, gives none, or gives a list that cannot be used.
        FetchCancelledError: ``cancelled`` said so.
    """
    if constants.HF_HUB_OFFLINE:
        raise HubError(Code.HUB_OFFLINE(name=name))
    endpoint = settings.endpoint or constants.ENDPOINT
    url = f"{endpoint}/api/models/{name}?blobs=true"
    try:
        content = fetch_answer(url, settings, cancelled, _MAX_LIST_BYTES)
    except FetchCancelledError as error:
        raise FetchCancelledError(Code.HUB_CANCELLED(name=name)) from error
    except HubError as error:
        raise HubError(Code.HUB_FAILED(name=name, reason=error.message)) from error
    except FAILURES as error:
        raise HubError(_refusal(name, error)) from error
    try:
        revision, files = _parsed(content, f"{endpoint}/{name}/resolve", kind)
    except ValueError as error:
        raise HubError(Code.HUB_BAD_LIST(name=name, reason=str(error))) from error
    if not any(file.name.endswith(kind.essential) for file in files):
        raise HubError(Code.HUB_NO_WEIGHTS(name=name, what=kind.what))
    return revision, files


def _parsed(content: bytes, address: str, kind: ModelKind) -> tuple[str, list[HubFile]]:
    """Take revision and files from the hub's list.

    Raises:
        ValueError: it is garbled; the text is a clause.
    """
    listing = JsonObject.parse(content)
    revision = listing.text("sha")
    if not _COMMIT.fullmatch(revision):
        msg = f"'sha' should be forty hexadecimal digits, got {shown(revision)}"
        raise ValueError(msg)
    files = []
    for entry in listing.inners("siblings"):
        name = entry.text("rfilename")
        if is_plain_name(name, _LONGEST_FILE_NAME) and kind.is_wanted(name):
            files.append(_file(entry, name, f"{address}/{revision}/{name}"))
    if len(files) > _MOST_FILES:
        msg = f"it names {len(files)} files, and {_MOST_FILES} are the most"
        raise ValueError(msg)
    return revision, files


def _file(entry: JsonObject, name: str, url: str) -> HubFile:
    n_bytes = entry.integer("size", most=2**63 - 1)
    if entry.values.get("lfs") is not None:
        digest = entry.inner("lfs").sha256("sha256")
        return HubFile(name, url, n_bytes, digest, is_blob=False)
    digest = entry.text("blobId")
    if not _COMMIT.fullmatch(digest):
        msg = f"'blobId' should be forty hexadecimal digits, got {shown(digest)}"
        raise ValueError(msg)
    return HubFile(name, url, n_bytes, digest, is_blob=True)


def _refusal(name: str, error: Exception) -> Message:
    """Say why the hub gave no list, and what to do."""
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Code.HUB_CERTIFICATE(name=name, reason=cause.verify_message)
    return Code.HUB_REFUSED(name=name, reason=reason_of(error))


def _drop_others(folder: Path, staging: Path) -> None:
    """Throw away what was begun of another revision, and links that stand where a folder should."""
    begun = re.compile(rf"\.{re.escape(folder.name)}\.[0-9a-f]{{12}}")
    for other in folder.parent.glob(".*"):
        fresh = other == staging and other.is_dir() and not other.is_symlink()
        if begun.fullmatch(other.name) and not fresh:
            delete_hidden(other, folder.parent)


def _check_room(fetch: Fetch, files: Sequence[HubFile]) -> None:
    missing = sum(file.n_bytes for file in files) - there(fetch.staging)
    free = shutil.disk_usage(fetch.staging).free
    if missing > free:
        name, folder = fetch.name, str(fetch.staging.parent)
        raise HubError(
            Code.HUB_NO_ROOM(
                name=name, missing=bytes_text(missing), folder=folder, free=bytes_text(free)
            )
        )
