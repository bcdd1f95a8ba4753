"""The last lines of captions and source for a window, in the letters of that window."""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.captions.line_breaking import Line, Typesetter
from app.captions.model import UtteranceView
from app.config.modes import CAPTIONS_ONLY, TRANSLATE
from app.config.preferences import CaptionPreferences


class Letters(Protocol):
    """The width of lines and letters in a window."""

    @property
    def line_width(self) -> float:
        """Of a line at most, in pixels."""

    def measure(self, text: str) -> float:
        """Return the width of a text in the font of captions, in pixels."""

    def measure_source(self, text: str) -> float:
        """Return the width of a text in the font of the source, in pixels."""


class LastLines:
    """Break captions and source into lines, as the mode of the captions wants them."""

    def __init__(
        self,
        letters: Letters,
        choices: CaptionPreferences,
        name_of: Callable[[UtteranceView], str],
    ) -> None:
        self._mode = choices.mode
        self._captions = Typesetter(
            letters.line_width, letters.measure, name_of=name_of, doubt_mark=choices.doubt
        )
        alone = choices.mode == CAPTIONS_ONLY
        measure = letters.measure if alone else letters.measure_source
        self._source = Typesetter(
            letters.line_width, measure, lambda view: view.source, lambda view: view.tail, name_of
        )

    def of(
        self, views: Sequence[UtteranceView], count: int
    ) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
        """Return so many lines of captions, and of the source where it stands above them."""
        if self._mode == CAPTIONS_ONLY:
            return self._source.last_lines(views, count), ()
        captions = self._captions.last_lines(views, count)
        return captions, self._source.last_lines(views, count) if self._mode != TRANSLATE else ()

    @property
    def keys(self) -> tuple[int, ...]:
        """Keys of the utterances whose captions are in the last lines."""
        return self._captions.keys
