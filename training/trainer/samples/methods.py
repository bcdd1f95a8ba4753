"""Methods to compare: the training samples of each, and its layout for decoding.

All run on one code path. A method is a layout (``engine.layout.registry``) and at most one
difference between its training samples and its decoding.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.layout.rows import IGNORE, Row
from engine.policy import Offline, Policy
from engine.text.prompt import Prompt
from training.settings import Mixture
from training.trainer.samples.decisions import LEVELS, nested_boundaries
from training.trainer.samples.examples import TokenizedPair
from training.trainer.samples.mixture import AlignedReads, draw_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to train for simultaneous translation.

    Attributes:
        layout: of the training samples, one of ``engine.settings.LAYOUTS``.
        decoding: the layout for decoding.
        sees_all: a target token sees the whole source, read or not.
        settled: positions are those of the finished sentence.
        offline: every source is read to its end in training, whatever the policy of decoding.
        chunked: source is read to the boundaries of a level
            (``training.trainer.samples.decisions``) in one half of the pairs, and to its end in the
            other, whatever the mixture of policies.
        label_source: where writes end, source tokens and the token that ends them are labelled too,
            and every label is one among all tokens.
    """

    layout: str
    decoding: str
    sees_all: bool = False
    settled: bool = False
    offline: bool = False
    chunked: bool = False
    label_source: bool = False

    def draw(self, pair: TokenizedPair, mixture: Mixture, rng: random.Random) -> Policy:
        """Draw the policy by which a pair is read."""
        if self.offline:
            return Offline()
        if not self.chunked:
            return draw_policy(pair, mixture, rng)
        apart = rng.choice((*LEVELS, *[0] * len(LEVELS)))
        if pair.needs is None or not apart:
            return Offline()
        return AlignedReads(nested_boundaries(pair.needs, apart))

    def finish(self, rows: Sequence[Row], policy: Policy, prompt: Prompt) -> Sequence[Row]:
        """Turn the rows of the layout into the training rows of the method."""
        if self.label_source and policy.ends_writes:
            return label_source(rows, prompt)
        if self.sees_all:
            return [row._replace(time=0) for row in rows]
        return settle(rows) if self.settled else rows


METHODS: Mapping[str, Method] = {
    # ours: ExPosST, section 2
    "exposst": Method(layout="slots", decoding="slots"),
    # ours, with source that sees no target of an earlier slot
    "source-apart": Method(layout="source-apart", decoding="source-apart"),
    # its ablations, section 4.1
    "without-mask": Method(layout="slots", decoding="slots", sees_all=True),
    "without-slots": Method(layout="cached", decoding="cached", settled=True),
    # baselines; the layouts name their sources
    "gpe": Method(layout="gpe", decoding="gpe"),
    "conversational": Method(layout="conversational", decoding="conversational"),
    # its stage I, over alignments: SimulMT on all tokens, MT on those of the target
    "easist": Method(layout="interleaved", decoding="interleaved", chunked=True, label_source=True),
    "simulmask": Method(layout="simulmask", decoding="simulmask"),
    # prefix and causal fine-tuning, decoded with recomputation; Raffel et al. 2024, section 2.
    # To decode without recomputation, use the layout "cached".
    "prefix": Method(layout="recomputed", decoding="recomputed"),
    "causal": Method(layout="recomputed", decoding="recomputed", offline=True),
}
"""By the name that the command line takes."""


def label_source(rows: Sequence[Row], prompt: Prompt) -> list[Row]:
    """Label every row before a source token, or before the token that ends the source, with it.

    Rows are in the order of their positions. The end of a write is left as it is: where a write was
    cut short it has no label.
    """
    first = len(prompt.headers.system) + len(prompt.headers.first)
    labelled = list(rows)
    for index in range(max(first, 1), len(rows)):
        row, following = rows[index - 1], rows[index].id
        if row.label == IGNORE and following != prompt.end_of_write:
            labelled[index - 1] = row._replace(label=following)
    return labelled


def settle(rows: Sequence[Row]) -> list[Row]:
    """Encode each row's rank in the finished sentence as its position, without gap or overlap."""
    ranks = {position: rank for rank, position in enumerate(sorted(row.position for row in rows))}
    return [row._replace(shift=ranks[row.position] - row.position) for row in rows]
