"""Read and write ``surtitle.json`` of an adapter folder: its purpose, its base and its data.

``docs/adapter-format.md`` describes every field. Unknown keys are kept when a card is rewritten, so
that a newer program's card loses nothing; a newer ``format_version`` is refused.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated

from engine.errors import PolicyError
from engine.models.fingerprint import Fingerprint
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
)
from engine.policy import family, parse_slot_policy
from engine.untrusted.faults import Fault, FaultError, refuse
from engine.untrusted.plain_files import is_plain_name
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
