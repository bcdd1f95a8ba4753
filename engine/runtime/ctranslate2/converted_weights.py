"""Judge a folder of converted weights before CTranslate2 reads it: it may come from a stranger.

``model.bin`` is read up to the shapes of its variables alone, as CTranslate2 writes them: a version
and names, then for each variable its name, its dimensions, and its numbers, which are skipped.
"""

import os
import struct
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from engine.models.encoder_decoder.record import END, UNKNOWN, Record
from engine.models.encoder_decoder.vocabulary import Vocabulary, checked_vocabulary
from engine.untrusted.faults import FaultError, about, refuse
from engine.untrusted.regular_file import file_sha256, open_plain
from engine.untrusted.strict_json import JsonObject, parse_json, shown

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
    """A description of converted weights before they are loaded.

    Attributes:
        vocabulary: their tokens.
        positions: the most tokens of a source and of a target; None without a limit.
    """

    vocabulary: Vocabulary
    positions: int | None


def read_converted(folder: Path, record: Record) -> Converted:
    """Read a folder of converted weights.

    Args:
        folder: that CTranslate2 will open.
        record: of it.

    Raises:
        OSError: a file cannot be read, or is no plain one.
        ValueError: the files do not belong together, or one is damaged or too large; the text is a
            clause about the model.
    """
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
    """Check the types of the settings of CTranslate2, which it looks at with the first words alone.

    Returns:
        the markers that they name; it adds them by itself.
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
    """Return the dimensions of the variables by their names.

    Raises:
        ValueError: there are too many.
        struct.error, UnicodeDecodeError: the file is none of CTranslate2.
    """
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
