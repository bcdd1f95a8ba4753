"""Read and write ``surtitle.json`` of an adapter folder: its purpose, its base and its data.

``docs/adapter-format.md`` describes every field. Unknown keys are kept when a card is rewritten, so
that a newer program's card loses nothing; a newer ``format_version`` is refused.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from engine.errors import PolicyError
from engine.models.adaptive_card import AdaptiveCard
from engine.models.fingerprint import Fingerprint
from engine.models.model_card import (
    FILE_NAME,
    Calibration,
    Language,
    ModelCard,
    parse_calibration,
)
from engine.policy import family, parse_slot_policy
from engine.untrusted.faults import Fault, FaultError, refuse
from engine.untrusted.safe_names import is_plain_name
from engine.untrusted.strict_json import JsonObject, shown

FORMAT_VERSION = 1
KIND = "adapter"
PROMPT_TEMPLATE = "surtitle-chat-1"
"""The prompts of ``engine.text.prompt``: headers from the tokenizer's chat template."""

MAX_CARD_BYTES = 1 << 20
MAX_SLOT_LENGTH = 1024

_LONGEST_NAME = 64
_MOST_LANGUAGES = 500
_SHORT, _LONG = 1000, 10_000  # characters of texts that are shown, and of those with a use
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A corpus that an adapter was trained on.

    Attributes:
        pairs: sentence pairs taken from it; None if not counted.
        url: may be empty.
    """

    name: str
    licence: str
    pairs: int | None = None
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterScore:
    """The score of an adapter on a test set under one policy.

    Attributes:
        test_set: its name for people.
        lines: sentences in it.
        language: code of the target.
        policy: in its notation, for example read:3.
        bleu: 0 to 100.
        laal: in source words; None if nothing was written.
        signature: of sacreBLEU's settings, or empty.
        base_bleu: of the base alone, measured alike; None if not measured.
    """

    test_set: str
    lines: int
    language: str
    policy: str
    bleu: float
    laal: float | None
    signature: str = ""
    base_bleu: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterCard:
    """The description of an adapter beyond its weights.

    Attributes:
        name: of the adapter, and of its folder in a library; see ``check_name``.
        base_name: name of the base, for example Qwen/Qwen2.5-7B-Instruct.
        base: its fingerprint.
        languages: target languages by code.
        end_of_source: token that ends the source, as the base's tokenizer spells it.
        end_of_write: token that ends a write of read-n.
        end_of_target: token that ends the target of wait-k and offline.
        slot_length: positions of a slot of captions.
        policies: of its training, in their notation.
        slot_lengths: every slot length in training; empty for ``slot_length`` alone.
        layout: ``slots``, or the name of a layout that slots are compared with.
        prompt_template: id of the format of prompts.
        source_language: code of the source.
        weights_sha256: of adapter_model.safetensors.
        created_with: name and version of the program that made it.
        created_at: the day, as 2026-11-21.
        data: the corpora it was trained on.
        commands: that made it, in order.
        calibration: of the base with the adapter; None if that was not calibrated.
        adaptive: of its policy head, and how much adaptive policies lag; None without either.
        others: unknown keys.
    """

    name: str
    base_name: str
    base: Fingerprint
    languages: Mapping[str, Language]
    end_of_source: str
    end_of_write: str
    end_of_target: str
    slot_length: int
    policies: tuple[str, ...]
    slot_lengths: tuple[int, ...] = ()
    layout: str = "slots"
    prompt_template: str = PROMPT_TEMPLATE
    source_language: str = "en"
    weights_sha256: str = ""
    description: str = ""
    licence: str = ""
    created_with: str = ""
    created_at: str = ""
    data: tuple[Corpus, ...] = ()
    commands: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    scores: tuple[AdapterScore, ...] = ()
    calibration: Calibration | None = None
    adaptive: AdaptiveCard | None = None
    others: Mapping[str, object] = field(default_factory=dict)

    @property
    def has_head(self) -> bool:
        """Whether a policy head belongs to the adapter."""
        return self.adaptive is not None and bool(self.adaptive.head_sha256)

    def gain(self, language: str, known: str) -> float | None:
        """Return the mean gain over its base in BLEU; None if no score names the base's.

        Args:
            language: code of the target.
            known: family of policies, see ``engine.policy.family``.
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
        """Return the card of the base with this adapter."""
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
            adaptive=self.adaptive,
        )

    def text(self) -> str:
        """Return the card as JSON."""
        content = asdict(self)
        others = content.pop("others")
        for key in ("calibration", "adaptive"):
            if content[key] is None:
                del content[key]
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
    base = content.inner("base")
    slot_length = content.integer("slot_length", least=1, most=MAX_SLOT_LENGTH)
    card = AdapterCard(
        name=check_name(content.text("name")),
        base_name=base.text("name", most=_SHORT),
        base=Fingerprint.parse(base),
        languages=_languages(content.inner("languages")),
        end_of_source=_token(content, "end_of_source"),
        end_of_write=_token(content, "end_of_write"),
        end_of_target=_token(content, "end_of_target"),
        slot_length=slot_length,
        policies=_policies(content),
        slot_lengths=(
            content.integers("slot_lengths", least=1, most=MAX_SLOT_LENGTH, default=())
            or (slot_length,)
        ),
        layout=content.text("layout", "slots", most=_SHORT),
        prompt_template=content.text("prompt_template", most=_SHORT),
        source_language=check_language(content.text("source_language")),
        weights_sha256=content.sha256("weights_sha256"),
        description=content.text("description", "", most=_LONG),
        licence=content.text("licence", "", most=_SHORT),
        created_with=content.text("created_with", "", most=_SHORT),
        created_at=content.text("created_at", "", most=_SHORT),
        data=tuple(_corpus(entry) for entry in content.inners("data")),
        commands=content.texts("commands", ()),
        seeds=content.integers("seeds", most=2**63 - 1, default=()),
        scores=tuple(_score(entry) for entry in content.inners("scores")),
        calibration=parse_calibration(content),
        adaptive=AdaptiveCard.parse(content),
    )
    known = {"format_version", "kind", *(field.name for field in fields(AdapterCard))}
    others = {key: value for key, value in content.values.items() if key not in known}
    return replace(card, others=others)


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


def _languages(content: JsonObject) -> Mapping[str, Language]:
    if len(content.values) > _MOST_LANGUAGES:
        refuse(f"names {len(content.values)} target languages, and {_MOST_LANGUAGES} are the most")
    if not content.values:
        refuse("names no target language")
    return {
        check_language(code): Language(
            name=content.inner(code).text("name", most=_SHORT),
            system=content.inner(code).text("system", most=_LONG),
        )
        for code in content.values
    }


def _token(content: JsonObject, key: str) -> str:
    text = content.text(key, most=_SHORT)
    if not text:
        refuse(f"{shown(key)} should name a token, got nothing")
    return text


def _policies(content: JsonObject) -> tuple[str, ...]:
    policies = content.texts("policies")
    if not policies:
        refuse("names no policy")
    return tuple(_policy(text) for text in policies)


def _policy(text: str) -> str:
    try:
        return str(parse_slot_policy(text))
    except PolicyError as error:
        detail = (
            f"names the policy {shown(text)}, which is not written read:N, wait:K, "
            "adaptive:TAU[:MOST] or offline"
        )
        raise FaultError(detail) from error


def _corpus(content: JsonObject) -> Corpus:
    return Corpus(
        name=content.text("name", most=_SHORT),
        licence=content.text("licence", most=_SHORT),
        pairs=None if content.values.get("pairs") is None else content.integer("pairs"),
        url=content.text("url", "", most=_SHORT),
    )


def _score(content: JsonObject) -> AdapterScore:
    return AdapterScore(
        test_set=content.text("test_set", most=_SHORT),
        lines=content.integer("lines"),
        language=check_language(content.text("language")),
        policy=_policy(content.text("policy")),
        bleu=content.number("bleu"),
        laal=None if content.values.get("laal") is None else content.number("laal"),
        signature=content.text("signature", "", most=_SHORT),
        base_bleu=None if content.values.get("base_bleu") is None else content.number("base_bleu"),
    )
