"""Read and write ``surtitle.json``: the settings of a model folder beyond its weights.

A part of a card may be about a speech encoder, which turns sound into vectors that a translator
reads in the place of source tokens (``engine.runtime.sound``). It is of use to one translator only,
which the card names by its hash.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from engine.errors import ModelError
from engine.events import Confidence
from engine.messages import Code, tr
from engine.untrusted.faults import Fault, fault_of, refuse
from engine.untrusted.file_headers import SafetensorsHeader
from engine.untrusted.plain_files import file_sha256, is_plain_name, model_name, open_plain
from engine.untrusted.strict_json import NEEDED, SHA256, Between, JsonObject, read_object, shown

ENCODER_FILE = "speech_encoder.safetensors"
N_BINS = 80
"""Bins of the spectrum that an encoder hears."""

FRAMES_MERGED = 4
"""Frames of the encoder that one vector stands for: two convolutions of stride 2."""

_MOST_BYTES = 1 << 32
_MOST_FRAMES, _MOST_BLOCKS = 64, 256
_WIDEST, _DEEPEST, _MOST_HEADS, _WIDEST_FEED, _MOST_IDS = 4096, 64, 64, 1 << 15, 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechCard:
    """The shape of a speech encoder, and what it belongs to; the sizes are those of our own.

    Attributes:
        translator_sha256: of the weights that it was trained for.
        block_frames: frames of 40 ms that are encoded together; a multiple of ``FRAMES_MERGED``.
        context_frames: frames after a block that it sees, at most as many as a block has.
        left_blocks: blocks before it that it sees.
        heads: of each layer; an even number of numbers of the width belongs to each.
        feed_forward: width within a layer.
        vocabulary: ids that its own words are written with, the blank among them; 0: it writes
            none.
    """

    encoder_sha256: Annotated[str, SHA256, NEEDED] = ""
    translator_sha256: Annotated[str, SHA256, NEEDED] = ""
    block_frames: Annotated[int, Between(1, _MOST_FRAMES)] = 8
    context_frames: Annotated[int, Between(0, _MOST_FRAMES)] = 4
    left_blocks: Annotated[int, Between(0, _MOST_BLOCKS)] = 16
    width: Annotated[int, Between(1, _WIDEST)] = 256
    layers: Annotated[int, Between(1, _DEEPEST)] = 6
    heads: Annotated[int, Between(1, _MOST_HEADS)] = 4
    feed_forward: Annotated[int, Between(1, _WIDEST_FEED)] = 1024
    vocabulary: Annotated[int, Between(0, _MOST_IDS)] = 0

    def __post_init__(self) -> None:
        if self.block_frames < 1 or self.block_frames % FRAMES_MERGED:
            refuse(f"has {self.block_frames} frames a block, no multiple of {FRAMES_MERGED}")
        if not 0 <= self.context_frames <= self.block_frames:
            refuse(
                f"sees {self.context_frames} frames after a block, and {self.block_frames} is the "
                "most: as many as a block has"
            )
        if self.heads < 1 or self.width < 1 or self.width % (2 * self.heads):
            refuse(f"divides a width of {self.width} among {self.heads} heads, which leaves a rest")

    @property
    def positions(self) -> int:
        return self.block_frames // FRAMES_MERGED

    def shapes(self, translator_width: int) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of every tensor by its name, all of float32."""
        width, feed, merged = self.width, self.feed_forward, FRAMES_MERGED + 1
        shapes: dict[str, tuple[int, ...]] = {"mean": (N_BINS,), "scale": (N_BINS,)}
        _add(shapes, "first", width, N_BINS, 3)
        _add(shapes, "second", width, width, 3)
        for layer in range(self.layers):
            at = f"layers.{layer}."
            _add(shapes, f"{at}attention_norm", width)
            _add(shapes, f"{at}joint", 3 * width, width)
            _add(shapes, f"{at}mixed", width, width)
            _add(shapes, f"{at}feed_norm", width)
            _add(shapes, f"{at}wide", feed, width)
            _add(shapes, f"{at}narrow", width, feed)
        _add(shapes, "norm", width)
        _add(shapes, "merge_first", width, width, merged)
        _add(shapes, "merge_second", width, width, merged)
        _add(shapes, "out", translator_width, width)
        if self.vocabulary:
            _add(shapes, "words", self.vocabulary, width)
        return shapes

    def n_bytes(self, translator_width: int) -> int:
        return 4 * sum(map(math.prod, self.shapes(translator_width).values()))


def _add(shapes: dict[str, tuple[int, ...]], name: str, *weight: int) -> None:
    shapes[f"{name}.weight"] = weight
    shapes[f"{name}.bias"] = weight[:1]


def check_speech_header(header: SafetensorsHeader, card: SpeechCard, translator_width: int) -> None:
    """Refuse a file that does not hold just the tensors that a card promises.

    Raises:
        ValueError: it does not; the text continues a sentence that begins with the file.
    """
    shapes = card.shapes(translator_width)
    for name, entry in header.tensors.items():
        if name not in shapes or entry.dtype != "F32":
            refuse(
                f"has the tensor {shown(name)} of type {entry.dtype}, and tensors of type F32 of "
                f"an encoder of {card.layers} layers were expected"
            )
        if entry.shape != shapes[name]:
            wanted = list(shapes[name])
            refuse(f"has {name} in the shape {list(entry.shape)}, and {wanted} was expected")
    for name in shapes:
        if name not in header.tensors:
            refuse(f"lacks the tensor {name}")


def most_bytes(card: SpeechCard, translator_width: int) -> int:
    """Return how many bytes the tensors may have.

    Raises:
        ValueError: more than can be read here.
    """
    n_bytes = card.n_bytes(translator_width)
    if n_bytes > _MOST_BYTES:
        detail = f"has {n_bytes} bytes by its card, and {_MOST_BYTES} are the most"
        refuse(Fault.OVERSIZED(detail=detail))
    return n_bytes


def translator_sha256(folder: Path) -> str:
    """Return the hash of the weights in a model folder; of several files that of their hashes.

    Raises:
        OSError: there are none, or they cannot be read.
    """
    paths = sorted(folder.glob("model-*.safetensors")) or [folder / "model.safetensors"]
    hashes = [file_sha256(path) for path in paths]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


# The meaning of a licence's name, as the hub writes it.

_README_BYTES = 1 << 16
_LICENCE = re.compile(r"^license:\s*['\"]?([A-Za-z0-9.-]{2,40})", re.MULTILINE)
_FOR_ALL = {"mit", "apache-2.0", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "bsd-3-clause"}


def forbids_commerce(licence: str) -> bool:
    """Return whether a licence forbids commercial use, such as CC-BY-NC-4.0."""
    return "nc" in licence.lower().split("-")


def allows_any_use(licence: str) -> bool:
    """Return whether a licence is known to allow every use, commercial use, too."""
    return licence.lower() in _FOR_ALL


def readme_licence(folder: Path) -> str:
    """Return the licence in the head of README.md, as the hub writes it; empty for none."""
    try:
        with open_plain(folder / "README.md") as file:
            text = file.read(_README_BYTES).decode(errors="replace")
    except OSError:
        return ""
    head = text.split("---")[1] if text.startswith("---") and text.count("---") > 1 else ""
    found = _LICENCE.search(head)
    return found[1].lower() if found else ""


FILE_NAME = "surtitle.json"
FORMAT_VERSION = 1
MAX_CARD_BYTES = 1 << 20
MAX_SLOT_LENGTH = 1024

_LONGEST_CODE = 40
_MOST_LANGUAGES, _MOST_POLICIES = 500, 100
_STEEPEST = 100
_FARTHEST = 700  # from the middle of the curve; e to a higher power is no float
_MANY = 40  # languages that a message names

ShortText = Annotated[str, Between(most=1000)]
LongText = Annotated[str, Between(most=10_000)]
"""Texts of a card: those that are shown, and those with a use."""

_Value = TypeVar("_Value")


def checked_languages(languages: Mapping[str, _Value]) -> dict[str, _Value]:
    if len(languages) > _MOST_LANGUAGES:
        refuse(f"names {len(languages)} target languages, and {_MOST_LANGUAGES} are the most")
    for code in languages:  # also the name of a glossary's file
        if not is_plain_name(code, _LONGEST_CODE):
            refuse(f"names the language {shown(code)}, which is no code like de or pt-BR")
    return dict(languages)


def _checked_policies(policies: tuple[str, ...]) -> tuple[str, ...]:
    if len(policies) > _MOST_POLICIES:
        refuse(f"names {len(policies)} policies, and {_MOST_POLICIES} are the most")
    return policies


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A target language: its English name, and the system message that asks for it."""

    name: ShortText
    system: LongText


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A logistic curve from the log-probability of a caption to how likely it is good.

    Made by ``surtitle-train calibrate`` from captions and references.

    Attributes:
        slope: for each nat of the mean log-probability of the caption's tokens.
        threshold: probability below which a caption is marked as doubtful.
    """

    slope: Annotated[float, Between(0, _STEEPEST)]
    offset: Annotated[float, Between(-_STEEPEST, _STEEPEST)]
    threshold: Annotated[float, Between(0, 1)]

    def probability(self, mean_log_probability: float) -> float:
        """Return how likely a caption is good, 0 to 1."""
        value = self.slope * mean_log_probability + self.offset
        return 1 / (1 + math.exp(min(-value, _FARTHEST)))

    def confidence(self, mean_log_probability: float) -> Confidence:
        value = self.probability(mean_log_probability)
        return Confidence(value, is_low=value < self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """The settings of a model that its configuration does not contain.

    Attributes:
        end_of_source: token that ends the source, as the tokenizer spells it; here and below an
            empty text means the token that ends a turn of the chat template.
        end_of_write: token that ends a write of read-n.
        end_of_target: token that ends the target of wait-k and offline.
        slot_length: positions of a slot in training.
        policies: the policies of its training, in their notation; none for an instruct model.
        layout: one of ``engine.layout.planner.LAYOUTS``.
        weights_sha256: of the folder's file of weights, so that a change of it is noticed; or
            empty.
        family: of a model with an encoder and a decoder, which has no prompt; else empty.
        speech: of the encoder that lets it translate sound; None where it has none.
    """

    name: ShortText
    languages: Annotated[Mapping[str, Language], checked_languages]
    end_of_source: ShortText
    end_of_write: ShortText
    end_of_target: ShortText
    slot_length: Annotated[int, Between(1, MAX_SLOT_LENGTH)]
    policies: Annotated[tuple[str, ...], _checked_policies]
    calibration: Calibration | None = None
    layout: str = "slots"
    weights_sha256: Annotated[str, SHA256] = ""
    family: str = ""
    sources: tuple[str, ...] = ("en",)
    speech: SpeechCard | None = None

    @property
    def knows_slots(self) -> bool:
        """Whether it was trained to translate while it reads."""
        return any(policy != "offline" for policy in self.policies)

    def language(self, code: str) -> Language:
        """Return a target language; raise ModelError if the model does not have it."""
        language = self.languages.get(code)
        if language is None:
            known = _listed(self.languages)
            raise ModelError(Code.LANGUAGE_UNKNOWN(model=self.name, known=known, code=code))
        return language

    def check_pair(self, source: str, target: str) -> None:
        """Raise ModelError if the model does not translate from one language to the other."""
        self.language(target)
        if self.sources and source not in self.sources:
            known = _listed(self.sources)
            raise ModelError(Code.SOURCE_UNKNOWN(model=self.name, known=known, code=source))
        if source == target:
            raise ModelError(Code.SAME_LANGUAGE(code=source))

    def save(self, directory: Path) -> None:
        content = {"format_version": FORMAT_VERSION, **asdict(self)}
        for key in ("layout", "family", "sources"):  # a base is trained for slots
            del content[key]
        for key in ("calibration", "weights_sha256", "speech"):
            if not content[key]:
                del content[key]
        text = json.dumps(content, indent=2, ensure_ascii=False)
        (directory / FILE_NAME).write_text(text + "\n", encoding="utf-8")


def _listed(codes: Iterable[str]) -> str:
    known = [*codes]
    more = f" and {len(known) - _MANY} more" if len(known) > _MANY else ""
    return ", ".join(known[:_MANY]) + more


def read_card(directory: Path) -> ModelCard:
    """Read the card of a model folder.

    Raises:
        ModelError: the file is missing, is no JSON, lacks a field, has one that is too long or too
            large, or is of a newer format.
    """
    path = directory / FILE_NAME
    try:
        content = JsonObject.read(path, MAX_CARD_BYTES)
        content.integer("format_version", least=FORMAT_VERSION, most=FORMAT_VERSION)
        given = {"layout": "slots", "family": "", "sources": ("en",)}
        return read_object(ModelCard, content.values, given=given)
    except FileNotFoundError as error:
        raise ModelError(Code.NO_MODEL_CARD(folder=str(directory), file=FILE_NAME)) from error
    except (OSError, ValueError) as error:
        reason = fault_of(error, FILE_NAME)
        raise ModelError(Code.CANNOT_LOAD(folder=str(directory), reason=reason)) from error


# A model without ``surtitle.json``: any instruct model can be asked to translate. Live captions
# and the training of adapters use the same prompt. Such a model has no slots,
# policies or markers, so without an adapter the text is re-translated with every word
# (``engine.translation.retranslator``).

ASKED = "Translate the {source} text into {language}. Answer with the translation and nothing else."
"""The default system message."""

LANGUAGE_NAMES: Mapping[str, str] = {
    "ar": tr("Arabic"),
    "cs": tr("Czech"),
    "da": tr("Danish"),
    "de": tr("German"),
    "el": tr("Greek"),
    "en": tr("English"),
    "es": tr("Spanish"),
    "fi": tr("Finnish"),
    "fr": tr("French"),
    "hi": tr("Hindi"),
    "hu": tr("Hungarian"),
    "it": tr("Italian"),
    "ja": tr("Japanese"),
    "ko": tr("Korean"),
    "nl": tr("Dutch"),
    "no": tr("Norwegian"),
    "pl": tr("Polish"),
    "pt": tr("Portuguese"),
    "ro": tr("Romanian"),
    "ru": tr("Russian"),
    "sv": tr("Swedish"),
    "tr": tr("Turkish"),
    "uk": tr("Ukrainian"),
    "zh": tr("Chinese"),
}
"""Names of languages in prompts, by the two-letter codes of ISO 639-1."""


def ask_for(codes: Iterable[str], *, text: str = "", source: str = "en") -> dict[str, Language]:
    """Write the system messages of target languages, by their two-letter codes.

    In a ``text``, ``{language}`` and ``{source}`` become names, ``{code}`` the target's code; an
    empty one stands for ``ASKED``. A code without a name here is its own name.
    """
    languages = dict[str, Language]()
    for code in codes:
        name = LANGUAGE_NAMES.get(code, code)
        names = {"{language}": name, "{code}": code, "{source}": LANGUAGE_NAMES.get(source, source)}
        system = text or ASKED
        for mark, value in names.items():
            system = system.replace(mark, value)
        languages[code] = Language(name=name, system=system)
    return languages


def is_plain(directory: Path) -> bool:
    return (directory / "config.json").is_file() and not (directory / FILE_NAME).exists()


def plain_card(directory: Path) -> ModelCard:
    """Return a card for such a model: its chat template, and the token that ends its turns.

    The target follows the source directly, as in the training of such models.
    """
    return ModelCard(
        name=model_name(directory),
        languages=ask_for(code for code in LANGUAGE_NAMES if code != "en"),
        end_of_source="",
        end_of_write="",
        end_of_target="",
        slot_length=1,
        policies=(),
    )
