"""Write what a run results in; if it cannot be written, one sentence says what to do."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from safetensors import SafetensorError

from training.errors import TrainingError
from training.trainer.replace_folder import replacing_folder


def save_result(folder: Path, write: Callable[[Path], None]) -> None:
    """Replace a folder by what is written into an empty one.

    Raises:
        TrainingError: it cannot be written; the old folder is kept.
    """
    try:
        with replacing_folder(folder) as fresh:
            write(fresh)
    except (OSError, SafetensorError) as error:
        msg = (
            f"{folder} cannot be written ({error}): make room and run again, the checkpoint is kept"
        )
        raise TrainingError(msg) from error


def try_to_save(out: Path, write: Callable[[Path], None], name: str) -> None:
    """Write a result into a run folder and delete it: if writing cannot work, it fails now.

    Args:
        out: the run folder, made if it is missing.
        write: writes into an empty folder.
        name: of the result, for the sentence.

    Raises:
        TrainingError: it cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out) as folder:
            write(Path(folder))
    except (OSError, SafetensorError) as error:
        msg = f"{name} cannot be written to {out} ({error}): make room or choose another"
        raise TrainingError(msg) from error
