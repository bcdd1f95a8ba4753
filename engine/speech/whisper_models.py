"""Whisper models by name, id or folder: found on this computer, or fetched when asked.

All are in CTranslate2's form. A model that somebody converted is named by its id on the hub or its
folder.
"""

from collections.abc import Callable
from pathlib import Path

from engine.errors import ModelError
from engine.hub.catalogue import WHISPER_MODELS
from engine.hub.download import ModelKind, fetch_model, find_model
from engine.hub.transfer import HubSettings, Progress
from engine.messages import Code
from engine.untrusted.safe_names import is_hub_name
from engine.untrusted.strict_json import JsonObject, shown

_FILES = (
    *("config.json", "preprocessor_config.json", "model.bin", "tokenizer.json"),
    *("vocabulary.json", "vocabulary.txt"),
)

_NEEDED = ("config.json", "model.bin", "tokenizer.json")
_SOUND, _MAX_SOUND_BYTES = "preprocessor_config.json", 1 << 22  # the older ones hold a table
_SIZES = {
    "feature_size": 1024,
    "sampling_rate": 192_000,
    "hop_length": 10_000,
    "chunk_length": 300,
    "n_fft": 16_384,
}
"""What a Whisper may say of sound, and the most that any needs."""


def _is_wanted(name: str) -> bool:
    return name in _FILES


def _check(folder: Path) -> None:
    """Check that a folder is whole, before libraries wait for a pipe in it or swell.

    Raises:
        ModelError: it is not.
    """
    for name in _FILES:
        path = folder / name
        if not path.is_file() and (name in _NEEDED or path.exists()):
            raise _unfit(folder, f"has no {name} that is a file")
    try:
        if (folder / _SOUND).exists():
            _check_sound(JsonObject.read(folder / _SOUND, _MAX_SOUND_BYTES))
    except OSError as error:
        raise _unfit(folder, f"has a {_SOUND} that cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise _unfit(folder, f"has a {_SOUND} that {error}") from error


def _check_sound(content: JsonObject) -> None:
    """Check how sound is to be cut: the library makes tables of these sizes."""
    for key, most in _SIZES.items():
        if key in content:
            content.integer(key, least=1, most=most)


def _unfit(folder: Path, reason: str) -> ModelError:
    return ModelError(
        f"expected a Whisper model for CTranslate2 in {folder}, which {reason}: name another folder"
    )


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
        name: one of ``WHISPER_MODELS``, an id on the hub, or a folder.
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
        ModelError: there is no such model, or its folder is not whole.
    """
    folder = _named_folder(name)
    if folder is None:
        return find_model(_hub_id(name), library, WHISPER)
    _check(folder)
    return folder


def _named_folder(name: str) -> Path | None:
    try:
        folder = Path(name).expanduser()
        return folder if name and folder.is_dir() else None
    except (RuntimeError, OSError):  # nobody of this name has a home; no system has such a path
        return None


def _hub_id(name: str) -> str:
    if name in WHISPER_MODELS:
        return WHISPER_MODELS[name]
    if not is_hub_name(name):
        raise ModelError(Code.NO_SUCH_WHISPER(name=shown(name), known=", ".join(WHISPER_MODELS)))
    return name
