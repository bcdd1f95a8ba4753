"""Everything the engine can be told, as frozen values that are checked where they are made."""

from dataclasses import dataclass
from pathlib import Path

DEVICES = ("auto", "cpu", "cuda", "mps")
QUANTISATIONS = ("auto", "nf4", "int8", "none")
SYSTEMS = ("auto", "slots", "retranslate")
LAYOUTS = ("slots", "conversational", "gpe", "simulmask", "cached", "recomputed")


def at_least(name: str, value: float, least: float) -> None:
    """Check a number.

    Raises:
        ValueError: it is smaller.
    """
    if value < least:
        msg = f"{name} must be at least {least}, got {value}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutSettings:
    """Which positions the words of an utterance get.

    Attributes:
        slot_length: positions that are reserved for the source of one phase.
        name: one of ``LAYOUTS``: ours, or a layout that ours is compared with.
    """

    slot_length: int = 16
    name: str = "slots"

    def __post_init__(self) -> None:
        if self.name not in LAYOUTS:
            msg = f"the layout must be one of {', '.join(LAYOUTS)}, got {self.name!r}"
            raise ValueError(msg)
        at_least("the slot length", self.slot_length, 1)

    @property
    def ranked(self) -> bool:
        """Tell whether ALiBi counts the visible keys instead of positions (SimulMask)."""
        return self.name == "simulmask"


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceLimits:
    """When a text without sentence ends is cut all the same.

    Attributes:
        soft_words: from here on a comma, semicolon or colon ends the utterance.
        max_words: here it ends wherever it is.
        max_bytes: UTF-8 bytes of one utterance; bounds its tokens, since no token is under a byte.
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
        hub_name: as on the Hugging Face hub, ``owner/name``; the directory is then the library in
            which the model is looked for, and into which it is fetched. Empty for a folder.
        adapter: peft adapter folder, or None.
        device: one of ``DEVICES``; auto takes CUDA where there is one.
        quantise: one of ``QUANTISATIONS``; auto keeps the weights whole where they fit, and takes
            4 bits where they do not.
        capacity: rows the slot cache has room for.
        system: one of ``SYSTEMS``; auto takes what the model was trained for.
    """

    directory: Path
    hub_name: str = ""
    adapter: Path | None = None
    device: str = "auto"
    quantise: str = "auto"
    capacity: int = 3072
    system: str = "auto"

    def __post_init__(self) -> None:
        at_least("the cache capacity", self.capacity, 1)
        if self.device not in DEVICES:
            msg = f"the device must be one of {', '.join(DEVICES)}, got {self.device!r}"
            raise ValueError(msg)
        if self.quantise not in QUANTISATIONS:
            msg = f"quantisation must be one of {', '.join(QUANTISATIONS)}, got {self.quantise!r}"
            raise ValueError(msg)
        if self.system not in SYSTEMS:
            msg = f"the system must be one of {', '.join(SYSTEMS)}, got {self.system!r}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationSettings:
    """How an utterance is translated.

    Attributes:
        target_language: two-letter code that the model's card lists.
        policy: ``read:N``, ``wait:K`` or ``offline``.
        layout: the slots.
        limits: where long text is cut.
        cut_loops: a write is ended where it begins to say the same again and again.
        glossary: terms of the source language, each with its translation, for the prompt.
        context_sentences: so many of the sentences before stand in the prompt.
        catch_up_words: where more words than these wait, a session reads larger steps until none
            waits; None: it never does.
    """

    target_language: str = "de"
    policy: str = "read:3"
    layout: LayoutSettings = LayoutSettings()
    limits: UtteranceLimits = UtteranceLimits()
    cut_loops: bool = True
    glossary: tuple[tuple[str, str], ...] = ()
    context_sentences: int = 0
    catch_up_words: int | None = 40

    def __post_init__(self) -> None:
        at_least("context_sentences", self.context_sentences, 0)
        if self.catch_up_words is not None:
            at_least("catch_up_words", self.catch_up_words, 1)
