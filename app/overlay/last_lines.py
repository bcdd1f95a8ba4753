"""The last lines of captions and source for a window, in the letters of that window."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from app.captions.line_breaking import Line, Typesetter
from app.captions.model import UtteranceView
from app.config.modes import CAPTIONS_ONLY, TRANSLATE
from app.config.preferences import CaptionPreferences
from app.config.system.translations import worded_note
from app.overlay.text_layout import OverlayView

_MOST_VIEWS = 100  # far more than have room


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
    """Break captions, their source and their second language into lines, as they are wanted."""

    def __init__(
        self,
        letters: Letters,
        choices: CaptionPreferences,
        name_of: Callable[[UtteranceView], str],
    ) -> None:
        self._mode, self._second = choices.mode, choices.second_shown
        self._captions = Typesetter(
            letters.line_width, letters.measure, name_of=name_of, doubt_mark=choices.doubt
        )
        alone = choices.mode == CAPTIONS_ONLY
        measure = letters.measure if alone else letters.measure_source
        self._source = Typesetter(
            letters.line_width,
            measure,
            (lambda view: view.source) if alone else _source_beside,
            lambda view: view.tail,
            name_of,
        )

        self._below = Typesetter(
            letters.line_width,
            letters.measure_source,
            lambda view: view.translation(self._second),
            name_of=name_of,
        )

    def of(self, views: Sequence[UtteranceView], count: int) -> OverlayView:
        """Return so many lines of captions, of the source above them, of what stands below."""
        views = _joined(views[-_MOST_VIEWS:])
        if self._mode == CAPTIONS_ONLY:
            return OverlayView(lines=self._source.last_lines(views, count))
        return OverlayView(
            lines=self._captions.last_lines(views, count),
            source=self._source.last_lines(views, count) if self._mode != TRANSLATE else (),
            second=self._below_captions(views, count) if self._second else (),
        )

    def _below_captions(self, views: Sequence[UtteranceView], count: int) -> tuple[Line, ...]:
        """Return the second language of the captions in sight; while it lags, what it has."""
        seen = views[len(views) - len(self._captions.keys) :]
        return self._below.last_lines(seen, count) or self._below.last_lines(views, count)

    @property
    def keys(self) -> tuple[int, ...]:
        """Keys of the utterances whose captions are in the last lines."""
        return self._captions.keys


def _source_beside(view: UtteranceView) -> str:
    """Return the source where captions stand beside it: those say already what was left out."""
    return "" if view.left_out_s and view.source == view.caption else view.source


def _joined(views: Sequence[UtteranceView]) -> Sequence[UtteranceView]:
    """Say once how much was left out where several in a row were: the last says it for all."""
    joined = list[UtteranceView]()
    for view in views:
        before = joined[-1] if joined else view
        if joined and view.left_out_s and before.left_out_s and before.lane == view.lane:
            seconds = before.left_out_s + view.left_out_s
            joined[-1] = replace(view, caption=worded_note(seconds), left_out_s=seconds)
        else:
            joined.append(view)
    return joined
