"""The person's mark on words that still wait for the model or the end of a pause. Plain Python.

The utterance that will have these words is known later.
"""


class AwaitedMark:
    """Know the text of a marked row that is no utterance yet."""

    def __init__(self) -> None:
        self._awaited: tuple[str, str] | None = None  # lane and text

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
