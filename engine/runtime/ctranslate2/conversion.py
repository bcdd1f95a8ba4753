"""Convert a translation model for CTranslate2, once, in a process of its own.

The weights are written into a hidden folder, which takes its name when it is complete: a
conversion that is cancelled, killed or short of room leaves nothing. While another process
converts, it is waited for.
"""

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from engine.errors import FetchCancelledError, ModelError, message_of
from engine.files import ByteCount
from engine.messages import Code
from engine.models.encoder_decoder.original import Original, read_original
from engine.models.encoder_decoder.record import (
    Record,
    converted_folder,
    precision_folder,
    read_record,
)
from engine.runtime.ctranslate2 import conversion_child
from engine.runtime.ctranslate2.converted_weights import WEIGHTS
from engine.runtime.ctranslate2.folder_lock import held
from engine.untrusted.faults import detail_of
from engine.untrusted.regular_file import file_sha256
from engine.untrusted.safe_names import delete_hidden
from engine.untrusted.strict_json import shown

Progress = Callable[[str, float], None]
"""Called with the model's name and the part that is done, 0 to 1."""

_BYTES = {"int8": 1.3, "float16": 2.1}
"""Bytes of a number in the converted file at most: scales and embeddings among them."""

_SPARE_BYTES = 1 << 24
_POLL_S = 0.1
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EFBIG)


def ready_folder(
    folder: Path,
    precision: str,
    *,
    accepts_licence: bool = False,
    progress: Progress = lambda _name, _part: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """Return the folder of a model's converted weights; convert them if they are not there.

    Args:
        folder: of the original, or of converted weights.
        precision: int8 or float16; weights of the other one do as well if they are there.
        accepts_licence: a person accepts a licence that forbids commercial use. That is recorded,
            and not asked again.
        progress: called on this thread.
        cancelled: called ten times a second.

    Raises:
        ModelError: the folder cannot be used or converted, or its licence was not accepted.
        FetchCancelledError: ``cancelled`` returned True.
    """
    found = converted_folder(folder, precision)
    if found is not None:
        _check_licence(found, read_record(found), accepts_licence=accepts_licence)
        return found
    original = read_original(folder)
    record = original.record
    if record.forbids_commerce and not accepts_licence:
        raise _licence_error(record)
    record = replace(record, is_accepted=accepts_licence and record.forbids_commerce)

    def is_given_up() -> bool:
        progress(record.name, 0.0)
        return cancelled()

    with held(folder, is_given_up) as is_held:
        if not is_held:
            raise FetchCancelledError(Code.CONVERSION_CANCELLED(name=record.name))
        found = converted_folder(folder, precision)  # by another process meanwhile
        return found or _convert(
            replace(original, record=record), folder, precision, progress, cancelled
        )


def _convert(
    original: Original,
    folder: Path,
    precision: str,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Path:
    """Convert an original; return the folder that was made.

    Raises:
        ModelError: it cannot be converted or written.
        FetchCancelledError: ``cancelled`` returned True.
    """
    final = precision_folder(folder, precision)
    staging, record = folder / f".{final.name}.new", original.record
    try:
        _check_room(folder, original, precision)
        _remove(staging)
        try:
            _run(original, folder, staging, precision, progress, cancelled)
            for name in {record.source_pieces, record.target_pieces}:
                shutil.copyfile(folder / name, staging / name)
            _sync(staging)
            replace(record, weights_sha256=file_sha256(staging / WEIGHTS)).save(staging)
            staging.rename(final)
            progress(record.name, 1.0)
        finally:
            _remove(staging)
    except OSError as error:
        reason = message_of(error)
        raise ModelError(
            Code.CONVERSION_CANNOT_WRITE(name=record.name, folder=str(folder), reason=reason)
        ) from error
    return final


def _check_licence(folder: Path, record: Record, *, accepts_licence: bool) -> None:
    """Raise ModelError for a licence that nobody accepted; record that it is accepted now."""
    if not record.forbids_commerce or record.is_accepted:
        return
    if not accepts_licence:
        raise _licence_error(record)
    try:
        replace(record, is_accepted=True).save(folder)
    except OSError:
        return  # it is asked again next time


def _licence_error(record: Record) -> ModelError:
    return ModelError(
        Code.LICENCE_FORBIDS_COMMERCE(name=record.name, licence=shown(record.licence).strip("'"))
    )


def _check_room(folder: Path, original: Original, precision: str) -> None:
    needed = _expected_bytes(original, precision)
    free = shutil.disk_usage(folder).free
    if needed > free:
        sizes = {"size": ByteCount(needed), "free": ByteCount(free)}
        name = original.record.name
        raise ModelError(Code.CONVERSION_NO_ROOM(name=name, folder=str(folder), **sizes))


def _expected_bytes(original: Original, precision: str) -> int:
    return int(original.n_parameters * _BYTES[precision]) + _SPARE_BYTES


def _remove(staging: Path) -> None:
    if staging.is_symlink() or staging.exists():
        delete_hidden(staging, staging.parent)


def _sync(folder: Path) -> None:
    """Write all files of a folder to disk."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _run(
    original: Original,
    folder: Path,
    staging: Path,
    precision: str,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> None:
    """Run the process to its end.

    Raises:
        ModelError: it failed or was ended.
        OSError: it could not be started, or the disk is full.
        FetchCancelledError: ``cancelled`` returned True.
    """
    name, expected = original.record.name, _expected_bytes(original, precision)
    paths = [str(folder.resolve()), str(staging.resolve())]
    with subprocess.Popen(
        [sys.executable, "-P", conversion_child.__file__, *paths, precision],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            while _is_running(process):
                if cancelled():
                    raise FetchCancelledError(Code.CONVERSION_CANCELLED(name=name))
                progress(name, _written(staging, expected))
            assert process.stdout is not None  # a pipe was asked for
            _check_answer(name, process.stdout.read(), process.wait())
        finally:
            process.kill()


def _is_running(process: "subprocess.Popen[bytes]") -> bool:
    """Wait for a tenth of a second; return whether the process goes on."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_POLL_S)
    return process.returncode is None


def _written(staging: Path, expected: int) -> float:
    """Return the part that is done by the size of the file of weights."""
    try:
        return min((staging / WEIGHTS).stat().st_size / expected, 0.98)
    except OSError:
        return 0.0


def _check_answer(name: str, answer: bytes, exit_code: int) -> None:
    """Raise the error that the process reports, or its end without an answer.

    Raises:
        ModelError: the folder cannot be converted.
        OSError: the disk is full, or cannot be written.
    """
    if exit_code or not answer:
        how = signal.Signals(-exit_code).name if exit_code < 0 else str(exit_code)
        raise _failed(name, f"its process was ended ({how})")
    match cast("dict[str, object]", json.loads(answer)):
        case {"errno": int(number), "words": str(words)} if number in _DISK_ERRORS:
            raise OSError(number, words)
        case {"error": detail} | {"words": detail}:
            raise _failed(name, detail_of(ValueError(detail)))


def _failed(name: str, detail: str) -> ModelError:
    return ModelError(Code.CONVERSION_FAILED(name=name, detail=detail))
