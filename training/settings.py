"""Everything a training run can be told, as frozen values that are checked where they are made."""

from dataclasses import dataclass, field
from pathlib import Path

from engine.settings import at_least

PRECISIONS = ("auto", "bf16", "fp32")
ARCHITECTURES = ("llama", "falcon")
OPTIMIZERS = ("muon", "adamw")


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
    max_positions: int = 1024
    architecture: str = field(default="llama", repr=False)  # a run from before it was there goes on

    def __post_init__(self) -> None:
        if self.architecture not in ARCHITECTURES:
            msg = f"the architecture is one of {', '.join(ARCHITECTURES)}, got {self.architecture}"
            raise ValueError(msg)
        for name in ("layers", "heads", "max_positions"):
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
        cut_writes: share of the writes under aligned reads that are cut short, the rest of their
            words carried over to the next write.
        waits: share of wait-k with k out of ``k``.
        marker_alone: share of sentences whose end-of-source marker comes alone.
    """

    fixed_reads: float = 0.45
    aligned_reads: float = 0.12
    waits: float = 0.25
    marker_alone: float = 0.2
    n: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 9)
    k: tuple[int, ...] = (1, 2, 3, 5, 7, 9)
    cut_writes: float = field(default=0.0, repr=False)  # a run from before it was there goes on

    @classmethod
    def offline_only(cls) -> "Mixture":
        """Mix nothing: every source is read to its end."""
        return cls(fixed_reads=0, aligned_reads=0, waits=0, n=(), k=())

    def __post_init__(self) -> None:
        shares = (self.fixed_reads, self.aligned_reads, self.waits)
        if min(shares) < 0 or sum(shares) > 1:
            msg = f"the shares of policies must be at least 0 and at most 1 together, got {shares}"
            raise ValueError(msg)
        if not 0 <= self.cut_writes <= 1:
            msg = f"the share of writes that are cut short is from 0 to 1, got {self.cut_writes}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimisation:
    """How weights are moved.

    Attributes:
        optimizer: ``muon`` moves the matrices inside the layers by Muon and the rest by AdamW;
            ``adamw`` moves everything by AdamW.
        rate: peak learning rate of AdamW.
        matrix_rate_scale: Muon's peak over that.
        warm_up_steps: steps in which the rate rises.
        decay: share of the run, at its end, in which the rate falls to 0.
        batch_tokens: rows in one step, padding included.
    """

    optimizer: str = "muon"
    rate: float = 1.5e-3
    matrix_rate_scale: float = 2.0
    warm_up_steps: int = 300
    decay: float = 0.2
    weight_decay: float = 0.01
    label_smoothing: float = 0.1
    clip: float = 1.0
    batch_tokens: int = 4096
    epochs: float = 3.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            msg = f"the optimizer is one of {', '.join(OPTIMIZERS)}, got {self.optimizer}"
            raise ValueError(msg)
        if not 0 <= self.decay <= 1:
            msg = f"the share of the run in which the rate falls is from 0 to 1, got {self.decay}"
            raise ValueError(msg)
        if self.epochs <= 0 or self.rate <= 0:
            msg = f"epochs and rate must be more than 0, got {self.epochs} and {self.rate}"
            raise ValueError(msg)
        at_least("batch_tokens", self.batch_tokens, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PretrainSettings:
    """One run of ``surtitle-train pretrain``.

    Attributes:
        data: aligned or prepared TSV by target language.
        weights: copies of a corpus an epoch holds, by corpus name; 1 where it is not named.
        out: model folder to make; its ``checkpoint`` folder holds what resumes a run.
        slot_length: 1 leaves no gap between a whole source and its target.
        one_end: a write ends with the token that ends a target.
        compiled: compile the network for each padded length, see
        ``training.samples.loss.BareLoss``.
        checkpoint_steps: steps between two checkpoints.
        begin_with: folder of another run, whose tokenizer, weights and optimiser state this one
            begins with, to go on with other data or another schedule.
    """

    data: dict[str, Path]
    out: Path
    name: str
    weights: dict[str, float]
    slot_length: int = 16
    one_end: bool = False
    shape: ModelShape = ModelShape()
    mixture: Mixture = Mixture()
    optimisation: Optimisation = Optimisation()
    device: str = "auto"
    precision: str = "auto"
    compiled: bool = False
    checkpoint_steps: int = 200
    stop_after_steps: int | None = None
    begin_with: Path | None = None

    def __post_init__(self) -> None:
        at_least("the slot length", self.slot_length, 1)
        if self.stop_after_steps is not None:
            at_least("the steps to stop after", self.stop_after_steps, 1)
