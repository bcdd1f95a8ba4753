"""The window of latency: how late captions are, by stage, and what they cost."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen, QShowEvent
from PySide6.QtWidgets import QDialog, QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.config.system.translations import filled
from app.dialogs.latency.collector import EDGES_S, LatencyCollector, LatencyRecord, histogram
from app.look.palette import colours_of
from app.look.widgets.dialog_text import (
    add_action,
    as_sentence,
    close_button,
    paragraph,
    size_text,
)
from app.look.widgets.lane_style import lane_name
from engine.metrics.word_lags import COMMITTED, WHOLE, StageTime

_REFRESH_MS = 250  # no eye reads faster


class LatencyDialog(QDialog):
    """One page over the record, refreshed only while the window is visible.

    Signals:
        diagnostics_wanted(): copy the diagnostics.
    """

    diagnostics_wanted = Signal()

    def __init__(self, collector: LatencyCollector, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Performance"))
        self._collector = collector
        self._is_stale = True
        self.summary, self.stages, self.cost = paragraph(), paragraph(), paragraph()
        self.committed = Histogram(self.tr("From a word to its caption, in seconds"))
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(12)
        column.addWidget(self.summary)
        column.addWidget(self.stages)
        column.addWidget(self.committed, 1)
        column.addWidget(self.cost)
        area = QScrollArea(widgetResizable=True)  # for small screens
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(page)
        self.message = paragraph()
        self.message.hide()
        buttons = close_button()
        self.diagnostics = add_action(buttons, self.tr("Copy &diagnostics"), self._copy_diagnostics)
        self.reset = add_action(buttons, self.tr("Cle&ar"), self._clear)
        buttons.rejected.connect(self.close)
        whole = QVBoxLayout(self)
        whole.addWidget(area)
        whole.addWidget(self.message)
        whole.addWidget(buttons)
        self.resize(640, 480)
        self._timer = QTimer(self, interval=_REFRESH_MS)
        self._timer.timeout.connect(self._refresh)
        collector.changed.connect(self._go_stale)

    def showEvent(self, event: QShowEvent) -> None:
        """Show the record and keep it up to date."""
        super().showEvent(event)
        self._is_stale = True
        self._refresh()
        self._timer.start()

    @Slot()
    def _go_stale(self) -> None:
        self._is_stale = True

    @Slot()
    def _refresh(self) -> None:
        """Show a changed record; stop the timer once the window is hidden."""
        if not self.isVisible():
            self._timer.stop()
        elif self._is_stale:
            self._is_stale = False
            self._show_lag(self._collector.record)
            self._show_cost(self._collector.record)

    def _show_lag(self, record: LatencyRecord) -> None:
        names = [
            self.tr("Capture"),
            self.tr("Voice activity"),
            self.tr("Recognition"),
            self.tr("Wait for later words"),
            self.tr("Model"),
            self.tr("Paint"),
        ]
        stages = zip(names, record.lags.stages(), strict=True)
        known = [f"{name}: {self._stage_text(stage)}" for name, stage in stages if stage.n_words]
        lanes = record.lags.lanes
        for lane in lanes if len(lanes) > 1 else ():
            whole = record.lags.heard(lane=lane)[-1]
            known.append(f"{lane_name(lane)}: {self._stage_text(whole)}")
        self.stages.setText("\n".join(known))
        self.stages.setVisible(bool(known))
        counts = histogram(record.lags.seconds(COMMITTED))
        labels = [*(filled("{:g}", edge) for edge in EDGES_S), filled("> {:g}", EDGES_S[-1])]
        summary = self._lag_text(record.lags.summed(COMMITTED), record.lags.summed(WHOLE))
        self.committed.show_bars(list(zip(labels, counts, strict=True)), summary)
        self.summary.setText(summary)

    def _stage_text(self, stage: StageTime) -> str:
        return filled(self.tr("{:.2f} s (95 %: {:.2f} s)"), stage.median_s, stage.p95_s)

    def _lag_text(self, committed: StageTime, whole: StageTime) -> str:
        if not committed.n_words:
            return self.tr("No captions yet: type or say something.")
        lag = whole if whole.n_words else committed
        text = self.tr("Captions appear {:.1f} s after a word; 95 % within {:.1f} s")
        text = filled(text, lag.median_s, lag.p95_s)
        if self._collector.lost_s:
            text = f"{text}; {filled(self.tr('{:.2f} s of sound lost'), self._collector.lost_s)}"
        return as_sentence(text)

    def _show_cost(self, record: LatencyRecord) -> None:
        newest = record.newest
        parts = [self._model_text()]
        if newest is None:
            parts.append(self.tr("No tokens yet."))
        else:
            text = self.tr(
                "Tokens fed: {:,}; recomputed: {:,}. {:.0f} ms for the newest word. "
                "Waiting words: {:,}."
            )
            counts = (newest.tokens_fed, newest.tokens_recomputed)
            parts.append(filled(text, *counts, newest.ms_per_word, newest.backlog_words))
        if record.memory_bytes is not None:
            memory = self.tr("Memory of this program: {}").format(size_text(record.memory_bytes))
            parts.append(as_sentence(memory))
        self.cost.setText(" ".join(filter(None, parts)))

    def _model_text(self) -> str:
        """Return the name of the model and how long it took to load; empty without one."""
        ready = self._collector.ready
        if ready is None or not ready.model:
            return ""
        return filled(self.tr("{}, loaded in {:.1f} s."), ready.model, ready.load_s)

    @Slot()
    def _clear(self) -> None:
        self._collector.clear()
        self._refresh()

    @Slot()
    def _copy_diagnostics(self) -> None:
        self.diagnostics_wanted.emit()
        self.message.setText(
            self.tr("Diagnostics copied. They contain no spoken or translated text.")
        )
        self.message.show()


_PAD = 6
_LEADING = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter


class Histogram(QWidget):
    """Vertical bars below a title, each with its name below and its count above."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.bars: Sequence[tuple[str, int]] = ()
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)

    def sizeHint(self) -> QSize:
        """Return a size at which everything is legible."""
        return QSize(420, 170)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest such size."""
        return QSize(260, 170)

    def show_bars(self, bars: Sequence[tuple[str, int]], words: str) -> None:
        """Show these names and counts.

        Args:
            bars: from left to right.
            words: the accessible description.
        """
        self.bars = tuple(bars)
        self.setAccessibleDescription(words)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the title, and bars over a line."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.drawText(QRectF(0, 0, self.width(), line), _LEADING, self.title)
        font.setBold(False)
        painter.setFont(font)
        self._paint_bars(painter, QRectF(self.rect()).adjusted(0, line + _PAD, 0, 0))
        painter.end()

    def _paint_bars(self, painter: QPainter, area: QRectF) -> None:
        line = self.fontMetrics().height()
        quiet = self.palette().color(QPalette.ColorRole.PlaceholderText)
        floor = area.bottom() - line - _PAD
        room, width = floor - area.top() - line, area.width() / max(1, len(self.bars))
        most = max((count for _, count in self.bars), default=0)
        for number, (name, count) in enumerate(self.bars):
            left = number * width
            painter.setPen(quiet)
            below = QRectF(left, floor + 2, width, line)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, name)
            height = room * count / most if most else 0
            if count:
                painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
                above = QRectF(left, floor - height - line, width, line)
                painter.drawText(above, Qt.AlignmentFlag.AlignCenter, f"{count:,}")
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours_of(self.palette()).colour("accent"))
            painter.drawRect(QRectF(left + 2, floor - height, max(1.0, width - 4), height))
        painter.setPen(QPen(quiet, 1))
        painter.drawLine(0, int(floor), int(area.width()), int(floor))
