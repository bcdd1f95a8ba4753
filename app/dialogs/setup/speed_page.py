"""The page of the guide that measures how far captions will lag with the model that is chosen."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton

from app.dialogs.setup.pages import WizardPage
from app.library.models import MachineReport
from app.system.child_process import ChildCommand
from app.widgets.dialog_text import as_sentence
from engine.session.lag_forecast import Forecast

_LIMIT_S = 180.0  # of loading and measuring together; measuring ends after 20 s by itself
_TIGHT = 0.8


class SpeedPage(WizardPage):
    """One button, and what it found in words."""

    def __init__(self, check: ChildCommand) -> None:
        super().__init__()
        self.title = self.tr("Speed")
        self._check = check
        self._report = MachineReport()
        self._arguments = list[str]()
        self.add_text(
            self.tr(
                "Surtitle can try the model on a few sentences, for 20 seconds at most, and tell "
                "how far captions will stand behind somebody who speaks."
            )
        )
        self.measure = QPushButton(self.tr("&Measure"))
        self.cancel = QPushButton(self.tr("&Cancel"))
        self.progress = QProgressBar(textVisible=False)
        self.progress.setRange(0, 0)
        self.progress.setAccessibleName(self.tr("Measuring"))
        row = QHBoxLayout()
        for widget in (self.measure, self.cancel, self.progress):
            row.addWidget(widget)
        row.addStretch(1)
        self.column.addLayout(row)
        self.result = self.add_text("")
        font = self.result.font()
        font.setPointSizeF(font.pointSizeF() * 1.25)
        self.result.setFont(font)
        self.advice = self.add_text("")
        self.column.addStretch(1)
        check.line_came.connect(self._take_line)
        check.ended.connect(self._end)
        self.measure.clicked.connect(self._measure)
        self.cancel.clicked.connect(self._stop)
        self._show_running(is_running=False)

    def leave(self) -> None:
        """Measure no more: who goes on does not wait."""
        if self._check.is_running:
            self._stop()

    def use(self, model: Path | None, language: str, policy: str, *, is_here: bool) -> None:
        """Say what is measured; what was found of another model goes away."""
        arguments = ["--to", language, "--policy", policy, "check", "--speed", "--json"]
        if model is not None:
            arguments = ["--model", str(model), *arguments]
        if arguments == self._arguments:
            return
        self._arguments = arguments
        self._stop()
        self.result.setText("")
        absent = self.tr("The model is not here yet: fetch it first, or start and wait for it.")
        self.advice.setText("" if is_here else absent)
        self.measure.setEnabled(is_here)

    @Slot()
    def _measure(self) -> None:
        self._report = MachineReport()
        self.result.setText(self.tr("Loading the model…"))
        self.advice.setText("")
        self._show_running(is_running=True)
        self._check.run(self._arguments, _LIMIT_S)

    @Slot()
    def _stop(self) -> None:
        self._check.cancel()
        self._show_running(is_running=False)
        if self._report.forecast is None:
            self.result.setText("")

    @Slot(object)
    def _take_line(self, line: Mapping[str, object]) -> None:
        self._report.feed(line)
        if line.get("stage") == "measuring":
            self.result.setText(self.tr("Measuring…"))

    @Slot(str)
    def _end(self, failure: str) -> None:
        self._show_running(is_running=False)
        failure = failure or self._report.failure
        found = self._report.forecast
        if found is None:
            nothing = self.tr("Nothing could be measured")
            self.result.setText(as_sentence(failure or nothing))
            return
        told = self.tr(
            "A caption will stand about {:.1f} s behind its word, {:.1f} s behind the slowest."
        )
        self.result.setText(told.format(found.median_s, found.p95_s))
        self.advice.setText(self._advice(found))

    def _advice(self, found: Forecast) -> str:
        load = self.tr("For each second of speech it computes {:.2f} s.").format(found.load)
        heard = self.tr("Recognising what is said comes on top of that.")
        if not found.keeps_up:
            verdict = self.tr(
                "That is too slow: captions would fall behind more and more. Choose a smaller "
                "model, or an adapter for this one."
            )
        elif found.load > _TIGHT:
            verdict = self.tr("That is tight: a smaller model would be safer.")
        else:
            verdict = self.tr("It keeps up.")
        return f"{load} {verdict} {heard}"

    def _show_running(self, *, is_running: bool) -> None:
        self.measure.setVisible(not is_running)
        self.cancel.setVisible(is_running)
        self.progress.setVisible(is_running)
