"""The status bar: state of the program, model, lag and counters."""

from collections.abc import Callable
from dataclasses import asdict, replace

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QWidget

from app.system.process_memory import resident_bytes
from app.widgets.flow_layout import FlowLayout
from engine.events import Ready, Statistics

_GAP = 18


class StatusBar(QWidget):
    """State, listening, lag and counters of the session, in one line."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        measure_memory: Callable[[], int | None] = resident_bytes,
    ) -> None:
        super().__init__(parent)
        self._measure_memory = measure_memory
        self._state_text = ""
        self._ready: Ready | None = None
        self._newest: Statistics | None = None
        self.state = QLabel()
        self.state.setAccessibleDescription(self.tr("State"))
        self.figures = QLabel()
        self.figures.setAccessibleDescription(self.tr("Figures"))
        explanation = self.tr(
            "Tokens computed by the model, each counted once; tokens recomputed after a "
            "correction; time from the newest word to the end of its captions; computing time of a "
            "token; memory of this program including the model"
        )
        self.figures.setToolTip(f"<p>{explanation}</p>")  # a tip wraps only as a paragraph
        self.listening = QLabel()
        self.listening.setAccessibleName(self.tr("State of listening"))
        self.lag = QLabel()
        self.lag.setAccessibleName(self.tr("Lag"))
        self.listening.hide()
        row = FlowLayout(self)
        row.setSpacing(_GAP)
        row.addWidget(self.state)
        row.addWidget(self.listening)
        row.add_gap()
        row.addWidget(self.lag)
        row.addWidget(self.figures)

    @property
    def facts(self) -> dict[str, str | float]:
        """The model and the counters as plain values for diagnostics."""
        facts: dict[str, str | float] = {}
        if self._ready is not None:
            facts |= {"model": self._ready.model, "loaded in s": round(self._ready.load_s, 1)}
        return facts | ({} if self._newest is None else asdict(self._newest))

    def show_listening(self, text: str) -> None:
        """Show the state of listening; the tool tip has the full text."""
        self.listening.setText(text)
        self.listening.setVisible(bool(text))
        self.listening.setToolTip(text)

    def show_lag(self, text: str, tip: str) -> None:
        """Show the lag of the captions, and its stages in the tool tip."""
        self.lag.setText(text)
        self.lag.setToolTip(tip)
        self.lag.setAccessibleDescription(tip)

    def show_state(self, text: str) -> None:
        """Show the state of the program."""
        self._state_text = text
        self.state.setText(text)

    def show_ready(self, event: Ready) -> None:
        """Show the name of the model."""
        self._ready = event
        self.show_state(self.tr("{}, loaded in {:.1f} s").format(event.model, event.load_s))

    @Slot(bool)
    def show_paused(self, paused: bool) -> None:  # noqa: FBT001  what the signal carries
        """Show that captions are paused, or the state before the pause."""
        text = self.tr("Paused: typed text is kept") if paused else self._state_text
        self.state.setText(text)

    def show_statistics(self, event: Statistics) -> None:
        """Show the counters."""
        self._newest = event
        text = self.tr(
            "{:,} tokens fed  ·  {:,} recomputed  ·  {:.0f} ms per word  ·  {:.1f} ms per token"
        )
        text = text.format(
            event.tokens_fed, event.tokens_recomputed, event.ms_per_word, event.ms_per_token
        )
        n_bytes = self._measure_memory()
        if n_bytes is not None:
            text += self.tr("  ·  {:,.0f} MB").format(n_bytes / 1e6)
        if event.backlog_words:
            text = self.tr("{:,} words wait  ·  ").format(event.backlog_words) + text
        self.figures.setText(text)

    @Slot()
    def show_no_backlog(self) -> None:
        """Show that no words wait."""
        if self._newest is not None:
            self.show_statistics(replace(self._newest, backlog_words=0))
