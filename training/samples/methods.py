"""Methods to compare: the training samples of each, and its layout for decoding.

All run on one code path. A method is a layout (``engine.layout.registry``) and at most one
difference between its training samples and its decoding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.layout.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to train for simultaneous translation.

    Attributes:
        layout: of the training samples, one of ``engine.settings.LAYOUTS``.
        decoding: the layout for decoding.
        sees_all: a target token sees the whole source, read or not.
        settled: positions are those of the finished sentence.
        offline: every source is read to its end in training, whatever the policy of decoding.
    """

    layout: str
    decoding: str
    sees_all: bool = False
    settled: bool = False
    offline: bool = False

    def finish(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Turn the rows of the layout into the training rows of the method."""
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
    "simulmask": Method(layout="simulmask", decoding="simulmask"),
    # prefix and causal fine-tuning, decoded with recomputation; Raffel et al. 2024, section 2.
    # To decode without recomputation, use the layout "cached".
    "prefix": Method(layout="recomputed", decoding="recomputed"),
    "causal": Method(layout="recomputed", decoding="recomputed", offline=True),
}
"""By the name that the command line takes."""


def settle(rows: Sequence[Row]) -> list[Row]:
    """Encode each row's rank in the finished sentence as its position, without gap or overlap."""
    ranks = {position: rank for rank, position in enumerate(sorted(row.position for row in rows))}
    return [row._replace(shift=ranks[row.position] - row.position) for row in rows]
