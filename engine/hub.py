"""A model by its name on the Hugging Face hub: found on this computer, or fetched when asked.

``find_model`` never touches the network. ``fetch_model`` does, and only where nothing is found. A
model stands under its name when all of its files are there and are what the hub says they are; what
is not whole lies in a hidden folder beside it, so that a fetch that was broken off goes on where it
was, and is thrown away where it cannot be trusted or the disk is full.

huggingface_hub lists the files. Their bytes are read here: its own download begins again after a
stop, and does not hold the bytes against their hashes.
"""

import errno
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from engine.errors import HubError, ModelError
from engine.footprint import read_footprint
from engine.hub_transfer import Fetch, HubFile, HubSettings, Progress, fetch_file, there


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

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


def find_model(name: str, library: Path, kind: ModelKind = LANGUAGE_MODEL) -> Path | None:
    """Find a model on this computer: in the library, else in the cache of huggingface_hub.

    Args:
        name: as on the hub, for example Qwen/Qwen2.5-7B-Instruct.
        library: folder of models.
        kind: what makes it whole.

    Raises:
        HubError: this is no name of a model.
    """
    folder = _folder(name, library)
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
        progress: told after every piece, on the thread that called.
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
    revision, files = _listed(name, settings, kind)
    folder = _folder(name, library)
    staging = library / f".{folder.name}.{revision[:12]}"
    fetch = Fetch(name, staging, settings, progress, cancelled)
    try:
        _drop_others(folder, staging)
        staging.mkdir(parents=True, exist_ok=True)
        _check_room(fetch, files)
        for file in files:
            fetch_file(fetch, file, files)
        staging.rename(folder)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            shutil.rmtree(staging, ignore_errors=True)
        msg = f"{name} cannot be written to {library}: {error.strerror}; make room or name another"
        raise HubError(msg) from error
    return folder


def _folder(name: str, library: Path) -> Path:
    if not _NAME.fullmatch(name) or ".." in name:
        msg = f"{name!r} is no name of a model on the hub: owner/name was expected"
        raise HubError(msg)
    return library / name.replace("/", "--")


def _listed(name: str, settings: HubSettings, kind: ModelKind) -> tuple[str, list[HubFile]]:
    """Ask the hub for a model's newest revision and the files that are needed of it."""
    from huggingface_hub import HfApi, hf_hub_url  # noqa: PLC0415  slow, and only where asked

    try:
        found = HfApi(endpoint=settings.endpoint).model_info(
            name, files_metadata=True, timeout=settings.timeout_s
        )
    except Exception as error:
        raise HubError(_refusal(name, error)) from error
    revision, files = found.sha or "main", list[HubFile]()
    for entry in found.siblings or ():
        path = PurePosixPath(entry.rfilename)
        digest = entry.lfs.sha256 if entry.lfs else entry.blob_id
        wanted = len(path.parts) == 1 and kind.is_wanted(path.name)
        if wanted and entry.size is not None and digest:
            url = hf_hub_url(name, path.name, revision=revision, endpoint=settings.endpoint)
            files.append(HubFile(path.name, url, entry.size, digest, is_blob=entry.lfs is None))
    if not any(file.name.endswith(kind.essential) for file in files):
        msg = f"{name} has no {kind.what} on the hub: choose another model"
        raise HubError(msg)
    return revision, files


def _refusal(name: str, error: Exception) -> str:
    """Say why the hub gave no list, and what to do."""
    said = next(iter(str(error).strip().splitlines()), type(error).__name__)
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return (
            f"{name} cannot be fetched: the hub's certificate was refused ({said}); where your "
            "network has a certificate of its own, name its file in SSL_CERT_FILE"
        )
    return (
        f"{name} cannot be fetched from the hub ({said}): see that there is a network and that "
        "you may have it, or name a model folder"
    )


def _drop_others(folder: Path, staging: Path) -> None:
    """Throw away what was begun of another revision."""
    for other in folder.parent.glob(f".{folder.name}.*"):
        if other != staging:
            shutil.rmtree(other)


def _check_room(fetch: Fetch, files: Sequence[HubFile]) -> None:
    missing = sum(file.n_bytes for file in files) - there(fetch.staging)
    free = shutil.disk_usage(fetch.staging).free
    if missing > free:
        msg = (
            f"{fetch.name} needs {missing / 1e9:.1f} GB more in {fetch.staging.parent}, and "
            f"{free / 1e9:.1f} GB are free: make room or name another folder"
        )
        raise HubError(msg)
