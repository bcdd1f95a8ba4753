"""Learning rates over a run.

Each class has ``rate(step, done)``: ``step`` counts from 0, ``done`` is the finished share of the
run.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from training.settings import Optimisation


@dataclass(frozen=True, slots=True)
class LinearFall:
    """Rise linearly over the first share of the run, then fall linearly to 0."""

    peak: float
    warm_up: float

    def rate(self, step: int, done: float) -> float:  # noqa: ARG002  a share counts, not steps
        """Return the learning rate of a step."""
        rising = done < self.warm_up
        scale = done / self.warm_up if rising else (1 - done) / (1 - self.warm_up)
        return self.peak * max(scale, 1e-3)


@dataclass(frozen=True, slots=True)
class WarmUpStableDecay:
    """Rise over the first steps, stay, and fall linearly to 0 over the last share of the run.

    A run can be prolonged before its rate falls: until then no rate depends on its length.

    Source: Hu et al. 2024, MiniCPM, arXiv 2404.06395, section 4.
    """

    peak: float
    warm_up_steps: int
    decay: float

    def rate(self, step: int, done: float) -> float:
        """Return the learning rate of a step."""
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
        """Return the learning rate of a step."""
        n, warm_up = step + 1, max(self.warm_up_steps, 1)
        return self.peak * min(n / warm_up, math.sqrt(warm_up / n))


Rates: TypeAlias = LinearFall | WarmUpStableDecay | InverseSquareRoot


def make_rates(settings: Optimisation, n_steps: float) -> Rates:
    """Make the rates of a run of about ``n_steps``."""
    peak, warm_up = settings.rate, settings.warm_up_steps
    if settings.fall == "root":
        return InverseSquareRoot(peak, warm_up)
    if settings.fall == "linear":
        return LinearFall(peak, min(warm_up / max(n_steps, 1), 0.5))
    return WarmUpStableDecay(peak, warm_up, settings.decay)
