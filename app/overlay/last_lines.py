"""The last lines of captions and source for a window, in the letters of that window."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from app.captions.line_breaking import Line, Typesetter
from app.captions.model import UtteranceView
from app.captions.reading_pace import LOOKED_AT, ReadingPace
from app.config.preferences import CAPTIONS_ONLY, TRANSLATE, CaptionPreferences
from app.config.translations import worded_note
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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._mode, self._second = choices.mode, choices.second_shown
        self._clock, self._pace = clock, ReadingPace(flows=choices.smooth)
        self._in_sight: tuple[int, ...] = ()  # keys of utterances, the newest first
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

    def of(self, views: Sequence[UtteranceView], count: int, extra: int = 0) -> OverlayView:
        """Return so many lines of captions, of the source above them, of what stands below.

        Args:
            count: of lines in each language.
            extra: so many more of the captions while more comes than can be read.
        """
        views = _joined(views[-_MOST_VIEWS:])
        leading = self._source if self._mode == CAPTIONS_ONLY else self._captions
        newest = leading.last_lines(views, max(count, LOOKED_AT))
        lines = self._pace.show(newest, count, extra, self._clock())
        self._in_sight = tuple(dict.fromkeys(line.place[0] for line in reversed(lines)))
        if self._mode == CAPTIONS_ONLY:
            return OverlayView(lines=lines)
        return OverlayView(
            lines=lines,
            source=self._source.last_lines(views, count) if self._mode != TRANSLATE else (),
            second=self._below_captions(views, count) if self._second else (),
        )

    def _below_captions(self, views: Sequence[UtteranceView], count: int) -> tuple[Line, ...]:
        """Return the second language of the captions in sight; while it lags, what it has."""
        seen = [view for view in views if view.key in self._in_sight]
        return self._below.last_lines(seen, count) or self._below.last_lines(views, count)

    def forget(self) -> None:
        """Show none of the lines so far any more: a silence has passed."""
        self._pace.forget()

    @property
    def wait_s(self) -> float | None:
        """Seconds until ``of`` returns something else, though nothing new came; None if never."""
        next_s = self._pace.next_s
        return None if next_s is None else max(0.0, next_s - self._clock())

    @property
    def keys(self) -> tuple[int, ...]:
        """Keys of the utterances whose captions are on the screen, as far as there are any."""
        return tuple(key for key in self._in_sight if key not in self._pace.waits)


def _source_beside(view: UtteranceView) -> str:
    """Return the source where captions stand beside it: those say already what was left out."""
    return "" if view.left_out_s and view.source == view.caption else view.source


def _joined(views: Sequence[UtteranceView]) -> Sequence[UtteranceView]:
    """Show once how much was left out where several in a row were: the last says it for all."""
    joined = list[UtteranceView]()
    for view in views:
        before = joined[-1] if joined else view
        if joined and view.left_out_s and before.left_out_s and before.lane == view.lane:
            seconds = before.left_out_s + view.left_out_s
            joined[-1] = replace(view, caption=worded_note(seconds), left_out_s=seconds)
        else:
            joined.append(view)
    return joined
