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
from typing import cast

from engine.errors import ModelError, message_of
from engine.messages import Code
from engine.untrusted.faults import Fault, FaultError, fault_of, refuse
from engine.untrusted.plain_files import open_plain
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
                refuse(Fault.HAS_NO(name=name))
        for name in names:
            if name.endswith(".json") and name not in _NOT_PARSED:
                _check_json(name, _parsed(folder / name))
    except OSError as error:
        reason = Fault.FOLDER_UNREADABLE(reason=message_of(error))
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
    except FaultError as error:
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=fault_of(error))) from error


def _files(folder: Path) -> list[str]:
    """List the files of a folder that libraries would open; check their kinds and sizes."""
    names = list(_listed(folder))
    templates = folder / _TEMPLATES
    if templates.is_dir():
        names += [f"{_TEMPLATES}/{name}" for name in _listed(templates)]
    if len(names) > _MOST_FILES:
        refuse(Fault.OVERSIZED(detail=f"it has more than {_MOST_FILES} files"))
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
        refuse(Fault.NO_PLAIN_FILE(name=shown(name)))
    if _OTHER_WEIGHTS.fullmatch(name):
        detail = f"its {shown(name)} makes it another kind of folder than a whole model"
        refuse(Fault.UNSUPPORTED(detail=detail))
    n_bytes, limit = entry.stat().st_size, _limit(name)
    if limit is not None and n_bytes > limit:
        detail = f"its {shown(name)} has {n_bytes} bytes, and {limit} are the most"
        refuse(Fault.OVERSIZED(detail=detail))


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
        refuse(f"its {shown(path.name)} is nested too deeply")
    except ValueError:
        refuse(f"its {shown(path.name)} is no JSON")


def _check_json(name: str, content: object) -> None:
    if not isinstance(content, dict):
        refuse(f"its {shown(name)} should hold an object, got {shown(content)}")
    for key, value in _entries(content):
        if value is None:
            continue
        if key == _CODE:
            refuse(
                Fault.NAMES_CODE(detail=f"its {shown(name)} names Python code of its own ({_CODE})")
            )
        if name == _CONFIG:
            _check_setting(key, value)
        elif name == "tokenizer_config.json" and key in _FILES and value:
            refuse(Fault.NAMES_CODE(detail=f"its {shown(name)} names files of its own ({key})"))


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
        detail = f"its {_CONFIG} asks for what is not its own weights ({key})"
        refuse(Fault.NAMES_CODE(detail=detail))
    if key == "quantization_config":
        _check_packing(value)
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if key in _WHOLE and not (is_whole and 1 <= cast("int", value) <= _MOST):
        refuse(f"its {_CONFIG} gives {shown(value)} as {key}, which is no whole number")
    if is_whole and _COUNTED.fullmatch(key) and cast("int", value) > _MOST_COUNTED:
        detail = (
            f"its {_CONFIG} gives {shown(value)} as {shown(key)}, and {_MOST_COUNTED} is the most"
        )
        refuse(Fault.OVERSIZED(detail=detail))


def _check_packing(value: object) -> None:
    """Accept weights packed by bitsandbytes alone: other packings fetch programs."""
    method = value.get("quant_method") if isinstance(value, dict) else value
    if method != "bitsandbytes":
        detail = f"its weights are packed as {shown(method)}; take the model with whole weights"
        refuse(Fault.UNSUPPORTED(detail=detail))
