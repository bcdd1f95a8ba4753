"""``surtitle.json`` of an adapter folder: what it was trained for, on which base, from what.

``docs/adapter-format.md`` describes every field. Keys that are not known here are kept when a card
is written again, so that a newer program's card loses nothing; a newer ``format_version`` is
refused.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from engine.errors import PolicyError
from engine.models.fingerprint import Fingerprint
from engine.models.model_card import FILE_NAME, Language, ModelCard
from engine.policy import parse_policy
from engine.untrusted.safe_names import is_plain_name
from engine.untrusted.strict_json import JsonObject, shown

FORMAT_VERSION = 1
KIND = "adapter"
PROMPT_TEMPLATE = "surtitle-chat-1"
"""The prompt as ``engine.text.prompt`` builds it: headers off the tokenizer's chat template."""

MAX_CARD_BYTES = 1 << 20
MAX_SLOT_LENGTH = 1024

_LONGEST_NAME = 64
_MOST_LANGUAGES = 500
_SHORT, _LONG = 1000, 10_000  # characters of texts that are told to people, and of those with a use
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A body of text that an adapter was trained on.

    Attributes:
        name: for people.
        licence: as its owner names it.
        pairs: sentence pairs taken from it, or None where nobody counted.
        url: where it is found, or nothing.
    """

    name: str
    licence: str
    pairs: int | None = None
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterScore:
    """How an adapter did on a test set under one policy.

    Attributes:
        test_set: for people.
        lines: sentences in it.
        language: code of the target.
        policy: as policies are written.
        bleu: 0 to 100.
        laal: in source words; None where nothing was written.
        signature: what sacreBLEU says of its settings, or nothing.
        base_bleu: of the base alone, measured alike; None where nobody did.
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
    """What is known of an adapter beyond its weights.

    Attributes:
        name: of the adapter, and of its folder in a library; see ``check_name``.
        base_name: what people call the base, for example Qwen/Qwen2.5-7B-Instruct.
        base: its fingerprint.
        languages: target languages by code.
        end_of_source: token that ends the source, as the base's tokenizer spells it.
        end_of_write: token that ends a write of read-n.
        end_of_target: token that ends the target of wait-k and offline.
        slot_length: positions of a slot that captions should use.
        policies: those it was trained for, as they are written.
        slot_lengths: every slot length that stood in training; none for ``slot_length`` alone.
        layout: ``slots``, or the name of a layout that slots are compared with.
        prompt_template: id of the way prompts are built.
        source_language: code of the source.
        weights_sha256: of adapter_model.safetensors.
        description: for people.
        licence: of the adapter.
        created_with: name and version of the program that made it.
        created_at: the day, as 2026-11-21.
        data: what it was trained on.
        commands: what was typed to make it, in order.
        seeds: of the random numbers.
        scores: what was measured.
        others: keys that are not known here.
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
    others: Mapping[str, object] = field(default_factory=dict)

    def gain(self, language: str, family: str) -> float | None:
        """Tell what it adds to its base for a language under a family of policies.

        Args:
            language: code of the target.
            family: ``read``, ``wait`` or ``offline``.

        Returns:
            mean difference in BLEU over the scores that name the base's; None where none does.
        """
        gains = [
            one.bleu - one.base_bleu
            for one in self.scores
            if one.base_bleu is not None
            and one.language == language
            and one.policy.partition(":")[0] == family
        ]
        return sum(gains) / len(gains) if gains else None

    def model_card(self) -> ModelCard:
        """Say what the engine must know of the base with this adapter on it."""
        return ModelCard(
            name=f"{self.base_name} with {self.name}",
            languages=self.languages,
            end_of_source=self.end_of_source,
            end_of_write=self.end_of_write,
            end_of_target=self.end_of_target,
            slot_length=self.slot_length,
            policies=self.policies,
            layout=self.layout,
        )

    def text(self) -> str:
        """Write the card as JSON."""
        content = asdict(self)
        others = content.pop("others")
        base = {"name": content.pop("base_name")} | content.pop("base")
        first = {"format_version": FORMAT_VERSION, "kind": KIND}
        return json.dumps(first | {"base": base} | content | others, indent=2, ensure_ascii=False)


def read_adapter_card(folder: Path) -> AdapterCard:
    """Read the card of an adapter folder.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read.
        ValueError: it is garbled or of a newer format; the text goes on a sentence that begins
            with the file.
    """
    return parse_adapter_card(JsonObject.read(folder / FILE_NAME, MAX_CARD_BYTES))


def parse_adapter_card(content: JsonObject) -> AdapterCard:
    """Take a card from its JSON.

    Raises:
        ValueError: as for ``read_adapter_card``.
    """
    version = content.integer("format_version", least=1)
    if version > FORMAT_VERSION:
        msg = f"is of format version {version}, and this program reads {FORMAT_VERSION}: update it"
        raise ValueError(msg)
    if content.text("kind", "model") != KIND:
        msg = f"describes no adapter: its 'kind' is not {KIND!r}"
        raise ValueError(msg)
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
    )
    known = {"format_version", "kind", *(field.name for field in fields(AdapterCard))}
    others = {key: value for key, value in content.values.items() if key not in known}
    return replace(card, others=others)


def check_name(name: str) -> str:
    """Check that a name can be a folder's on every system, and nothing but one folder's.

    Raises:
        ValueError: it cannot.
    """
    if not is_plain_name(name, _LONGEST_NAME):
        msg = (
            f"has the name {shown(name)}: a name has 1 to {_LONGEST_NAME} letters and digits of "
            "ASCII, with dots, hyphens and underscores between them"
        )
        raise ValueError(msg)
    return name


def check_language(code: str) -> str:
    """Check that text is a language's code: de, pt-BR, zh-Hant.

    Raises:
        ValueError: it is not.
    """
    if not _LANGUAGE.fullmatch(code):
        msg = f"names the language {shown(code)}, which is no code like de or pt-BR"
        raise ValueError(msg)
    return code


def _languages(content: JsonObject) -> Mapping[str, Language]:
    if len(content.values) > _MOST_LANGUAGES:
        msg = f"names {len(content.values)} target languages, and {_MOST_LANGUAGES} are the most"
        raise ValueError(msg)
    found = {
        check_language(code): Language(
            name=content.inner(code).text("name", most=_SHORT),
            system=content.inner(code).text("system", most=_LONG),
        )
        for code in content.values
    }
    if not found:
        msg = "names no target language"
        raise ValueError(msg)
    return found


def _token(content: JsonObject, key: str) -> str:
    text = content.text(key, most=_SHORT)
    if not text:
        msg = f"{shown(key)} should name a token, got nothing"
        raise ValueError(msg)
    return text


def _policies(content: JsonObject) -> tuple[str, ...]:
    policies = content.texts("policies")
    if not policies:
        msg = "names no policy"
        raise ValueError(msg)
    return tuple(_policy(text) for text in policies)


def _policy(text: str) -> str:
    try:
        return str(parse_policy(text))
    except PolicyError as error:
        msg = f"names the policy {shown(text)}, which is not written read:N, wait:K or offline"
        raise ValueError(msg) from error


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
