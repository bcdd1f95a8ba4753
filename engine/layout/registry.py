"""The layouts by name."""

from engine.layout.planner import Planner
from engine.layout.rows import Headers
from engine.layout.slots import SlotPlanner
from engine.settings import LayoutSettings, check_choice

LAYOUTS: dict[str, type[Planner]] = {"slots": SlotPlanner}
"""Research adds those that slots are compared with."""


def planner_of(settings: LayoutSettings) -> type[Planner]:
    """Return the kind of planner of a layout; raise ValueError if there is none of its name."""
    check_choice("the layout", settings.name, LAYOUTS)
    return LAYOUTS[settings.name]


def make_planner(headers: Headers, settings: LayoutSettings) -> Planner:
    """Make the planner of one utterance."""
    return planner_of(settings)(headers, settings)
