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
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import cast

from engine.errors import FetchCancelledError, ModelError, message_of
from engine.files import ByteCount
from engine.messages import Code
from engine.models.encoder_decoder.original import Original, read_original
from engine.models.encoder_decoder.record import (
    END,
    UNKNOWN,
    Record,
    Vocabulary,
    checked_vocabulary,
    converted_folder,
    precision_folder,
    read_record,
)
from engine.runtime.ctranslate2 import conversion_child
from engine.untrusted.faults import FaultError, about, detail_of, refuse
from engine.untrusted.plain_files import delete_hidden, file_sha256, open_plain
from engine.untrusted.strict_json import JsonObject, parse_json, shown

# One process at a time converts in a folder, or deletes its original.

_POLL_S = 0.1


@contextlib.contextmanager
def held(folder: Path, is_given_up: Callable[[], bool]) -> Iterator[bool]:
    """Hold a folder until the block ends; wait while another process, or thread, holds it.

    The system lets go of it when a process ends, however that ends. Windows and some network disks
    know no such lock; nothing is held there. ``is_given_up`` is called ten times a second while it
    is waited for; False is yielded once it returned True.
    """
    try:
        import fcntl  # noqa: PLC0415  not on Windows
    except ImportError:
        yield True
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        yield _taken(lambda: fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB), is_given_up)
    finally:
        os.close(number)


def _taken(take: Callable[[], None], is_given_up: Callable[[], bool]) -> bool:
    wait = threading.Event().wait
    while True:
        try:
            take()
        except BlockingIOError:
            if is_given_up():
                return False
            wait(_POLL_S)
        except OSError:  # a disk that cannot lock
            return True
        else:
            return True


# A folder of converted weights may come from a stranger, so it is judged before CTranslate2 reads
# it. ``model.bin`` is read up to the shapes of its variables alone, as CTranslate2 writes them: a
# version and names, then for each variable its name, its dimensions, and its numbers, which are
# skipped.

WEIGHTS = "model.bin"
_NO_WEIGHTS = f"{WEIGHTS} is no file of weights as CTranslate2 writes it"
_CONFIG, _VOCABULARY = "config.json", "shared_vocabulary.json"
_NEVER_WRITTEN = ("vmap.txt",)
"""Files that CTranslate2 would read, and no conversion of ours has."""

_MAX_CONFIG_BYTES, _MAX_VOCABULARY_BYTES = 1 << 16, 1 << 25
_BINARY_VERSION, _MOST_VARIABLES = 6, 1 << 16
_BEGIN = struct.Struct("<I")  # the version
_EMBEDDINGS = "decoder/embeddings/weight"
_POSITIONS = ("encoder/position_encodings/encodings", "decoder/position_encodings/encodings")


@dataclass(frozen=True, slots=True)
class Converted:
    """The tokens of converted weights, and the most of them in a source or target, if limited."""

    vocabulary: Vocabulary
    positions: int | None


def read_converted(folder: Path, record: Record) -> Converted:
    for name in _NEVER_WRITTEN:
        if os.path.lexists(folder / name):
            refuse(f"it has a {name}, which no conversion writes")
    config = _read_config(folder)
    vocabulary = _read_vocabulary(folder)
    languages = {*record.sources.values(), *record.targets.values()} - {""}
    for token in (*sorted(languages), *config):
        if token not in vocabulary.ids:
            refuse(f"{_VOCABULARY} lacks {shown(token)}")
    with open_plain(folder / WEIGHTS) as file:
        try:
            shapes = _read_shapes(file)
        except (struct.error, UnicodeDecodeError) as error:
            raise FaultError(_NO_WEIGHTS) from error
    n_rows = next(iter(shapes.get(_EMBEDDINGS, ())), 0)
    if n_rows != len(vocabulary):
        refuse(
            f"it has {len(vocabulary)} tokens, and its embeddings have {n_rows} rows, so they "
            "belong to two models"
        )
    if record.weights_sha256 and file_sha256(folder / WEIGHTS) != record.weights_sha256:
        refuse(f"{WEIGHTS} was changed or damaged since it was converted")
    tables = [shapes[name][0] for name in _POSITIONS if shapes.get(name)]
    return Converted(vocabulary, min(tables, default=None))


def is_cut_short(path: Path) -> bool:
    """Return whether a file of weights lacks its end.

    Only one that begins as CTranslate2 writes it is judged.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    with open_plain(path) as file:
        if file.read(_BEGIN.size) != _BEGIN.pack(_BINARY_VERSION):
            return False
        file.seek(0)
        try:
            _read_shapes(file)
        except struct.error:
            return True
        except ValueError:
            return False  # written otherwise: the library judges it
    return False


def _read_config(folder: Path) -> list[str]:
    """Check the types of CTranslate2's settings, which it looks at with the first words alone.

    Return the markers that they name; it adds them by itself.
    """
    with about(_CONFIG):
        config = JsonObject.read(folder / _CONFIG, _MAX_CONFIG_BYTES)
        for key in ("add_source_bos", "add_source_eos", "multi_query_attention"):
            config.flag(key)
        config.text("bos_token", "")
        if config.values.get("layer_norm_epsilon") is not None:
            config.number("layer_norm_epsilon")
        return [config.text(key) for key in ("unk_token", "eos_token", "decoder_start_token")]


def _read_vocabulary(folder: Path) -> Vocabulary:
    with open_plain(folder / _VOCABULARY) as file:
        content = file.read(_MAX_VOCABULARY_BYTES + 1)
    with about(_VOCABULARY):
        if len(content) > _MAX_VOCABULARY_BYTES:
            refuse(f"is longer than {_MAX_VOCABULARY_BYTES} bytes")
        vocabulary = checked_vocabulary(parse_json(content))
        for marker in (UNKNOWN, END):
            if marker not in vocabulary.ids:
                refuse(f"lacks {shown(marker)}")
    return vocabulary


def _read_shapes(file: BufferedReader) -> dict[str, tuple[int, ...]]:
    (version,) = _take(file, "I")
    _name(file)
    _revision, n_variables = _take(file, "II")
    if version != _BINARY_VERSION or n_variables > _MOST_VARIABLES:
        refuse(_NO_WEIGHTS)
    shapes = dict[str, tuple[int, ...]]()
    for _ in range(n_variables):
        name = _name(file)
        (n_dimensions,) = _take(file, "B")
        shapes[name] = _take(file, f"{n_dimensions}I")
        _type, n_bytes = _take(file, "BI")
        file.seek(n_bytes, os.SEEK_CUR)
    (n_aliases,) = _take(file, "I")
    for _ in range(min(n_aliases, _MOST_VARIABLES)):
        name, variable = _name(file), _name(file)
        shapes[name] = shapes.get(variable, ())
    return shapes


def _name(file: BufferedReader) -> str:
    (n_bytes,) = _take(file, "H")
    return _bytes(file, n_bytes).rstrip(b"\0").decode()


def _take(file: BufferedReader, format_: str) -> tuple[int, ...]:
    return struct.unpack(f"<{format_}", _bytes(file, struct.calcsize(f"<{format_}")))


def _bytes(file: BufferedReader, n_bytes: int) -> bytes:
    content = file.read(n_bytes)
    if len(content) < n_bytes:
        msg = "the file ends"
        raise struct.error(msg)
    return content


Progress = Callable[[str, float], None]
"""Called with the model's name and the part that is done, 0 to 1."""

_BYTES = {"int8": 1.3, "float16": 2.1}
"""Bytes of a number in the converted file at most: scales and embeddings among them."""

_SPARE_BYTES = 1 << 24
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
        cancelled: called ten times a second.
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
