"""Methods of training: the samples of each, and its layout for decoding."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.layout.rows import Row
from engine.policy import Policy
from engine.text.prompt import Prompt
from training.settings import Mixture
from training.trainer.samples.examples import TokenizedPair
from training.trainer.samples.mixture import draw_policy


def laid_out(rows: Sequence[Row], policy: Policy, prompt: Prompt) -> Sequence[Row]:  # noqa: ARG001  as all ends
    """Train on the rows of the layout as they are."""
    return rows


def drawn_shares(mixture: Mixture) -> tuple[float, float]:
    """Return the shares of pairs whose writes end, and of wait-k; the others are read whole."""
    return mixture.fixed_reads + mixture.aligned_reads, mixture.waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to train for simultaneous translation.

    Attributes:
        layout: of samples and decoding, one of ``engine.layout.registry.LAYOUTS``.
        draw: draws the policy by which a pair is read.
        shares: of the policies that are drawn, see ``drawn_shares``.
        finish: turns the rows of the layout into training rows.
        labels_all: every label is one among all tokens, markers too.
    """

    layout: str = "slots"
    draw: Callable[[TokenizedPair, Mixture, random.Random], Policy] = draw_policy
    shares: Callable[[Mixture], tuple[float, float]] = drawn_shares
    finish: Callable[[Sequence[Row], Policy, Prompt], Sequence[Row]] = laid_out
    labels_all: bool = False


METHODS: dict[str, Method] = {"exposst": Method()}  # ExPosST, section 2
"""By the name that the command line takes; research adds those that it is compared with."""
