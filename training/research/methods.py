"""Layouts and ways to train of other papers, which slots are compared with.

Product code has mappings with its own one or two entries; ``add`` puts these beside them. All run
on one code path: a method is a layout and at most one difference between its training samples and
its decoding. The source of each, and our deviations, are at its class.
"""

import random
from collections.abc import Mapping, Sequence

from engine.layout import planner
from engine.layout.planner import Planner, SlotPlanner, State
from engine.layout.rows import IGNORE, Headers, Row
from engine.policy import POLICIES, Offline, Policy
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt
from engine.translation import factory
from training.research.adaptive import Adaptive, AdaptiveTranslator
from training.settings import Mixture
from training.trainer import samples
from training.trainer.samples import AlignedReads, Method, TokenizedPair

TARGET_SIDE = 1 << 20
"""First position of a target that is kept apart: after every source word to come."""

# Layouts ------------------------------------------------------------------------------------------


class ApartPlanner(SlotPlanner):
    """Slots in which source sees source only, as in group position encoding.

    In slots a source row of the second phase or later sees the targets of the phases before, and so
    the model's own errors; the paper does not say whether it should. Encoded positions are those of
    slots, and so is what a row sees that is asked for a token.
    """

    def _place_target(self, id_: int) -> None:
        target = self._state.target
        self._rows.append(Row(id_, TARGET_SIDE + target, shift=-TARGET_SIDE))
        self._state = self._state._replace(target=target + 1)


class ConversationalPlanner(SlotPlanner):
    """A full turn of user and assistant for each read, positions in order of arrival.

    Source: Conversational SimulMT (Wang et al. 2024), section 3.1. Positions never overlap or gap,
    so every row costs the same as in slots; but each read pays for both headers.
    """

    def _make_room(self) -> None:
        if self._state.writes:
            self._close_phase()

    def _target_start(self) -> int:
        return self._state.source


class InterleavedPlanner(ConversationalPlanner):
    """Pieces of source and target in turn, with one token after each, and no header between them.

    ``source <eor> target <eow> source <eor> target ..``

    Source: EASiST (Fu et al. 2025), equation 1, as in EAST before it
    (https://aclanthology.org/2025.findings-acl.1045). The newest row of the source sees all
    targets, and is asked whether to write. Our deviation: ``<eor>`` is the first token of the
    assistant header, which every base knows as the end of the source.
    """

    def __init__(self, headers: Headers, settings: LayoutSettings) -> None:
        super().__init__(headers._replace(user=(), assistant=headers.assistant[:1]), settings)
        self.end_of_read = next(iter(headers.assistant), None)

    def look(self) -> Sequence[Row]:
        """Feed the source read so far in a pass of its own; no row where all of it is fed."""
        return self._close_pass()


class JoinedPlanner(Planner):
    """One source, one target: ``system | user | source .. | assistant | target ..``.

    In the order of sight the whole target comes after the whole source, so a source token sees
    source only, and the target sees the source read so far. The encoded positions differ:

    In this class the target directly follows the source read so far. A target token that was fed
    keeps its position while source grows into it: the misalignment that slots avoid. It is the
    paper's ablation "without slot", and decoding from a cache that is never recomputed (Raffel et
    al. 2024, section 4).
    """

    def _open_source(self, start: int, header: Sequence[int]) -> State:
        self._place_header(header, start)
        return State(source=start + len(header))

    def _open_target(self) -> None:
        self._state = self._state._replace(writes=True)
        for id_ in self._headers.assistant:
            self._place_target(id_)

    def _place_target(self, id_: int) -> None:
        n_target = self._state.target  # header included
        position = TARGET_SIDE + n_target
        self._rows.append(Row(id_, position, shift=self._encoded(n_target) - position))
        self._state = self._state._replace(target=n_target + 1)

    def _encoded(self, n_target: int) -> int:
        return self._state.source + n_target


class RankedPlanner(JoinedPlanner):
    """SimulMask (Raffel et al. 2024): its bias counts the visible keys, not positions."""

    ranked = True


class GroupPlanner(JoinedPlanner):
    """Source and target each counted from 0 (group position encoding).

    Source: GPE (Tong et al. 2025): position(source i) = i, instruction included; position(target j)
    = phi + j with phi = 0. The assistant header belongs to the target. Unlike the published code,
    no header sees ahead, and sight is by sub-word.
    """

    def _encoded(self, n_target: int) -> int:
        return n_target


class RecomputingPlanner(JoinedPlanner):
    """The prompt is encoded again whenever source was read: positions are always right, at a cost.

    Source: prefix-to-prefix decoding as in Simul-LLM and SimulMask's baselines. The system prompt
    stays cached, so the count is a little lower than theirs.
    """

    recomputes = True
    _n_again = 0

    @property
    def n_again(self) -> int:
        return self._n_again

    def write(self) -> list[Row]:
        """Close a forward pass; all rows after the system prompt if source was read."""
        fed = super().write()
        self._n_again = 0
        return fed

    def _make_room(self) -> None:
        """Remove the target from the rows; the next write places it after the longer source."""
        if not self._state.writes:
            return
        n_system = len(self._headers.system)
        n_source = self._state.source  # up to here a row's position is its index
        first = n_source + len(self._headers.assistant)
        placed = tuple(row.id for row in self._rows[first:])
        self._n_again = self._n_fed - n_system
        del self._rows[n_source:]
        self._n_fed = n_system
        self._state = State(source=n_source, pending=placed + self._state.pending)


LAYOUTS: Mapping[str, type[Planner]] = {
    "conversational": ConversationalPlanner,
    "interleaved": InterleavedPlanner,
    "gpe": GroupPlanner,
    "simulmask": RankedPlanner,
    "cached": JoinedPlanner,
    "recomputed": RecomputingPlanner,
    "source-apart": ApartPlanner,
}

# Ways to train ------------------------------------------------------------------------------------

LEVELS = (1, 2, 3, 4, 6)
"""Source words between the boundaries of each level of a schedule, at least."""


def nested_boundaries(needs: Sequence[int], apart: int) -> tuple[int, ...]:
    """Return the boundaries of a schedule that stand ``apart`` source words apart or more.

    Those of 4 are among those of 2, and these among those of 1: each level is chosen from the level
    of half the distance.
    """
    kept = list[int]()
    among = sorted(set(needs)) if apart == 1 else nested_boundaries(needs, (apart + 1) // 2)
    for boundary in among:
        if boundary - (kept[-1] if kept else 0) >= apart:
            kept.append(boundary)
    return tuple(kept)


def draw_chunks(pair: TokenizedPair, mixture: Mixture, rng: random.Random) -> Policy:  # noqa: ARG001  as all draws
    """Read half of the pairs to the boundaries of a level, and the others to their end (EASiST)."""
    apart = rng.choice((*LEVELS, *[0] * len(LEVELS)))
    if pair.needs is None or not apart:
        return Offline()
    return AlignedReads(nested_boundaries(pair.needs, apart))


def draw_whole(pair: TokenizedPair, mixture: Mixture, rng: random.Random) -> Policy:  # noqa: ARG001  likewise
    """Read every source to its end, whatever the policy of decoding."""
    return Offline()


def label_source(rows: Sequence[Row], policy: Policy, prompt: Prompt) -> Sequence[Row]:
    """Where writes end, label also source tokens, and the token that ends them, at the row before.

    The end of a write is left as it is: where a write was cut short it has no label.
    """
    if not policy.ends_writes:
        return rows
    first = len(prompt.headers.system) + len(prompt.headers.first)
    labelled = list(rows)
    for index in range(max(first, 1), len(rows)):
        row, following = rows[index - 1], rows[index].id
        if row.label == IGNORE and following != prompt.end_of_write:
            labelled[index - 1] = row._replace(label=following)
    return labelled


def see_all(rows: Sequence[Row], policy: Policy, prompt: Prompt) -> Sequence[Row]:  # noqa: ARG001  as all ends
    """Let a target token see the whole source, read or not."""
    return [row._replace(time=0) for row in rows]


def settle(rows: Sequence[Row], policy: Policy, prompt: Prompt) -> Sequence[Row]:  # noqa: ARG001  likewise
    """Encode each row's rank in the finished sentence as its position, without gap or overlap."""
    ranks = {position: rank for rank, position in enumerate(sorted(row.position for row in rows))}
    return [row._replace(shift=ranks[row.position] - row.position) for row in rows]


METHODS: Mapping[str, Method] = {
    # ours, with source that sees no target of an earlier slot
    "source-apart": Method(layout="source-apart"),
    # ablations of ExPosST, section 4.1
    "without-mask": Method(finish=see_all),
    "without-slots": Method(layout="cached", finish=settle),
    # baselines; the layouts name their sources
    "gpe": Method(layout="gpe"),
    "conversational": Method(layout="conversational"),
    # stage I of EASiST, over alignments: SimulMT on all tokens, MT on those of the target
    "easist": Method(
        layout="interleaved",
        draw=draw_chunks,
        shares=lambda _: (0.5, 0.0),
        finish=label_source,
        labels_all=True,
    ),
    "simulmask": Method(layout="simulmask"),
    # prefix and causal fine-tuning, decoded with recomputation; Raffel et al. 2024, section 2.
    # To decode without recomputation, use the layout "cached".
    "prefix": Method(layout="recomputed"),
    "causal": Method(layout="recomputed", draw=draw_whole, shares=lambda _: (0.0, 0.0)),
}


def add() -> None:
    """Let every command know these layouts and methods, and adaptive policies."""
    planner.LAYOUTS.update(LAYOUTS)
    samples.METHODS.update(METHODS)
    POLICIES["adaptive"] = Adaptive.parse
    factory.TRANSLATORS.update(slots=AdaptiveTranslator)
