"""The last lines of captions and source in the letters of a window; a picture of them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.captions.line_breaking import Line, Typesetter
from app.captions.model import UtteranceView
from app.captions.reading_pace import LOOKED_AT, ReadingPace
from app.config.preferences import CAPTIONS_ONLY, ME, THEM, TRANSLATE, CaptionPreferences
from app.config.translations import worded_note
from app.overlay.text_layout import OverlayView, TextLayout

_MOST_VIEWS = 100  # far more than have room


class LastLines:
    """Break captions, their source and their second language into lines, as they are wanted."""

    def __init__(
        self,
        letters: TextLayout,
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


BEHIND = ((0, 0, 0), (255, 255, 255))
"""The darkest and the lightest that may be behind the overlay."""

_MOST_HEIGHT, _LEAST_HEIGHT = 132, 48  # pixels
_MARGIN, _RADIUS = 8, 6
_ROOM = 4000  # for the longest line: no screen is in its way
_SAID = (  # in the languages of the bundled model
    UtteranceView(
        key=0, source="Good morning, everyone.", caption="Guten Morgen zusammen.", lane=ME
    ),
    UtteranceView(
        key=1, source="The room is full today.", caption="Der Saal ist heute voll.", lane=THEM
    ),
    UtteranceView(
        key=2,
        source="We begin with a question.",
        caption="Wir beginnen mit einer Frage.",
        lane=THEM,
        doubtful=True,
    ),
)


class CaptionPreview(QWidget):
    """Show some captions as chosen, the last of them doubtful; smaller if they have no room.

    Behind them it is dark on the left and light on the right, as it may be on the screen.
    """

    def __init__(self) -> None:
        super().__init__()
        self._choices = CaptionPreferences()
        self._text = TextLayout(self)
        self.setAccessibleName(self.tr("Preview of the captions"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(_LEAST_HEIGHT)
        self.setMaximumHeight(_MOST_HEIGHT)
        self.show_choices(self._choices)

    def show_choices(self, choices: CaptionPreferences) -> None:
        self._choices = choices
        text = self._text
        text.dress(choices, self.font(), _ROOM)
        text.n_lines = choices.lines
        names = choices.speaker_names
        still = replace(choices, smooth=False)
        lines = LastLines(text, still, lambda view: names.get(view.lane, ""))
        text.view = lines.of(_SAID, choices.lines)
        text.forget_box()
        text.lay_out(text.size_of_lines(choices.lines), glides=False)
        self.setAccessibleDescription(" ".join(line.text for line in text.view.lines))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  all of it is painted
        """Paint what may be behind the overlay, and the captions in the middle of it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        behind = QLinearGradient(0, 0, self.width(), 0)
        for place, colour in enumerate(BEHIND):
            behind.setColorAt(place, QColor(*colour))
        painter.setBrush(behind)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(QRectF(self.rect()), _RADIUS, _RADIUS)
        box = self._text.box
        if box is not None:
            room = self.rect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
            scale = min(1.0, room.width() / box.width(), room.height() / box.height())
            painter.translate(QRectF(self.rect()).center())
            painter.scale(scale, scale)
            painter.translate(-QRectF(box).center())
            self._text.paint(painter, box)
