"""Draw a policy for a sentence, so that one model serves every policy."""

import random
from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from engine.policy import Action, Offline, Policy, Progress, ReadN, WaitK
from training.settings import Mixture
from training.trainer.samples.examples import TokenizedPair


@dataclass(frozen=True, slots=True)
class AlignedReads:
    """Read up to the next boundary, then write until end-of-write: read-n with an n that varies.

    Attributes:
        boundaries: source words read when each write begins, rising.
    """

    boundaries: tuple[int, ...]
    ends_writes: bool = True

    def next_action(self, progress: Progress) -> Action:
        """READ until the first boundary after the last write or the source's end, then WRITE."""
        index = bisect_right(self.boundaries, progress.n_read_at_write_end)
        at_end = index == len(self.boundaries)  # only the marker is left
        if progress.source_ended:
            return Action.WRITE
        return Action.READ if at_end or progress.n_read < self.boundaries[index] else Action.WRITE


def merged_boundaries(needs: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
    """Cut a schedule into its minimal read-write runs and merge 2 to 10 of them at a time.

    Source: Wang et al. 2024, Conversational SimulMT, section 3.2; drawn again each epoch.
    """
    runs = sorted(set(needs))
    boundaries = list[int]()
    index = -1
    while index < len(runs) - 1:
        index = min(index + rng.randint(2, 10), len(runs) - 1)
        boundaries.append(runs[index])
    return tuple(boundaries)


def cut_writes(
    pair: TokenizedPair, policy: Policy, mixture: Mixture, rng: random.Random
) -> TokenizedPair:
    """Cut writes of aligned reads short, like a model that ends a write too early.

    A write of two words or more is cut with the mixture's probability; at least 1 word stays, and
    the rest is carried over to the next write. The last write is never cut.

    Source: Wang et al. 2024, Conversational SimulMT. Our deviation: published code keeps two words
    or more and does not train on the turn; here the words that stay, which are right, are labelled,
    and only the end of the write is not (``training.trainer.samples.examples``).
    """
    if not (mixture.cut_writes and isinstance(policy, AlignedReads)) or pair.needs is None:
        return pair
    delayed = list(pair.needs)
    first = 0  # word of the write, including words carried over
    for boundary, next_boundary in pairwise(policy.boundaries):
        end = stop = bisect_right(pair.needs, boundary)
        if stop - first > 1 and rng.random() < mixture.cut_writes:
            end = rng.randrange(first + 1, stop)
            delayed[end:stop] = [next_boundary] * (stop - end)
        first = end
    return replace(pair, delayed=tuple(accumulate(delayed, max)))


def draw_policy(pair: TokenizedPair, mixture: Mixture, rng: random.Random) -> Policy:
    """Draw a policy; a pair without a trusted alignment is never read in parts that must end."""
    draw = rng.random()
    if draw < mixture.fixed_reads and pair.needs is not None:
        return ReadN(rng.choice(mixture.n))
    draw -= mixture.fixed_reads
    if 0 <= draw < mixture.aligned_reads and pair.needs is not None:
        return AlignedReads(merged_boundaries(pair.needs, rng))
    draw -= mixture.aligned_reads
    if 0 <= draw < mixture.waits:
        return WaitK(rng.choice(mixture.k))
    return Offline()
