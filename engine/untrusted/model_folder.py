"""Check a model folder before any library opens it: plain files of bounded size, and no code.

Libraries trust a folder: they import the Python files it names, load other files than the usual
ones where it asks for that, and block on a pipe under a file's name. All of this is refused here,
from names, sizes and the JSON files alone, in milliseconds.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, cast

from engine.errors import ModelError, message_of
from engine.messages import Code, Message
from engine.untrusted.faults import Fault
from engine.untrusted.regular_file import open_plain
from engine.untrusted.strict_json import shown

MAX_CONFIG_BYTES = 1 << 20
_MAX_JSON_BYTES = 1 << 24
_MAX_TOKENIZER_BYTES = 1 << 26  # Gemma 3 has 33 MB, for 262,144 ids
_MAX_TEMPLATE_BYTES = 1 << 20
_MOST_FILES = 10_000
_READ_BY_LIBRARIES = (".json", ".jinja", ".safetensors")
_CONFIG, _TOKENIZER = "config.json", "tokenizer.json"
_NOT_PARSED = (_TOKENIZER, "vocab.json")  # large, and checked against the model when it is loaded
_TEMPLATES = "additional_chat_templates"

_OTHER_WEIGHTS = re.compile(r"shard-[0-9]{5}-model-.*\.safetensors|adapter_config\.json")
"""Files that make transformers load other weights than those that were measured."""

_CODE = "auto_map"
_SWITCHES = ("transformers_weights", "fusion_config", "kernel_config", "distributed_config")
_IMPLEMENTATION = re.compile(r"_?(attn|experts)_implementation(_internal)?")
_FILES = ("fast_tokenizer_files", "gguf_file", "tokenizer_object", "init_inputs")

_COUNTED = re.compile(r"(.*_)?(layers?|blocks?|experts?|heads?|labels|groups|depth)")
"""Settings that libraries count up to, step by step: ``num_hidden_layers``, ``n_head``."""

_MOST_COUNTED = 4096
_WHOLE = ("sliding_window", "max_position_embeddings")
_MOST = 2**31 - 1


def check_model_folder(folder: Path, *, needed: Sequence[str] = (_CONFIG, _TOKENIZER)) -> None:
    """Refuse a folder that could make a library run code, load other files, block or grow.

    Raises:
        ModelError: it could, or it lacks a file that is needed.
    """
    try:
        names = _files(folder)
        for name in needed:
            if name not in names:
                _refuse(Fault.HAS_NO(name=name))
        for name in names:
            if name.endswith(".json") and name not in _NOT_PARSED:
                _check_json(name, _parsed(folder / name))
    except OSError as error:
        raise _unusable(folder, Fault.CANNOT_BE_READ(reason=message_of(error))) from error
    except _RefusedError as error:
        raise _unusable(folder, error.reason) from error


class _RefusedError(Exception):
    """The reason, as a clause about the model."""

    def __init__(self, reason: Message) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _refuse(reason: Message) -> NoReturn:
    raise _RefusedError(reason)


def _unusable(folder: Path, reason: Message) -> ModelError:
    return ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason))


def _files(folder: Path) -> list[str]:
    """List the files of a folder that libraries would open; check their kinds and sizes."""
    names = list(_listed(folder))
    templates = folder / _TEMPLATES
    if templates.is_dir():
        names += [f"{_TEMPLATES}/{name}" for name in _listed(templates)]
    if len(names) > _MOST_FILES:
        _refuse(Fault.MANY_FILES(most=_MOST_FILES))
    return names


def _listed(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_READ_BY_LIBRARIES):
                _check_file(entry)
                yield entry.name


def _check_file(entry: "os.DirEntry[str]") -> None:
    name = entry.name
    if not entry.is_file():  # a link to a file is one: the hub's own cache is made of links
        _refuse(Fault.NOT_A_FILE(name=shown(name)))
    if _OTHER_WEIGHTS.fullmatch(name):
        _refuse(Fault.OTHER_KIND(name=shown(name)))
    n_bytes, limit = entry.stat().st_size, _limit(name)
    if limit is not None and n_bytes > limit:
        _refuse(Fault.MANY_BYTES(name=shown(name), n_bytes=n_bytes, most=limit))


def _limit(name: str) -> int | None:
    if name.endswith(".safetensors"):
        return None
    if name.endswith(".jinja"):
        return _MAX_TEMPLATE_BYTES
    if name in _NOT_PARSED:
        return _MAX_TOKENIZER_BYTES
    return MAX_CONFIG_BYTES if name == _CONFIG else _MAX_JSON_BYTES


def _parsed(path: Path) -> object:
    """Parse JSON as libraries do, which accept infinities and repeated keys."""
    try:
        with open_plain(path) as file:
            return cast("object", json.loads(file.read()))
    except RecursionError:
        _refuse(Fault.FILE_FAULT(name=shown(path.name), fault=Fault.NESTED()))
    except ValueError:
        _refuse(Fault.NOT_JSON(name=shown(path.name)))


def _check_json(name: str, content: object) -> None:
    if not isinstance(content, dict):
        _refuse(Fault.FILE_FAULT(name=shown(name), fault=Fault.NO_OBJECT(value=shown(content))))
    for key, value in _entries(content):
        if value is None:
            continue
        if key == _CODE:
            _refuse(Fault.NAMES_CODE(name=shown(name), key=_CODE))
        if name == _CONFIG:
            _check_setting(key, value)
        elif name == "tokenizer_config.json" and key in _FILES and value:
            _refuse(Fault.NAMES_FILES(name=shown(name), key=key))


def _entries(content: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the entries of an object and of all objects within it."""
    waiting: list[object] = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from value.items()
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _check_setting(key: str, value: object) -> None:
    """Refuse settings that load other files, and counts that libraries would loop over."""
    if key in _SWITCHES or (_IMPLEMENTATION.fullmatch(key) and "/" in str(value)):
        _refuse(Fault.OTHER_WEIGHTS(name=_CONFIG, key=key))
    if key == "quantization_config":
        _check_packing(value)
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if key in _WHOLE and not (is_whole and 1 <= cast("int", value) <= _MOST):
        _refuse(Fault.NO_WHOLE_NUMBER(name=_CONFIG, value=shown(value), key=key))
    if is_whole and _COUNTED.fullmatch(key) and cast("int", value) > _MOST_COUNTED:
        _refuse(
            Fault.TOO_MANY(name=_CONFIG, value=shown(value), key=shown(key), most=_MOST_COUNTED)
        )


def _check_packing(value: object) -> None:
    """Accept weights packed by bitsandbytes alone: other packings fetch programs."""
    method = value.get("quant_method") if isinstance(value, dict) else value
    if method != "bitsandbytes":
        _refuse(Fault.PACKED(method=shown(method)))
