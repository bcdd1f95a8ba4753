"""How fast weights are moved: the learning rate over a run."""

import math
from dataclasses import dataclass
from typing import Protocol

from training.settings import Optimisation


class Rates(Protocol):
    """A learning rate for every step."""

    def rate(self, step: int, done: float) -> float:
        """Name the rate of a step.

        Args:
            step: from 0.
            done: share of the run that is behind, from 0 to 1.
        """


@dataclass(frozen=True, slots=True)
class LinearFall:
    """Rise linearly over the first share of the run, then fall linearly to nothing."""

    peak: float
    warm_up: float

    def rate(self, step: int, done: float) -> float:  # noqa: ARG002  a share counts, not steps
        """Name the rate of a step."""
        rising = done < self.warm_up
        scale = done / self.warm_up if rising else (1 - done) / (1 - self.warm_up)
        return self.peak * max(scale, 1e-3)


@dataclass(frozen=True, slots=True)
class WarmUpStableDecay:
    """Rise over the first steps, stay, and fall linearly to nothing over the last share of the run.

    A run that has not begun to fall can be prolonged: nothing before that depends on its length.

    Source: Hu et al. 2024, MiniCPM, arXiv 2404.06395, section 4.
    """

    peak: float
    warm_up_steps: int
    decay: float

    def rate(self, step: int, done: float) -> float:
        """Name the rate of a step."""
        rising = (step + 1) / max(self.warm_up_steps, 1)
        falling = (1 - done) / self.decay if self.decay else 1.0
        return self.peak * max(min(rising, falling, 1.0), 1e-3)


@dataclass(frozen=True, slots=True)
class InverseSquareRoot:
    """Rise linearly over the first steps, then fall with the root of the steps taken.

    Source: Vaswani et al. 2017, section 5.3, scaled so that the highest rate is ``peak``.
    """

    peak: float
    warm_up_steps: int

    def rate(self, step: int, done: float) -> float:  # noqa: ARG002  steps count, not a share
        """Name the rate of a step."""
        n, warm_up = step + 1, max(self.warm_up_steps, 1)
        return self.peak * min(n / warm_up, math.sqrt(warm_up / n))


def make_rates(settings: Optimisation, n_steps: float) -> Rates:
    """Make the rates of a run of about ``n_steps``."""
    peak, warm_up = settings.rate, settings.warm_up_steps
    if settings.fall == "root":
        return InverseSquareRoot(peak, warm_up)
    if settings.fall == "linear":
        return LinearFall(peak, min(warm_up / max(n_steps, 1), 0.5))
    return WarmUpStableDecay(peak, warm_up, settings.decay)
