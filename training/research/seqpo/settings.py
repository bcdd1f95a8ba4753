"""Settings of ``surtitle-research seqpo``: those of any run, and a recipe's table ``seqpo``."""

from dataclasses import dataclass
from pathlib import Path

from engine.policy import parse_policy
from engine.settings import at_least, check_choice
from training.settings import TrainSettings

REWARDS = ("fused", "hinge")
TRUNCATIONS = ("before", "literal", "after", "none")
QUALITIES = ("string", "comet")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeqpoSettings:
    """Sampling, rewards and update of a run; ``docs/decisions/0012-seqpo.md`` has the reasons.

    Attributes:
        steps: updates of the weights, at least one.
        start: adapter folder to begin with, instead of an untrained one.
        all_weights: train the whole network, and write a model folder instead of an adapter.
        policies: one is drawn for each source; all must end their writes.
        sources: of a step.
        group: translations sampled of each source.
        lanes: translations sampled side by side.
        temperature: of sampling.
        quality: ``string`` (chrF2 and BLEU) or ``comet``.
        comet_python: the Python of an environment that has COMET.
        reward: ``fused`` quality and lagging, or the ``hinge`` of HPO.
        balance: weight of quality (lambda of the paper).
        lag_weight: weight of lagging; 0 rewards quality only.
        adaptive: LAAL; otherwise AL, as in the paper.
        normalised: standardise quality and lagging within a group.
        truncation: of lagging: ``before`` standardising, at ``lag_bound`` words; ``literal``, at
            the same number but after it, as the paper's formula reads; ``after``, at ``lag_floor``
            standard deviations; or ``none``.
        lag_bound, lag_floor: see ``truncation``.
        hinge_quality, hinge_lag: weights of the hinge.
        divergence_price: of moving away from the start (beta of the paper).
        lag_price: chrF points that a word less of LAAL is worth when the best step is chosen.
        max_fall: chrF points under the start at which the run ends.
        max_empty: share of empty writes at which the run ends.
    """

    steps: int = 0
    start: Path | None = None
    all_weights: bool = False
    policies: tuple[str, ...] = ("read:1", "read:2", "read:3")
    sources: int = 16
    group: int = 8
    lanes: int = 64
    temperature: float = 1.0
    quality: str = "string"
    comet_python: Path | None = None
    reward: str = "fused"
    balance: float = 2.0
    lag_weight: float = 1.0
    adaptive: bool = True
    normalised: bool = True
    truncation: str = "before"
    lag_bound: float = 1.0
    lag_floor: float = -1.0
    hinge_quality: float = 1.0
    hinge_lag: float = 0.5
    divergence_price: float = 0.02
    lag_price: float = 2.0
    max_fall: float = 1.0
    max_empty: float = 0.6

    def __post_init__(self) -> None:
        check_choice("the quality", self.quality, QUALITIES)
        check_choice("the reward", self.reward, REWARDS)
        check_choice("the truncation", self.truncation, TRUNCATIONS)
        at_least("the steps", self.steps, 0)
        at_least("the translations of a source", self.group, 2)
        for name in ("sources", "lanes"):
            at_least(name, getattr(self, name), 1)
        if not self.policies:
            msg = "at least one policy is needed, for example read:2"
            raise ValueError(msg)
        for policy in self.policies:
            if not parse_policy(policy).ends_writes:
                msg = f"waiting is learnt under policies that end their writes, not {policy}"
                raise ValueError(msg)
        if self.temperature <= 0:
            msg = f"the temperature must be more than 0, got {self.temperature}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardSettings(TrainSettings):
    """One run of ``surtitle-research seqpo``.

    Attributes:
        seqpo: sampling, rewards and update.
    """

    seqpo: SeqpoSettings = SeqpoSettings()
