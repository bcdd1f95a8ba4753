"""Everything ``surtitle-train finetune`` can be told: a recipe names the fields that stand here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.policy import parse_policy
from engine.settings import DEVICES, at_least
from training.settings import PRECISIONS, Mixture

QUANTISATIONS = ("none", "nf4")
SCHEDULES = ("align", "ratio", "none")
FALLS = ("root", "linear")
STORED = ("fp32", "bf16")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraSettings:
    """What is trained.

    Attributes:
        rank, alpha: the product of the factors is multiplied by alpha / rank.
        dropout: share of the inputs of the factors that is dropped while training.
        targets: names of linear layers; none stands for all of those in the decoder's blocks.
        stored: type of the factors in the adapter's file; bf16 halves it.
    """

    rank: int = 32
    alpha: int = 16
    dropout: float = 0.0
    targets: tuple[str, ...] = ()
    stored: str = "fp32"

    def __post_init__(self) -> None:
        if self.stored not in STORED:
            msg = f"factors are stored as one of {', '.join(STORED)}, got {self.stored!r}"
            raise ValueError(msg)
        at_least("the rank", self.rank, 1)
        at_least("alpha", self.alpha, 1)
        if not 0 <= self.dropout < 1:
            msg = f"the dropout is a share from 0 to below 1, got {self.dropout}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterOptimisation:
    """How an adapter is moved; the defaults are those of ExPosST, section 4.1.

    Attributes:
        rate: highest learning rate of AdamW.
        warm_up_steps: steps in which the rate rises; then it falls.
        fall: with the root of the steps taken, as the paper's, or linearly to nothing at the end.
        clip: norm that gradients are scaled down to.
        batch_pairs: sentence pairs in one step.
        batch_tokens: instead of ``batch_pairs``, as many pairs as have so many rows on average; 0
            leaves it to ``batch_pairs``.
        epochs: times every pair is used.
    """

    rate: float = 2e-4
    warm_up_steps: int = 500
    fall: str = "root"
    weight_decay: float = 0.1
    clip: float = 1.0
    label_smoothing: float = 0.0
    batch_pairs: int = 64
    batch_tokens: int = 0
    epochs: float = 2.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.epochs <= 0 or self.rate <= 0:
            msg = f"epochs and rate must be more than 0, got {self.epochs} and {self.rate}"
            raise ValueError(msg)
        if self.fall not in FALLS:
            msg = f"the rate's fall is one of {', '.join(FALLS)}, got {self.fall!r}"
            raise ValueError(msg)
        at_least("the warm-up", self.warm_up_steps, 0)
        at_least("the pairs of a step", self.batch_pairs, 1)
        at_least("the tokens of a step", self.batch_tokens, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSettings:
    """How a base is spoken to, where its folder has no surtitle.json, or otherwise than that says.

    Attributes:
        system: the system message; ``{language}`` becomes the target's name, ``{code}`` its code.
        end_of_source, end_of_write, end_of_target: tokens as the tokenizer spells them; the ends of
            write and target default to the token that ends a turn.
        chat_template: for a base whose tokenizer has none, or none that can be used.
    """

    system: str = ""
    end_of_source: str = ""
    end_of_write: str = ""
    end_of_target: str = ""
    chat_template: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubData:
    """A data set of the Hugging Face hub with a ``translation`` column.

    Attributes:
        name: of the data set.
        languages: target codes.
        config: its configuration; ``{language}`` becomes a target code.
        files: pattern of the files in it, likewise, where no configuration tells them.
        revision: which version.
        split: which part is trained on.
        schedule: where read-n schedules come from: ``align`` (eflomal), ``ratio`` or ``none``.
        licence: for the adapter's card.
    """

    name: str
    languages: tuple[str, ...]
    config: str = ""
    files: str = ""
    revision: str = ""
    split: str = "train"
    schedule: str = "align"
    licence: str = ""

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            msg = f"the schedule is one of {', '.join(SCHEDULES)}, got {self.schedule!r}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class DevSettings:
    """When training stops, and which step is kept: the best BLEU at a bounded lagging.

    Attributes:
        sets: source file and reference file by target language.
        policies: those that are decoded.
        max_laal: policies that lag more, in source words, do not count; 0 counts all.
        every_steps: steps between two decodings.
        patience: decodings without a new best after which the run ends; 0 never ends it.
        limit: lines of each set; 0 takes all.
    """

    sets: Mapping[str, tuple[Path, Path]] = field(default_factory=dict)
    policies: tuple[str, ...] = ("read:3",)
    max_laal: float = 0.0
    every_steps: int = 200
    patience: int = 0
    limit: int = 0

    def __post_init__(self) -> None:
        for policy in self.policies:
            parse_policy(policy)
        if self.sets and not self.policies:
            msg = "a dev set needs at least one policy, for example read:3"
            raise ValueError(msg)
        at_least("the steps between two decodings", self.every_steps, 1)
        for name in ("max_laal", "patience", "limit"):
            at_least(name, getattr(self, name), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinetuneSettings:
    """One run of ``surtitle-train finetune``.

    Attributes:
        data: aligned TSV by target language.
        hub: data of the hub, besides.
        base: model folder, or a name on the hub; none takes the bundled model of the language.
        models: library of models that were fetched from the hub, and are.
        source_language: code of the source.
        out: run folder: ``adapter`` is what a run is for, ``checkpoint`` resumes it.
        name: of the adapter; that of ``out`` where none is given.
        method: one of ``training.samples.methods.METHODS``.
        slot_lengths: one is drawn for each pair; captions should use the first.
        weights: copies of a corpus an epoch holds, by corpus name; 1 where it is not named.
        quantise: ``nf4`` keeps the base in 4 bits (QLoRA, Dettmers et al. 2023).
        max_length: tokens a sample may have; longer pairs are left out.
        pass_tokens: rows that go through the network at once; memory is bounded by it.
        gradient_checkpointing: compute activations twice instead of keeping them.
        device: one of ``DEVICES``.
        precision: ``bf16``, ``fp32``, or ``auto``: bf16 where the device is fast at it.
        tensorboard: write what ``steps.jsonl`` holds for TensorBoard too.
        licences: of the corpora by their names, for the card; and of the adapter itself.
        commands: what was typed, for the card.
    """

    data: Mapping[str, Path] = field(default_factory=dict)
    hub: HubData | None = None
    base: str = ""
    models: Path = Path("models")
    source_language: str = "en"
    out: Path
    name: str = ""
    method: str = "exposst"
    slot_lengths: tuple[int, ...] = (16,)
    weights: Mapping[str, float] = field(default_factory=dict)
    mixture: Mixture = field(default_factory=Mixture)
    lora: LoraSettings = LoraSettings()
    optimisation: AdapterOptimisation = AdapterOptimisation()
    prompt: PromptSettings = PromptSettings()
    dev: DevSettings = DevSettings()
    quantise: str = "none"
    max_length: int = 512
    pass_tokens: int = 4096
    gradient_checkpointing: bool = False
    device: str = "auto"
    precision: str = "auto"
    checkpoint_steps: int = 200
    stop_after_steps: int | None = None
    tensorboard: bool = False
    licences: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    description: str = ""
    commands: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choices = (("quantise", QUANTISATIONS), ("device", DEVICES), ("precision", PRECISIONS))
        for name, known in choices:
            if getattr(self, name) not in known:
                msg = f"{name} is one of {', '.join(known)}, got {getattr(self, name)!r}"
                raise ValueError(msg)
        if not self.slot_lengths:
            msg = "at least one slot length is needed"
            raise ValueError(msg)
        for slot_length in self.slot_lengths:
            at_least("the slot length", slot_length, 1)
        at_least("max_length", self.max_length, 16)
        at_least("pass_tokens", self.pass_tokens, 1)
        at_least("checkpoint_steps", self.checkpoint_steps, 1)
        if self.stop_after_steps is not None:
            at_least("the steps to stop after", self.stop_after_steps, 1)

    @property
    def languages(self) -> tuple[str, ...]:
        """Target codes."""
        return tuple(dict.fromkeys([*self.data, *(self.hub.languages if self.hub else ())]))
