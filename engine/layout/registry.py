"""The layouts by name."""

from collections.abc import Mapping

from engine.layout.baselines import (
    ApartPlanner,
    ConversationalPlanner,
    GroupPlanner,
    InterleavedPlanner,
    JoinedPlanner,
    RecomputingPlanner,
)
from engine.layout.planner import Planner
from engine.layout.rows import Headers
from engine.layout.slots import SlotPlanner
from engine.settings import LayoutSettings

_PLANNERS: Mapping[str, type[Planner]] = {
    "slots": SlotPlanner,
    "conversational": ConversationalPlanner,
    "interleaved": InterleavedPlanner,
    "gpe": GroupPlanner,
    "simulmask": JoinedPlanner,  # its bias counts the visible keys, not positions
    "cached": JoinedPlanner,
    "recomputed": RecomputingPlanner,
    "source-apart": ApartPlanner,
}
"""The planner of every name in ``engine.settings.LAYOUTS``."""


def make_planner(headers: Headers, settings: LayoutSettings) -> Planner:
    """Make the planner of one utterance."""
    return _PLANNERS[settings.name](headers, settings)
