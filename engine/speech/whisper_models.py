"""Find Whisper models by name, hub id or folder on this computer, or fetch them.

All are in CTranslate2's format. Other converted models are named by hub id or folder.
"""

from pathlib import Path

from engine.errors import ModelError
from engine.hub.catalogue import WHISPER_MODELS
from engine.hub.download import Fetching, ModelKind, fetch_model, find_model
from engine.messages import Code
from engine.runtime.ctranslate2.conversion import WEIGHTS, is_cut_short
from engine.untrusted.faults import detail_of
from engine.untrusted.safe_names import is_hub_name
from engine.untrusted.strict_json import JsonObject, shown

_NEEDED = ("config.json", WEIGHTS, "tokenizer.json")
_SOUND, _MAX_SOUND_BYTES = "preprocessor_config.json", 1 << 22  # the older ones hold a table
_FILES = (*_NEEDED, _SOUND, "vocabulary.json", "vocabulary.txt")
_SIZES = {
    "feature_size": 1024,
    "sampling_rate": 192_000,
    "hop_length": 10_000,
    "chunk_length": 300,
    "n_fft": 16_384,
}
"""Settings of a Whisper's sound, and the largest value that any model needs."""


def _check(folder: Path) -> None:
    """Check that a folder is complete, before a library waits for a pipe or runs out of memory.

    Raises:
        ModelError: the folder is not complete.
    """
    for name in _FILES:
        path = folder / name
        if not path.is_file() and (name in _NEEDED or path.exists()):
            raise _unfit(folder, f"it has no {name} that is a file")
    try:
        is_cut = is_cut_short(folder / WEIGHTS)
    except OSError as error:
        raise _unfit(folder, f"{WEIGHTS}: {detail_of(error)}") from error
    if is_cut:
        raise ModelError(Code.SPEECH_MODEL_CUT(folder=str(folder)))
    _check_sound(folder)


def _check_sound(folder: Path) -> None:
    """Check that no setting of the sound asks for too much; raise ModelError if one does."""
    try:
        if (folder / _SOUND).exists():
            content = JsonObject.read(folder / _SOUND, _MAX_SOUND_BYTES)
            for key, most in _SIZES.items():  # the library makes tables of these sizes
                if key in content:
                    content.integer(key, least=1, most=most)
    except (OSError, ValueError) as error:
        raise _unfit(folder, f"{_SOUND}: {detail_of(error)}") from error


def _unfit(folder: Path, detail: str) -> ModelError:
    return ModelError(Code.WHISPER_UNFIT(folder=str(folder), detail=detail))


WHISPER = ModelKind(
    essential=WEIGHTS,
    what="Whisper model for CTranslate2",
    is_wanted=lambda name: name in _FILES,
    check=_check,
)


def whisper_folder(
    name: str,
    library: Path,
    wanted: Fetching | None = None,
    *,
    again: bool = False,
) -> Path:
    """Return the folder of a Whisper model on this computer, or fetch it into the library.

    Arguments and errors as for ``fetch_model``; ``name`` may also be one of ``WHISPER_MODELS``, or
    a folder.

    Raises:
        ModelError: there is no such model, or its folder is not complete.
    """
    folder = named_folder(name)
    if folder is not None:
        _check(folder)
        return folder
    return fetch_model(_hub_id(name), library, wanted, kind=WHISPER, again=again)


def found_whisper(name: str, library: Path) -> Path | None:
    """Return the folder of a Whisper model on this computer, or None; without the network.

    Raises:
        ModelError: there is no such model, or its folder is not complete.
    """
    folder = named_folder(name)
    if folder is None:
        return find_model(_hub_id(name), library, WHISPER)
    _check(folder)
    return folder


def named_folder(name: str) -> Path | None:
    """Return the folder that is named, or None if it is no folder on this computer."""
    try:
        folder = Path(name).expanduser()
        return folder if name and folder.is_dir() else None
    except (RuntimeError, OSError):  # an unknown ~user, or no valid path
        return None


def _hub_id(name: str) -> str:
    if name in WHISPER_MODELS:
        return WHISPER_MODELS[name]
    if not is_hub_name(name):
        raise ModelError(Code.NO_SUCH_WHISPER(name=shown(name), known=", ".join(WHISPER_MODELS)))
    return name
