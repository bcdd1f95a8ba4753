"""The read-n schedule of a pair: how many source words are read before each target word is written.

A schedule is the tuple ``needs``: for each target word, the number of source words it needs, from 1
and never falling. It comes from word alignment (``needed_words``) or, without an aligner, from the
lengths alone (``ratio_needs``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from training.data.word_alignment import Link


@dataclass(frozen=True, slots=True)
class Run:
    """Source words read in a row, and the target words written before the next read."""

    n_read: int
    n_written: int


def needed_words(links: Iterable[Link], n_source: int, n_target: int) -> tuple[int, ...]:
    """Return how many source words must be read before each target word may be written.

    g(y) is the running maximum of the largest source word aligned to y, including the first word
    (after Wang et al. 2024, Conversational SimulMT, https://arxiv.org/abs/2402.10552). A word
    without a link, mostly an article, a pronoun or a particle, waits for the next linked word, or
    for the whole source if there is none; docs/experiments.md has gains and costs.

    Args:
        links: in any order.
        n_source: words of the source.
        n_target: words of the target.

    Returns:
        ``n_target`` counts from 1 to ``n_source``, never falling.
    """
    largest = [0] * n_target
    for source, target in links:
        largest[target] = max(largest[target], source + 1)
    following = n_source
    for target in reversed(range(n_target)):
        largest[target] = following = largest[target] or following
    return tuple(accumulate(largest, max))


def ratio_needs(n_source: int, n_target: int) -> tuple[int, ...]:
    """Spread the target evenly over the source: a schedule without an aligner."""
    return tuple(max(1, -(-(target + 1) * n_source // n_target)) for target in range(n_target))


def read_write_runs(needs: Sequence[int], n_source: int) -> tuple[Run, ...]:
    """Cut a schedule into its minimal runs: read no word too many, then write all possible words.

    The last run writes nothing if no target word needs the last source words.
    """
    runs = list[Run]()
    n_read = 0
    for need, words in groupby(needs):
        runs.append(Run(need - n_read, sum(1 for _ in words)))
        n_read = need
    if n_read < n_source:
        runs.append(Run(n_source - n_read, 0))
    return tuple(runs)


def read_n_delays(needs: Sequence[int], n: int, n_source: int) -> tuple[int, ...]:
    """Return the source words read at each target word if ``n`` are read at a time.

    These are the delays of read-n with a model that writes each word as soon as it may.
    """
    return tuple(min(-(-need // n) * n, n_source) for need in needs)
