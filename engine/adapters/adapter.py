"""An adapter folder: what it holds, whether it can be used on a base, and if not, why.

Only headers and small files are read, without torch, so a dialog can judge a library of adapters at
once. Nothing in a folder is believed before it was held against the rest, and its weights are
read only after that. ``docs/adapter-format.md`` describes the format.
"""

import contextlib
import enum
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.adapters.card import PROMPT_TEMPLATE, AdapterCard, read_adapter_card
from engine.adapters.lora_config import CONFIG_FILE, Lora, parse_lora
from engine.adapters.lora_weights import WEIGHTS_FILE, LoraWeights, fit_lora
from engine.errors import AdapterError
from engine.files import replacing
from engine.messages import Code
from engine.models.file_hash import file_sha256
from engine.models.fingerprint import Fingerprint
from engine.models.instruct_card import is_plain, plain_card
from engine.models.linear_layers import linear_layers
from engine.models.model_card import FILE_NAME, ModelCard, read_card
from engine.settings import LAYOUTS
from engine.untrusted.safetensors_header import read_header
from engine.untrusted.strict_json import JsonObject, shown

_MAX_CONFIG_BYTES = 1 << 20
_PICKLES = (".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth")


class Status(enum.StrEnum):
    """Whether an adapter can be used."""

    OK = "ok"
    UNKNOWN = "unknown"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """What was found in an adapter folder.

    Attributes:
        folder: where it lies.
        status: OK; UNKNOWN where it can be loaded and nobody knows whether it helps; BLOCKED where
            it cannot be loaded.
        reason: one clause about the adapter (``it has no surtitle.json, ...``); empty when OK.
        card: what it says of itself; None where it says nothing, or nothing that can be read.
        lora: rank, alpha and targets; None where they cannot be read.
        weights: layers, parameters and size; None where the factors are not as they should be.
    """

    folder: Path
    status: Status
    reason: str = ""
    card: AdapterCard | None = None
    lora: Lora | None = None
    weights: LoraWeights | None = None

    @property
    def name(self) -> str:
        """What people call it."""
        return self.card.name if self.card else self.folder.name


def inspect_adapter(folder: Path, base: Fingerprint | None = None) -> Adapter:
    """Judge an adapter folder by its headers. Whatever is in it becomes a status, never an error.

    Args:
        folder: the adapter's.
        base: the model it should sit on; without one it is held against the base its card names,
            and OK means that it is sound.
    """
    found = Adapter(folder=folder, status=Status.BLOCKED)
    try:
        _check_files(folder)
        found = replace(found, card=_read_card(folder))
        found = replace(found, lora=_read_lora(folder))
        found = replace(found, weights=_read_weights(found, base))
        _check_base(found.card, base)
        reason = _doubt(found.card, base)
    except AdapterError as error:
        return replace(found, reason=str(error))
    return replace(found, status=Status.UNKNOWN if reason else Status.OK, reason=reason)


def usable_adapter(
    folder: Path, base: Fingerprint | None = None, *, told: Path | None = None
) -> Adapter:
    """Judge an adapter folder as ``inspect_adapter`` does, and insist that it can be loaded.

    Args:
        folder: the adapter's.
        base: the model it should sit on.
        told: the folder that an error names; None for ``folder``.

    Returns:
        an adapter that is OK or UNKNOWN.

    Raises:
        AdapterError: it is BLOCKED.
    """
    found = inspect_adapter(folder, base)
    if found.status is Status.BLOCKED:
        raise AdapterError(Code.ADAPTER_UNUSABLE(folder=str(told or folder), reason=found.reason))
    return found


def verify_adapter(adapter: Adapter, *, told: Path | None = None) -> str:
    """Read all of the weights and hold them against the card.

    Args:
        adapter: what was judged.
        told: the folder that an error names; None for the adapter's.

    Returns:
        the sha256 of the weights.

    Raises:
        AdapterError: they are not what the card was written for, or cannot be read.
    """
    sha256 = _weights_sha256(adapter.folder)
    if adapter.card is not None and adapter.card.weights_sha256 != sha256:
        msg = (
            f"the adapter in {told or adapter.folder} cannot be used: its {WEIGHTS_FILE} was "
            "changed or damaged after its card was written; get it again"
        )
        raise AdapterError(msg)
    return sha256


def write_adapter_card(folder: Path, card: AdapterCard) -> Adapter:
    """Finish an adapter folder that peft saved: write its card and judge the whole.

    Args:
        folder: has adapter_config.json and adapter_model.safetensors.
        card: its ``weights_sha256`` is filled in here.

    Returns:
        the adapter, whose status is not BLOCKED.

    Raises:
        AdapterError: the card cannot be written, or the folder is not what the card says.
    """
    whole = replace(card, weights_sha256=_weights_sha256(folder))
    path = folder / FILE_NAME
    try:
        with replacing(path) as fresh:
            fresh.write_text(whole.text() + "\n", encoding="utf-8")
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}; make room or choose another folder"
        raise AdapterError(msg) from error
    return usable_adapter(folder)


def model_card(directory: Path, adapter: Adapter | None) -> ModelCard:
    """Say how a model is spoken to: as its adapter was trained, else as its own card says.

    Args:
        directory: the model folder; one without a card is asked as any instruct model is.
        adapter: what sits on it.

    Raises:
        ModelError: it is no model folder, or its card is garbled.
    """
    if adapter is not None and adapter.card is not None:
        return adapter.card.model_card()
    return plain_card(directory) if is_plain(directory) else read_card(directory)


def _check_files(folder: Path) -> None:
    """Check that the files are there and are files: a link or a pipe may lead anywhere."""
    try:
        is_plain = {
            entry.name: entry.is_file(follow_symlinks=False) for entry in os.scandir(folder)
        }
    except (OSError, ValueError) as error:  # the last by a path that is none
        reason = error.strerror if isinstance(error, OSError) else "it has no path"
        msg = f"its folder cannot be read ({reason})"
        raise AdapterError(msg) from error
    for name in sorted(is_plain):
        if name.startswith("adapter_model.") and name.endswith(_PICKLES):
            plain = ascii(name)[1:-1]
            msg = f"its weights are a pickle ({plain}), which can run code: save it as safetensors"
            raise AdapterError(msg)
    for name in (CONFIG_FILE, WEIGHTS_FILE, FILE_NAME):
        if name not in is_plain and name != FILE_NAME:
            msg = f"it has no {name}"
            raise AdapterError(msg)
        if not is_plain.get(name, True):
            msg = f"its {name} is a link or no plain file: put the file itself there"
            raise AdapterError(msg)


@contextlib.contextmanager
def _telling(name: str) -> Iterator[None]:
    """Turn what is wrong with a file into a clause about the adapter."""
    try:
        yield
    except OSError as error:
        msg = f"its {name} cannot be read ({error.strerror})"
        raise AdapterError(msg) from error
    except ValueError as error:
        msg = f"its {name} {error}"
        raise AdapterError(msg) from error


def _read_card(folder: Path) -> AdapterCard | None:
    with _telling(FILE_NAME):
        try:
            return read_adapter_card(folder)
        except FileNotFoundError:
            return None


def _read_lora(folder: Path) -> Lora:
    with _telling(CONFIG_FILE):
        return parse_lora(JsonObject.read(folder / CONFIG_FILE, _MAX_CONFIG_BYTES))


def _read_weights(found: Adapter, base: Fingerprint | None) -> LoraWeights:
    """Hold the factors against the base on the card; without a card, against the one at hand."""
    assert found.lora is not None
    own = found.card.base if found.card else base
    with _telling(WEIGHTS_FILE):
        return fit_lora(found.lora, read_header(found.folder / WEIGHTS_FILE), own)


def _check_base(card: AdapterCard | None, base: Fingerprint | None) -> None:
    if card is None:
        return
    if card.prompt_template != PROMPT_TEMPLATE:
        msg = (
            f"it was trained with the prompt {shown(card.prompt_template)}, and this program "
            f"builds {PROMPT_TEMPLATE!r}"
        )
        raise AdapterError(msg)
    if card.layout not in LAYOUTS:
        msg = (
            f"it was trained for the layout {shown(card.layout)}, and this program knows "
            f"{', '.join(LAYOUTS)}"
        )
        raise AdapterError(msg)
    difference = None if base is None else card.base.difference(base)
    if difference is not None:
        msg = f"it was made for {shown(card.base_name)}, another model than this: {difference}"
        raise AdapterError(msg)


def _doubt(card: AdapterCard | None, base: Fingerprint | None) -> str:
    """Say why nobody knows whether a sound adapter helps; nothing where all is known."""
    if card is None:
        return (
            f"it has no {FILE_NAME}, so its base, its slot length, its policies, its languages "
            "and where it comes from are not known"
        )
    if card.layout != "slots":
        return f"it was trained for the layout {shown(card.layout)}, and captions use slots"
    if linear_layers(base or card.base) is None:
        return f"the layers of {shown(card.base.architecture)} are not known here"
    return ""


def _weights_sha256(folder: Path) -> str:
    try:
        return file_sha256(folder / WEIGHTS_FILE)
    except OSError as error:
        msg = f"the {WEIGHTS_FILE} in {folder} cannot be read: {error.strerror}; save it again"
        raise AdapterError(msg) from error
