"""The settings of the engine, as frozen values that are checked where they are made."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

DEVICES = ("auto", "cpu", "cuda", "mps")
QUANTISATIONS = ("auto", "nf4", "int8", "none")
SYSTEMS = {
    "auto": "as the model was trained",
    "slots": "read and write in turn, in slots",
    "retranslate": "all words again at each new one, local agreement",
    "encoder-decoder": "Marian, M2M-100, NLLB and MADLAD",
}
"""Translation systems by name, and what each does."""

SOUND = "sound"
"""A further one, for a session that hears: slots whose source rows carry what an encoder heard."""


def at_least(name: str, value: float, least: float) -> None:
    if value < least:
        msg = f"{name} must be at least {least}, got {value}"
        raise ValueError(msg)


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    if value not in choices:
        msg = f"{name} must be one of {', '.join(choices)}, got {value!r}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutSettings:
    """Which positions the words of an utterance get.

    Attributes:
        slot_length: positions reserved for the source of one phase.
        name: one of ``engine.layout.planner.LAYOUTS``.
    """

    slot_length: int = 16
    name: str = "slots"

    def __post_init__(self) -> None:
        at_least("the slot length", self.slot_length, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceLimits:
    """When a text without sentence ends is cut.

    Attributes:
        soft_words: from this number on a comma, semicolon or colon ends the utterance.
        max_words: at this number the utterance ends anywhere.
        max_bytes: UTF-8 bytes of one utterance; bounds its tokens, as each has a byte or more.
    """

    soft_words: int = 32
    max_words: int = 48
    max_bytes: int = 400

    def __post_init__(self) -> None:
        at_least("soft_words", self.soft_words, 1)
        at_least("max_words", self.max_words, self.soft_words)
        at_least("max_bytes", self.max_bytes, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Which weights to load, and where to.

    Attributes:
        directory: folder with config.json, model.safetensors, tokenizer.json and surtitle.json.
        hub_name: ``owner/name`` on the Hugging Face hub; the directory is then the library that is
            searched, and that the model is fetched into. Empty for a folder.
        device: one of ``DEVICES``; auto takes CUDA where there is one.
        quantise: one of ``QUANTISATIONS``; auto keeps the weights whole if they fit, else takes
            4 bits.
        capacity: rows of the slot cache.
        system: one of ``SYSTEMS``, or ``SOUND``; auto takes what the model was trained for.
        accepts_licence: a licence that forbids commercial use is accepted; recorded with the model.
        is_download: this program downloaded the folder, and deletes what it converted there.
        is_second: another model stays in memory, so this one is refused if there is no room.
        mends: damaged files of a model of the hub are fetched again before it is loaded.
    """

    directory: Path
    hub_name: str = ""
    adapter: Path | None = None
    device: str = "auto"
    quantise: str = "auto"
    capacity: int = 3072
    system: str = "auto"
    accepts_licence: bool = False
    is_download: bool = False
    is_second: bool = False
    mends: bool = False

    def __post_init__(self) -> None:
        at_least("the cache capacity", self.capacity, 1)
        check_choice("the device", self.device, DEVICES)
        check_choice("quantisation", self.quantise, QUANTISATIONS)
        check_choice("the system", self.system, (*SYSTEMS, SOUND))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Another computer, whose model translates.

    Attributes:
        address: ``https://NAME:PORT``, or http on this computer.
        token: that it knows; empty where it asks for none.
        certificate: file of the authority, or of the server's own certificate, to trust; None for
            those that the system trusts.
        takes_any_language: where its model does not know the language, a session is captioned in
            the first one that it knows, until another is chosen.
        patience_s: a session fails that has not been answered for so long.
    """

    address: str
    token: str = field(default="", repr=False)
    certificate: Path | None = None
    takes_any_language: bool = False
    patience_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationSettings:
    """How an utterance is translated.

    Attributes:
        target_language: two-letter code that the model's card lists.
        source_language: the same of what is spoken, for models that translate from several.
        policy: ``read:N``, ``wait:K`` or ``offline``; ``stable:N`` for systems that re-translate;
            empty for the standard one of the system.
        layout: the slots; None for those that the model was trained with.
        cut_loops: end a write that repeats itself.
        constrained: keep numbers, names and addresses of the source and admit no harmful word, see
            ``engine.translation.constraints``.
        glossary: terms of the source language, each with its translation. A model that was trained
            for slots copies them by the rules of ``constrained``; another finds them in its prompt.
        context_sentences: number of previous sentences in the prompt.
        catch_up_words: when more words than these wait, a session reads larger steps until none
            waits; None: never.
    """

    target_language: str = "de"
    source_language: str = "en"
    policy: str = ""
    layout: LayoutSettings | None = None
    limits: UtteranceLimits = UtteranceLimits()
    cut_loops: bool = True
    constrained: bool = True
    glossary: tuple[tuple[str, str], ...] = ()
    context_sentences: int = 0
    catch_up_words: int | None = 40

    def __post_init__(self) -> None:
        at_least("context_sentences", self.context_sentences, 0)
        if self.catch_up_words is not None:
            at_least("catch_up_words", self.catch_up_words, 1)

    @property
    def reads_english(self) -> bool:
        """Whether the source is English, which rules about words and scripts are made for."""
        return self.source_language == "en"
