"""A picture of captions as the overlay paints them, for where their look is chosen."""

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.captions.line_breaking import Typesetter
from app.captions.model import UtteranceView
from app.config.preferences import CAPTIONS_ONLY, ME, THEM, CaptionPreferences
from app.overlay.text_layout import OverlayView, TextLayout

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
        text.view = self._view()
        text.forget_box()
        text.lay_out(text.size_of_lines(choices.lines), glides=False)
        self.setAccessibleDescription(" ".join(line.text for line in text.view.lines))
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.show_choices(self._choices)

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

    def _view(self) -> OverlayView:
        text, choices = self._text, self._choices
        given = choices.speaker_names

        def name_of(view: UtteranceView) -> str:
            return given.get(view.lane, "")

        is_alone = choices.mode == CAPTIONS_ONLY
        captions = Typesetter(
            text.line_width, text.measure, name_of=name_of, doubt_mark=choices.doubt
        )
        source = Typesetter(
            text.line_width,
            text.measure if is_alone else text.measure_source,
            text_of=lambda view: view.source,
            name_of=name_of,
        )
        lines = source.last_lines(_SAID, choices.lines)
        if is_alone:
            return OverlayView(lines=lines)
        return OverlayView(lines=captions.last_lines(_SAID, choices.lines), source=lines)
