"""The files of weights that a model was converted from: hashed, and deleted when that is wanted.

Only what a conversion names is deleted, and only while it is what was converted.
"""

from collections.abc import Mapping
from pathlib import Path

from engine.errors import ModelError, message_of
from engine.messages import Code
from engine.models.encoder_decoder.original import is_original
from engine.models.encoder_decoder.record import LONGEST, converted_folder, read_record
from engine.models.memory_footprint import weight_files
from engine.runtime.ctranslate2.folder_lock import held
from engine.untrusted.regular_file import file_sha256
from engine.untrusted.safe_names import delete_hidden, is_plain_name
from engine.untrusted.strict_json import shown

_ASIDE = ".original.old"


def weight_hashes(folder: Path) -> dict[str, str]:
    """Return the sha256 of each file of weights of an original; none if one has no plain name.

    Raises:
        ModelError: the list of its files cannot be used.
        OSError: one cannot be read.
    """
    names = weight_files(folder)
    if not all(is_plain_name(name, LONGEST) for name in names):
        return {}
    return {name: file_sha256(folder / name) for name in names}


def delete_original(folder: Path) -> int:
    """Delete the weights that a folder's converted weights were made from: all or none.

    Returns:
        their bytes; of a link, those of the link.

    Raises:
        ModelError: it holds no original that was converted, a file is not what was converted, or
            one cannot be deleted. Nothing was deleted then.
    """
    hashes = _converted(folder)
    if not hashes:
        raise ModelError(Code.NOTHING_CONVERTED(folder=str(folder)))
    with held(folder, lambda: True) as is_held:
        if not is_held:
            reason = Code.CONVERTED_ELSEWHERE()
            raise ModelError(Code.NOT_DELETED(folder=str(folder), reason=reason))
        return _deleted(folder, hashes)


def _deleted(folder: Path, hashes: Mapping[str, str]) -> int:
    try:
        there = [name for name in hashes if (folder / name).exists()]
        for name in there:
            if file_sha256(folder / name) != hashes[name]:
                file = shown(name).strip("'")
                raise ModelError(Code.ORIGINAL_CHANGED(file=file, folder=str(folder)))
        n_bytes = sum((folder / name).lstat().st_size for name in there)
        _delete(folder, there)
    except OSError as error:
        reason = message_of(error)
        raise ModelError(Code.NOT_DELETED(folder=str(folder), reason=reason)) from error
    return n_bytes


def original_bytes(folder: Path) -> int:
    """Return the bytes that ``delete_original`` frees; 0 if nothing may be deleted."""
    try:
        paths = [folder / name for name in _converted(folder)]
    except ModelError:
        return 0
    return sum(path.lstat().st_size for path in paths if path.is_file() and not path.is_symlink())


def _converted(folder: Path) -> dict[str, str]:
    """Return the hashes of what was converted; none if the folder holds no original."""
    found = converted_folder(folder, "")
    if found in (None, folder) or not is_original(folder):
        return {}
    return dict(read_record(found).originals)


def _delete(folder: Path, names: list[str]) -> None:
    """Put files aside, then delete them; put all back if one cannot be put aside."""
    aside, moved = folder / _ASIDE, list[str]()
    delete_hidden(aside, folder)
    aside.mkdir()
    try:
        for name in names:
            (folder / name).rename(aside / name)
            moved.append(name)
    except OSError:
        for name in moved:
            (aside / name).rename(folder / name)
        aside.rmdir()
        raise
    delete_hidden(aside, folder)
