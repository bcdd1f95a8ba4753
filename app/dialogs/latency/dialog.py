"""The window of latency and evaluation: lag by stage, cost, and the score of a file."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.config.system.translations import filled
from app.dialogs.latency.collector import LatencyCollector
from app.dialogs.latency.evaluation_page import EvaluationPage
from app.dialogs.latency.record import EDGES_S, LatencyRecord, histogram
from app.look.widgets.charts import CurveChart, Histogram, Waterfall
from app.look.widgets.dialog_text import (
    add_action,
    as_sentence,
    close_button,
    paragraph,
    size_text,
)
from app.look.widgets.file_dialogs import ask_save
from app.look.widgets.tab_widget import WideTabs
from engine.metrics.word_lags import COMMITTED, WHOLE, StageTime

_REFRESH_MS = 250  # no eye reads faster


class LatencyDialog(QDialog):
    """Three pages over one record, refreshed only while the window is visible.

    Signals:
        diagnostics_wanted(): copy the diagnostics.
    """

    diagnostics_wanted = Signal()

    def __init__(
        self, desk: LatencyCollector, evaluation: EvaluationPage, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Performance"))
        self._desk = desk
        self._is_stale = True
        self.waterfall = Waterfall(
            self.tr("Latency by stage (thick bar: median, thin bar: 95th percentile)")
        )
        self.committed = Histogram(self.tr("From a word to its caption, in seconds"))
        self.tokens = CurveChart(self.tr("Tokens fed and recomputed"))
        self.memory = CurveChart(self.tr("Memory of this program"))
        self.summary, self.cost = paragraph(), paragraph()
        self.evaluation = evaluation
        self.tabs = WideTabs()
        self.tabs.addTab(_column(self.summary, self.waterfall, self.committed), self.tr("&Lag"))
        self.tabs.addTab(_column(self.cost, self.tokens, self.memory), self.tr("&Cost"))
        self.tabs.addTab(_scrolled(evaluation), self.tr("E&valuate a file"))
        self.message = paragraph()
        self.message.hide()
        buttons = close_button()
        self.record = add_action(buttons, self.tr("&Record…"), self._toggle_recording)
        self.diagnostics = add_action(buttons, self.tr("Copy &diagnostics"), self._copy_diagnostics)
        self.reset = add_action(buttons, self.tr("Cle&ar"), self._clear)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        for widget in (self.tabs, self.message, buttons):
            column.addWidget(widget)
        self.resize(720, 500)
        self._timer = QTimer(self, interval=_REFRESH_MS)
        self._timer.timeout.connect(self._refresh)
        desk.changed.connect(self._go_stale)
        desk.failed.connect(self._show_failure)

    def record_to(self, path: Path) -> None:
        """Start writing measurements to a file."""
        self._desk.record_to(path)
        self._show_message(self.tr("Measurements are written to {}, without any text").format(path))
        self._name_recording()

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
            self._show_lag(self._desk.record)
            self._show_cost(self._desk.record)

    def _show_lag(self, record: LatencyRecord) -> None:
        names = [
            self.tr("Capture"),
            self.tr("Voice activity"),
            self.tr("Recognition"),
            self.tr("Wait for later words"),
            self.tr("Model"),
            self.tr("Paint"),
        ]
        stages = record.lags.stages()
        rows = [
            (name, stage.median_s, stage.p95_s, self._stage_text(stage))
            for name, stage in zip(names, stages, strict=True)
        ]
        self.waterfall.show_rows(rows, "; ".join(f"{name}: {text}" for name, _, _, text in rows))
        counts = histogram(record.lags.seconds(COMMITTED))
        labels = [*(filled("{:g}", edge) for edge in EDGES_S), filled("> {:g}", EDGES_S[-1])]
        summary = self._lag_text(record.lags.summed(COMMITTED), record.lags.summed(WHOLE))
        self.committed.show_bars(list(zip(labels, counts, strict=True)), summary)
        self.summary.setText(summary)

    def _stage_text(self, stage: StageTime) -> str:
        if stage.n_words:
            return filled(self.tr("{:.2f} s (95 %: {:.2f} s)"), stage.median_s, stage.p95_s)
        if stage.stage in ("capture", "voice activity"):
            return self.tr("not measured separately")
        return self.tr("no data")

    def _lag_text(self, committed: StageTime, whole: StageTime) -> str:
        if not committed.n_words:
            return self.tr("No captions yet: type or say something.")
        lag = whole if whole.n_words else committed
        text = self.tr("Captions appear {:.1f} s after a word; 95 % within {:.1f} s")
        text = filled(text, lag.median_s, lag.p95_s)
        if self._desk.lost_s:
            text = f"{text}; {filled(self.tr('{:.2f} s of sound lost'), self._desk.lost_s)}"
        return as_sentence(text)

    def _show_cost(self, record: LatencyRecord) -> None:
        newest = record.newest
        if newest is None:
            self.cost.setText(self._model_text() or self.tr("No tokens yet."))
        else:
            text = self.tr(
                "Tokens fed: {:,}; passes: {:,}; recomputed: {:,}; probed and discarded: {:,}. "
                "Rows in the cache: {:,}; in the prompt for glossary and context: {:,}. "
                "Loops cut: {:,}. {:.0f} ms for the newest word, {:.1f} ms for a token. "
                "Waiting words: {:,}."
            )
            self.cost.setText(
                self._model_text()
                + filled(
                    text,
                    newest.tokens_fed,
                    newest.forwards,
                    newest.tokens_recomputed,
                    newest.probes,
                    newest.cached_rows,
                    newest.context_rows,
                    newest.loops_cut,
                    newest.ms_per_word,
                    newest.ms_per_token,
                    newest.backlog_words,
                )
            )
            points = record.tokens_fed.points
            counts = filled(
                self.tr("{:,} fed, {:,} recomputed; {}"),
                newest.tokens_fed,
                newest.tokens_recomputed,
                self._span(points),
            )
            curves = [points, record.tokens_recomputed.points]
            self.tokens.show_curves(curves, filled("{:,}", newest.tokens_fed), counts)
        self._show_memory(record.memory.points)

    def _model_text(self) -> str:
        """Return the name of the model and how long it took to load; empty without one."""
        ready = self._desk.ready
        if ready is None or not ready.model:
            return ""
        return filled(self.tr("{}, loaded in {:.1f} s. "), ready.model, ready.load_s)

    def _show_memory(self, points: Sequence[tuple[float, float]]) -> None:
        if not points:
            self.memory.show_curves([], "", self.tr("Not available on this system"))
            return
        most = size_text(max(value for _, value in points))
        now = self.tr("{} now; {}").format(size_text(points[-1][1]), self._span(points))
        self.memory.show_curves([points], most, now)

    def _span(self, points: Sequence[tuple[float, float]]) -> str:
        """Return the duration of a curve as text."""
        seconds = points[-1][0] - points[0][0] if points else 0.0
        if seconds < 120:
            return self.tr("over {:.0f} s").format(seconds)
        return self.tr("over {:.0f} min").format(seconds / 60)

    def _show_message(self, message: str) -> None:
        self.message.setText(as_sentence(message))
        self.message.show()

    @Slot(str)
    def _show_failure(self, message: str) -> None:
        self._show_message(message)
        self._name_recording()

    @Slot()
    def _toggle_recording(self) -> None:
        if self._desk.is_recording:
            self._desk.stop_recording()
            self._show_message(self.tr("Recording has ended"))
            self._name_recording()
            return
        title, kinds = self.tr("File for measurements"), "JSON Lines (*.jsonl)"
        path = ask_save(self, title, "surtitle.jsonl", kinds)
        if path:
            self.record_to(path)

    def _name_recording(self) -> None:
        is_on = self._desk.is_recording
        self.record.setText(self.tr("Stop &recording") if is_on else self.tr("&Record…"))

    @Slot()
    def _clear(self) -> None:
        self._desk.clear()
        self._refresh()

    @Slot()
    def _copy_diagnostics(self) -> None:
        self.diagnostics_wanted.emit()
        self._show_message(
            self.tr("Diagnostics copied. They contain no spoken or translated text.")
        )


def _column(*widgets: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setSpacing(12)
    for widget in widgets:
        column.addWidget(widget, 0 if isinstance(widget, QLabel) else 1)
    return _scrolled(page)


def _scrolled(page: QWidget) -> QScrollArea:
    """Let a page scroll on small screens."""
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(page)
    return area
