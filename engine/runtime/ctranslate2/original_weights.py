"""Delete the weights that a downloaded model was converted from, which nothing needs any more."""

import logging
import stat
from pathlib import Path

from engine.errors import ModelError, message_of
from engine.models.encoder_decoder.original import is_original
from engine.models.memory_footprint import weight_files
from engine.runtime.ctranslate2.converted_weights import WEIGHTS
from engine.runtime.ctranslate2.folder_lock import held

_log = logging.getLogger(__name__)


def delete_original(folder: Path, converted: Path) -> None:
    """Delete the weights of an original; what is no plain file, or came later, stays.

    Args:
        folder: of the original, which this program downloaded.
        converted: its converted weights, which were loaded.
    """
    if not is_original(folder) or converted.parent != folder:
        return
    try:
        converted_ns = (converted / WEIGHTS).stat().st_mtime_ns
        with held(folder, lambda: True) as is_held:
            for name in weight_files(folder) if is_held else ():
                found = (folder / name).lstat()
                changed_ns = max(found.st_mtime_ns, found.st_ctime_ns)
                if stat.S_ISREG(found.st_mode) and changed_ns <= converted_ns:
                    (folder / name).unlink()
    except FileNotFoundError:
        return  # it was deleted before
    except (ModelError, OSError) as error:
        _log.warning("the original in %s was not deleted: %s", folder, message_of(error))
