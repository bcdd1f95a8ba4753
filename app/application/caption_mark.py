"""The person's mark on its way from a row to what is kept of the session. Plain Python.

A row may stand for words that still wait for the model or for the end of a pause; the utterance
that has them is known later.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class RowMark:
    """Know which cue each row is, and what a marked row was that is none yet.

    Rows have the keys of ``app.captions.model``, cues those of ``app.history.cue_recorder``.
    """

    _cues: dict[int, int] = field(default_factory=dict)
    _awaited: tuple[str, str] | None = None  # lane and text

    def tell(self, row: int, cue: int) -> None:
        """Take which cue a row is."""
        self._cues[row] = cue

    def cue_of(self, row: int) -> int | None:
        """Give the cue of a row that is marked now; what was awaited is no longer."""
        self._awaited = None
        return self._cues.get(row)

    def await_text(self, lane: str, text: str) -> None:
        """Take that words are marked which wait."""
        self._awaited = lane, text

    def is_awaited(self, lane: str, source: str) -> bool:
        """Tell whether an utterance that has ended has the words that were marked."""
        if self._awaited is None or not source:
            return False
        awaited_lane, text = self._awaited
        return lane == awaited_lane and (text.startswith(source) or text in source)

    def forget(self) -> None:
        """Await nothing any more."""
        self._awaited = None
