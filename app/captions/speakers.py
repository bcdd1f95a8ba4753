"""Decides which utterances begin with the name of their speaker. Plain Python."""

from collections.abc import Collection, Mapping

from app.captions.model import UtteranceView
from app.config.preferences import ME, THEM

_KEPT = 200  # decisions; many more utterances than are on the screen


class SpeakerNames:
    """Name speakers once both sources are on, and those to whom the user gave a name.

    Invariant: a decision about an utterance stays, since a name that comes later would move its
    text; only other names of the user change it.
    """

    def __init__(self, usual: Mapping[str, str]) -> None:
        self._usual = usual
        self._given: Mapping[str, str] = {}
        self._are_both_on = False
        self._decided: dict[int, str] = {}

    def give(self, names: Mapping[str, str]) -> None:
        """Use the names that the user gave, by lane."""
        if names != self._given:
            self._given = names
            self._decided.clear()

    def hear(self, lanes: Collection[str]) -> None:
        """Follow which sources are on; one that goes off does not take the names away."""
        self._are_both_on = self._are_both_on or {ME, THEM} <= set(lanes)

    def name_of(self, view: UtteranceView) -> str:
        """Return the name before an utterance; empty for none."""
        if view.key < 0:  # tentative words without an utterance
            return self._name(view.lane)
        if view.key not in self._decided:
            self._decided[view.key] = self._name(view.lane)
            if len(self._decided) > _KEPT:
                del self._decided[next(iter(self._decided))]
        return self._decided[view.key]

    def _name(self, lane: str) -> str:
        usual = self._usual.get(lane, "") if self._are_both_on else ""
        return self._given.get(lane, usual)
