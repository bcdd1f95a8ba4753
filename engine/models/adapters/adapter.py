"""Inspect an adapter folder: its content, and whether it can be used on a base.

Only headers and small files are read, without torch, so a dialog can inspect a whole library at
once. The files of a folder are checked against each other before its weights are read.
``docs/adapter-format.md`` describes the format and every field of the card. Unknown keys are kept
when a card is rewritten, so that a newer program's card loses nothing.
"""

import contextlib
import enum
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated

from engine.errors import AdapterError, PolicyError, message_of
from engine.files import replacing
from engine.layout.planner import LAYOUTS
from engine.messages import Code, Message
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
from engine.models.model_card import (
    FILE_NAME,
    MAX_CARD_BYTES,
    MAX_SLOT_LENGTH,
    Calibration,
    Language,
    LongText,
    ModelCard,
    ShortText,
    checked_languages,
    is_plain,
    plain_card,
    read_card,
)
from engine.policy import family, parse_slot_policy
from engine.untrusted.faults import Fault, FaultError, fault_of, refuse
from engine.untrusted.file_headers import read_header
from engine.untrusted.plain_files import file_sha256, is_plain_name
from engine.untrusted.strict_json import (
    NEEDED,
    SHA256,
    Between,
    Count,
    JsonObject,
    read_object,
    shown,
)

FORMAT_VERSION = 1
KIND = "adapter"
PROMPT_TEMPLATE = "surtitle-chat-1"
"""The prompts of ``engine.text.prompt``: headers from the tokenizer's chat template."""

_LONGEST_NAME = 64
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}", re.ASCII)


def check_name(name: str) -> str:
    """Raise ValueError unless a name is a plain folder name on every system; return it."""
    if not is_plain_name(name, _LONGEST_NAME):
        refuse(
            f"has the name {shown(name)}: a name has 1 to {_LONGEST_NAME} letters and digits of "
            "ASCII, with dots, hyphens and underscores between them"
        )
    return name


def check_language(code: str) -> str:
    """Raise ValueError unless a text is a language's code (de, pt-BR, zh-Hant); return it."""
    if not _LANGUAGE.fullmatch(code):
        refuse(f"names the language {shown(code)}, which is no code like de or pt-BR")
    return code


def _checked_languages(languages: Mapping[str, Language]) -> Mapping[str, Language]:
    if not languages:
        refuse("names no target language")
    for code in checked_languages(languages):
        check_language(code)
    return languages


def _checked_policies(policies: tuple[str, ...]) -> tuple[str, ...]:
    if not policies:
        refuse("names no policy")
    return tuple(_policy(text) for text in policies)


def _policy(text: str) -> str:
    try:
        return str(parse_slot_policy(text))
    except PolicyError as error:
        detail = f"names the policy {shown(text)}, which is not written read:N, wait:K or offline"
        raise FaultError(detail) from error


_Token = Annotated[str, Between(1, 1000)]
_LanguageCode = Annotated[str, check_language]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A corpus that an adapter was trained on, with the number of sentence pairs, if counted."""

    name: ShortText
    licence: ShortText
    pairs: Count | None = None
    url: ShortText = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterScore:
    """The score of an adapter on a test set under one policy.

    Attributes:
        lines: sentences in the test set.
        bleu: 0 to 100.
        laal: in source words; None if nothing was written.
        signature: of sacreBLEU's settings, or empty.
        base_bleu: of the base alone, measured alike; None if not measured.
    """

    test_set: ShortText
    lines: Count
    language: _LanguageCode
    policy: Annotated[str, _policy]
    bleu: float
    laal: float | None
    signature: ShortText = ""
    base_bleu: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterCard:
    """The description of an adapter beyond its weights.

    Attributes:
        name: of the adapter, and of its folder in a library; see ``check_name``.
        base_name: for example Qwen/Qwen2.5-7B-Instruct.
        end_of_source: token that ends the source, as the base's tokenizer spells it.
        end_of_write: token that ends a write of read-n.
        end_of_target: token that ends the target of wait-k and offline.
        slot_length: positions of a slot of captions.
        slot_lengths: every slot length in training; empty for ``slot_length`` alone.
        layout: ``slots``, or the name of a layout that slots are compared with.
        prompt_template: id of the format of prompts.
        created_with: name and version of the program that made it.
        created_at: the day, as 2026-11-21.
        commands: that made it, in order.
        calibration: of the base with the adapter; None if that was not calibrated.
        others: unknown keys.
    """

    name: Annotated[str, check_name]
    base_name: str
    base: Fingerprint
    languages: Annotated[Mapping[str, Language], _checked_languages]
    end_of_source: _Token
    end_of_write: _Token
    end_of_target: _Token
    slot_length: Annotated[int, Between(1, MAX_SLOT_LENGTH)]
    policies: Annotated[tuple[str, ...], _checked_policies]
    slot_lengths: Annotated[tuple[int, ...], Between(1, MAX_SLOT_LENGTH)] = ()
    layout: ShortText = "slots"
    prompt_template: Annotated[ShortText, NEEDED] = PROMPT_TEMPLATE
    source_language: Annotated[str, check_language, NEEDED] = "en"
    weights_sha256: Annotated[str, SHA256, NEEDED] = ""
    description: LongText = ""
    licence: ShortText = ""
    created_with: ShortText = ""
    created_at: ShortText = ""
    data: tuple[Corpus, ...] = ()
    commands: tuple[str, ...] = ()
    seeds: Annotated[tuple[int, ...], Between(most=2**63 - 1)] = ()
    scores: tuple[AdapterScore, ...] = ()
    calibration: Calibration | None = None
    others: Mapping[str, object] = field(default_factory=dict)

    def gain(self, language: str, known: str) -> float | None:
        """Return the mean gain over its base in BLEU; None if no score names the base's.

        ``known`` is a family of policies, see ``engine.policy.family``.
        """
        gains = [
            score.bleu - score.base_bleu
            for score in self.scores
            if score.base_bleu is not None
            and score.language == language
            and family(score.policy) == known
        ]
        return sum(gains) / len(gains) if gains else None

    def model_card(self) -> ModelCard:
        return ModelCard(
            name=f"{self.base_name} with {self.name}",
            languages=self.languages,
            end_of_source=self.end_of_source,
            end_of_write=self.end_of_write,
            end_of_target=self.end_of_target,
            slot_length=self.slot_length,
            policies=self.policies,
            calibration=self.calibration,
            layout=self.layout,
        )

    def text(self) -> str:
        content = asdict(self)
        others = content.pop("others")
        if self.calibration is None:
            del content["calibration"]
        base = {"name": content.pop("base_name")} | content.pop("base")
        first = {"format_version": FORMAT_VERSION, "kind": KIND}
        return json.dumps(first | {"base": base} | content | others, indent=2, ensure_ascii=False)


def read_adapter_card(folder: Path) -> AdapterCard:
    """Read the card of an adapter folder.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read.
        ValueError: it is garbled or of a newer format; the text continues a sentence that begins
            with the file.
    """
    return parse_adapter_card(JsonObject.read(folder / FILE_NAME, MAX_CARD_BYTES))


def parse_adapter_card(content: JsonObject) -> AdapterCard:
    """Parse a card; raises ValueError as ``read_adapter_card`` does."""
    version = content.integer("format_version", least=1)
    if version > FORMAT_VERSION:
        detail = f"is of format version {version}, and this program reads {FORMAT_VERSION}"
        refuse(Fault.NEWER_FORMAT(detail=detail))
    if content.text("kind", "model") != KIND:
        refuse(Fault.UNSUPPORTED(detail=f"describes no adapter: its 'kind' is not {KIND!r}"))
    known = {"format_version", "kind", *(field.name for field in fields(AdapterCard))}
    others = {key: value for key, value in content.values.items() if key not in known}
    base_name = content.inner("base").text("name", most=1000)
    given = {"base_name": base_name, "others": others}
    card = read_object(AdapterCard, content.values, given=given)
    return replace(card, slot_lengths=card.slot_lengths or (card.slot_length,))


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
