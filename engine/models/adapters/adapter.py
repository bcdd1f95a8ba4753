"""Inspect an adapter folder: its content, and whether it can be used on a base.

Only headers and small files are read, without torch, so a dialog can inspect a whole library at
once. The files of a folder are checked against each other before its weights are read.
``docs/adapter-format.md`` describes the format.
"""

import contextlib
import enum
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import AdapterError, message_of
from engine.files import replacing
from engine.layout.slots import LAYOUTS
from engine.messages import Code, Message
from engine.models.adapters.card import PROMPT_TEMPLATE, AdapterCard, read_adapter_card
from engine.models.adapters.lora import (
    CONFIG_FILE,
    WEIGHTS_FILE,
    Lora,
    LoraWeights,
    fit_lora,
    parse_lora,
)
from engine.models.encoder_decoder.original import is_encoder_decoder, model_record
from engine.models.fingerprint import Fingerprint, linear_layers
from engine.models.model_card import FILE_NAME, ModelCard, is_plain, plain_card, read_card
from engine.untrusted.faults import Fault, fault_of
from engine.untrusted.file_headers import read_header
from engine.untrusted.plain_files import file_sha256
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
    """A folder's content; ``card``, ``lora`` and ``weights`` are None where they cannot be read.

    Attributes:
        status: OK; UNKNOWN if it can be loaded, but may not help; BLOCKED if it cannot be loaded.
        reason: one clause about the adapter (``it has no surtitle.json, ...``); None when OK.
    """

    folder: Path
    status: Status
    reason: Message | None = None
    card: AdapterCard | None = None
    lora: Lora | None = None
    weights: LoraWeights | None = None

    @property
    def name(self) -> str:
        """The name for people: of its folder, which they chose; cards of a recipe are alike."""
        return self.folder.name


def inspect_adapter(folder: Path, base: Fingerprint | None = None) -> Adapter:
    """Inspect an adapter folder by its headers; every defect becomes a status, never an error.

    Without ``base`` it is checked against the base its card names, and OK means that it is sound.
    """
    adapter = Adapter(folder=folder, status=Status.BLOCKED)
    try:
        _check_files(folder)
        adapter = replace(adapter, card=_read_card(folder))
        adapter = replace(adapter, lora=_read_lora(folder))
        adapter = replace(adapter, weights=_read_weights(adapter, base))
        _check_base(adapter.card, base)
        reason = _doubt(adapter.card, base)
    except AdapterError as error:
        return replace(adapter, reason=error.message)
    return replace(adapter, status=Status.UNKNOWN if reason else Status.OK, reason=reason)


def usable_adapter(
    folder: Path, base: Fingerprint | None = None, *, origin: Path | None = None
) -> Adapter:
    """Inspect an adapter folder, and raise AdapterError if it is BLOCKED.

    An error names ``origin`` instead of ``folder`` if it is given.
    """
    adapter = inspect_adapter(folder, base)
    if adapter.reason is not None and adapter.status is Status.BLOCKED:
        message = Code.ADAPTER_UNUSABLE(folder=str(origin or folder), reason=adapter.reason)
        raise AdapterError(message)
    return adapter


def verify_adapter(adapter: Adapter, *, origin: Path | None = None) -> str:
    """Read all of the weights, check them against the card, and return their sha256.

    Raises:
        AdapterError: they do not match the card, or cannot be read; it names ``origin`` if given.
    """
    sha256 = _weights_sha256(adapter.folder)
    if adapter.card is not None and adapter.card.weights_sha256 != sha256:
        detail = f"{WEIGHTS_FILE} was changed or damaged after its card was written"
        reason = Fault.DAMAGED(detail=detail)
        message = Code.ADAPTER_UNUSABLE(folder=str(origin or adapter.folder), reason=reason)
        raise AdapterError(message)
    return sha256


def write_adapter_card(folder: Path, card: AdapterCard) -> Adapter:
    """Finish an adapter folder that peft saved: write its card and inspect the result.

    The card's ``weights_sha256`` is filled in here.

    Raises:
        AdapterError: the card cannot be written, or the folder does not match the card.
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
    """Return the card of the adapter if there is one, else of the model folder.

    A model folder without a card is prompted as an instruct model.

    Raises:
        ModelError: it is no model folder, or its card is garbled.
    """
    if adapter is not None and adapter.card is not None:
        return adapter.card.model_card()
    if is_encoder_decoder(directory):
        return model_record(directory).card
    return plain_card(directory) if is_plain(directory) else read_card(directory)


def _check_files(folder: Path) -> None:
    """Check that the files exist and are plain: a link or a pipe may lead anywhere."""
    try:
        plain = {entry.name: entry.is_file(follow_symlinks=False) for entry in os.scandir(folder)}
    except (OSError, ValueError) as error:  # ValueError: an invalid path
        raise AdapterError(Fault.FOLDER_UNREADABLE(reason=message_of(error))) from error
    for name in sorted(plain):
        if name.startswith("adapter_model.") and name.endswith(_PICKLES):
            raise AdapterError(Fault.WEIGHTS_PICKLED(name=ascii(name)[1:-1]))
    for name in (CONFIG_FILE, WEIGHTS_FILE, FILE_NAME):
        if name not in plain and name in (CONFIG_FILE, WEIGHTS_FILE):
            raise AdapterError(Fault.HAS_NO(name=name))
        if not plain.get(name, True):
            raise AdapterError(Fault.NO_PLAIN_FILE(name=name))


@contextlib.contextmanager
def _adapter_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise AdapterError(fault_of(error, name)) from error


def _read_card(folder: Path) -> AdapterCard | None:
    with _adapter_errors(FILE_NAME):
        try:
            return read_adapter_card(folder)
        except FileNotFoundError:
            return None


def _read_lora(folder: Path) -> Lora:
    with _adapter_errors(CONFIG_FILE):
        return parse_lora(JsonObject.read(folder / CONFIG_FILE, _MAX_CONFIG_BYTES))


def _read_weights(adapter: Adapter, base: Fingerprint | None) -> LoraWeights:
    """Check the factors against the base of the card, or without a card against ``base``."""
    assert adapter.lora is not None
    own = adapter.card.base if adapter.card else base
    with _adapter_errors(WEIGHTS_FILE):
        return fit_lora(adapter.lora, read_header(adapter.folder / WEIGHTS_FILE), own)


def _check_base(card: AdapterCard | None, base: Fingerprint | None) -> None:
    if card is None:
        return
    if card.prompt_template != PROMPT_TEMPLATE:
        prompt, known = shown(card.prompt_template), PROMPT_TEMPLATE
        detail = f"it was trained with the prompt {prompt}, and this program builds {known!r}"
        raise AdapterError(Fault.UNSUPPORTED(detail=detail))
    if card.layout not in LAYOUTS:
        layout, known = shown(card.layout), ", ".join(LAYOUTS)
        detail = f"it was trained for the layout {layout}, and this program knows {known}"
        raise AdapterError(Fault.UNSUPPORTED(detail=detail))
    difference = None if base is None else card.base.difference(base)
    if difference is not None:
        base_name = shown(card.base_name)
        raise AdapterError(Fault.OTHER_BASE(base=base_name, detail=difference))


def _doubt(card: AdapterCard | None, base: Fingerprint | None) -> Message | None:
    """Return the reason why a sound adapter may not help; None if there is none."""
    if card is None:
        return Fault.NO_CARD(name=FILE_NAME)
    if card.layout != "slots":
        detail = f"it was trained for the layout {shown(card.layout)}, and captions use slots"
        return Fault.UNTRIED(detail=detail)
    if linear_layers(base or card.base) is None:
        detail = f"the layers of {shown(card.base.architecture)} are not known here"
        return Fault.UNTRIED(detail=detail)
    return None


def _weights_sha256(folder: Path) -> str:
    try:
        return file_sha256(folder / WEIGHTS_FILE)
    except OSError as error:
        reason = fault_of(error, WEIGHTS_FILE)
        raise AdapterError(Code.ADAPTER_UNUSABLE(folder=str(folder), reason=reason)) from error
