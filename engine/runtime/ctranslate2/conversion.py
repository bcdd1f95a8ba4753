"""Convert a translation model for CTranslate2, once, in a process of its own.

The weights are written into a hidden folder, which takes its name when it is complete: a
conversion that is cancelled, killed or short of room leaves nothing. While another process
converts, it is waited for.
"""

import contextlib
import errno
import importlib.util
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from engine.errors import FetchCancelledError, ModelError, message_of
from engine.files import bytes_text
from engine.messages import Code, Message
from engine.models.encoder_decoder.original import Original, read_original
from engine.models.encoder_decoder.record import (
    END,
    PADDING,
    START,
    UNKNOWN,
    Record,
    converted_folder,
    precision_folder,
    read_record,
)
from engine.runtime.ctranslate2 import conversion_child
from engine.runtime.ctranslate2.conversion_child import Job
from engine.runtime.ctranslate2.converted_weights import WEIGHTS
from engine.runtime.ctranslate2.folder_lock import held
from engine.runtime.ctranslate2.original_weights import weight_hashes
from engine.untrusted.faults import Fault
from engine.untrusted.regular_file import file_sha256
from engine.untrusted.safe_names import delete_hidden
from engine.untrusted.strict_json import shown

Progress = Callable[[str, float], None]
"""Called with the model's name and the part that is done, 0 to 1."""

_BYTES = {"int8": 1.3, "float16": 2.1}
"""Bytes of a number in the converted file at most: scales and embeddings among them."""

_SPARE_BYTES = 1 << 24
_ROOM, _TIED = 1 << 26, 4  # numbers of tables in no file; a shared table is built several times
_POLL_S = 0.1
_PART = {"start": 0.05, "load": 0.2, "write": 0.5, "done": 1.0}
_LIBRARIES = ("torch", "transformers")


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
    if not all(map(importlib.util.find_spec, _LIBRARIES)):
        raise ModelError(Code.CONVERSION_NEEDS_TORCH(name=record.name))

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
        record = replace(record, originals=weight_hashes(folder))
        try:
            _run(original, folder, staging, precision, progress, cancelled)
            for name in {record.source_pieces, record.target_pieces}:
                shutil.copyfile(folder / name, staging / name)
            _sync(staging)
            replace(record, weights_sha256=file_sha256(staging / WEIGHTS)).save(staging)
            staging.rename(final)
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
        sizes = {"size": bytes_text(needed), "free": bytes_text(free)}
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
    job = Job(
        folder=str(folder.resolve()),
        out=str(staging.resolve()),
        precision=precision,
        vocabulary=list(original.vocabulary),
        markers={"bos_token": START, "eos_token": END, "unk_token": UNKNOWN, "pad_token": PADDING},
        most_numbers=_TIED * original.n_parameters + _ROOM,
    )
    process = subprocess.Popen(
        [sys.executable, "-P", conversion_child.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        _follow(process, job, original, staging, progress, cancelled)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # closing writes what it did not take
                    pipe.close()


def _follow(
    process: "subprocess.Popen[bytes]",
    job: Job,
    original: Original,
    staging: Path,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> None:
    """Give the process its job and report its steps until it is done."""
    name = original.record.name
    lines = queue.SimpleQueue[bytes]()
    reader = threading.Thread(target=_read_lines, args=(process, lines), daemon=True)
    reader.start()
    expected, part = _expected_bytes(original, job["precision"]), 0.0
    try:
        assert process.stdin is not None  # a pipe was asked for
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
        while part < 1:
            if cancelled():
                raise FetchCancelledError(Code.CONVERSION_CANCELLED(name=name))
            with contextlib.suppress(queue.Empty):
                part = _part(name, process, lines.get(timeout=_POLL_S))
            progress(name, max(part, _written(staging, expected)))
    except BrokenPipeError as error:
        raise _failed(name, Code.CONVERSION_DIED(how=_ending(process))) from error
    finally:
        process.kill()
        reader.join()


def _part(name: str, process: "subprocess.Popen[bytes]", line: bytes) -> float:
    """Return how much is done by a line of the process; raise the error that it reports."""
    if not line:
        raise _failed(name, Code.CONVERSION_DIED(how=_ending(process)))
    said = cast("dict[str, str | int]", json.loads(line))
    if "failure" in said:
        raise _failure(name, said)
    return _PART[str(said["step"])]


def _read_lines(process: "subprocess.Popen[bytes]", lines: "queue.SimpleQueue[bytes]") -> None:
    assert process.stdout is not None  # a pipe was asked for
    for line in process.stdout:
        lines.put(line)
    lines.put(b"")


def _written(staging: Path, expected: int) -> float:
    """Return the part that is done by the size of the file of weights."""
    try:
        share = (staging / WEIGHTS).stat().st_size / expected
    except OSError:
        return 0.0
    return _PART["write"] + (0.98 - _PART["write"]) * min(share, 1.0)


def _ending(process: "subprocess.Popen[bytes]") -> str:
    code = process.wait()
    return signal.Signals(-code).name if code < 0 else str(code)


def _failure(name: str, said: dict[str, str | int]) -> Exception:
    """Return the error for what the process reported: the disk's, or the libraries'."""
    if said.get("errno") in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EFBIG):
        return OSError(said["errno"], said["failure"])
    if said.get("ours"):
        return _failed(name, shown(said["words"]).strip("'\""))
    return _failed(name, Fault.MODEL_REFUSED(error=str(said["failure"])))


def _failed(name: str, reason: str | Message) -> ModelError:
    return ModelError(Code.CONVERSION_FAILED(name=name, reason=reason))
