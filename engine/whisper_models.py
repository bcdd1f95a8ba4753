"""Whisper models by name, id or folder: found on this computer, or fetched when asked."""

from collections.abc import Callable
from pathlib import Path

from engine.errors import ModelError
from engine.hub import ModelKind, fetch_model, find_model
from engine.hub_transfer import HubSettings, Progress
from engine.strict_json import shown
from engine.whisper_names import MODELS

_FILES = (
    *("config.json", "preprocessor_config.json", "model.bin", "tokenizer.json"),
    *("vocabulary.json", "vocabulary.txt"),
)


def _is_wanted(name: str) -> bool:
    return name in _FILES


def _check(folder: Path) -> None:
    missing = [name for name in ("config.json", "model.bin") if not (folder / name).is_file()]
    if missing or not (folder / "tokenizer.json").is_file():
        msg = (
            f"expected a Whisper model for CTranslate2 in {folder}, which has no "
            f"{(missing or ['tokenizer.json'])[0]}: name another folder"
        )
        raise ModelError(msg)


WHISPER = ModelKind(
    essential="model.bin", what="Whisper model for CTranslate2", is_wanted=_is_wanted, check=_check
)


def whisper_folder(
    name: str,
    library: Path,
    settings: HubSettings | None = None,
    *,
    progress: Progress = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """Find a Whisper model on this computer, or fetch it into the library.

    Args:
        name: one of ``MODELS``, an id on the hub, or a folder.
        library: folder of models.
        settings: of the hub.
        progress: told of bytes there and in all, on the thread that called.
        cancelled: asked before every piece.

    Returns:
        the model's folder; a fetch is only begun where there is none.

    Raises:
        ModelError: there is no such model, or its folder is not whole.
        HubError: it cannot be fetched.
        FetchCancelledError: ``cancelled`` said so.
    """
    folder = _named_folder(name)
    if folder is not None:
        _check(folder)
        return folder
    return fetch_model(
        _hub_id(name),
        library,
        settings,
        kind=WHISPER,
        progress=progress,
        cancelled=cancelled,
    )


def found_whisper(name: str, library: Path) -> Path | None:
    """Find a Whisper model on this computer; the network is never asked.

    Raises:
        ModelError: there is no such model.
    """
    return _named_folder(name) or find_model(_hub_id(name), library, WHISPER)


def _named_folder(name: str) -> Path | None:
    try:
        folder = Path(name).expanduser()
        return folder if name and folder.is_dir() else None
    except (RuntimeError, OSError):  # nobody of this name has a home; no system has such a path
        return None


def _hub_id(name: str) -> str:
    if name in MODELS:
        return MODELS[name]
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        msg = (
            f"no Whisper model is called {shown(name)}: choose {', '.join(MODELS)}, or name an "
            "owner/name on the hub or a folder"
        )
        raise ModelError(msg)
    return name
