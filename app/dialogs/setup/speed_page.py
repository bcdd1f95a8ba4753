"""The page that measures how far captions will lag with the current translation model."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton

from app.captions.models import MachineReport
from app.config.system.child_process import ChildCommand
from app.config.system.translations import failure_text, filled
from app.dialogs.setup.pages import WizardPage
from app.look.widgets.dialog_text import as_sentence
from engine.session.lag_forecast import Forecast

_LIMIT_S = 180.0  # for loading and measuring; measuring takes 20 s at most
_TIGHT = 0.8


class SpeedPage(WizardPage):
    """A button, and the result in words."""

    def __init__(self, check: ChildCommand) -> None:
        super().__init__()
        self.title = self.tr("Speed of the translation")
        self._check = check
        self._report = MachineReport()
        self._arguments = list[str]()
        self.add_text(
            self.tr(
                "Surtitle can try the model on a few sentences, for 20 seconds at most, and "
                "predict how far captions will lag behind the speaker."
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
        """Stop measuring."""
        if self._check.is_running:
            self._stop()

    def use(self, arguments: Sequence[str]) -> None:
        """Choose what is measured; the result of something else is cleared.

        Args:
            arguments: model and settings as command-line options.
        """
        arguments = [*arguments, "check", "--speed", "--json"]
        if arguments == self._arguments:
            return
        self._arguments = arguments
        self._stop()
        self.result.setText("")
        self.advice.setText("")

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
        if not failure and self._report.failure is not None:
            failure = failure_text(self._report.failure)
        forecast = self._report.forecast
        self.measure.setText(self.tr("&Measure") if forecast else self.tr("&Try again"))
        if forecast is None:
            self.result.setText(as_sentence(failure or self.tr("Nothing could be measured")))
            return
        text = self.tr("Captions will lag about {:.1f} s behind their words, {:.1f} s at worst.")
        self.result.setText(filled(text, forecast.median_s, forecast.p95_s))
        self.advice.setText(self._advice(forecast))

    def _advice(self, forecast: Forecast) -> str:
        load = filled(self.tr("Each second of speech takes {:.2f} s to translate."), forecast.load)
        heard = self.tr("Speech recognition comes on top of that.")
        if not forecast.keeps_up:
            verdict = self.tr(
                "That is too slow: captions would fall further and further behind. Choose a "
                "smaller translation model."
            )
        elif forecast.load > _TIGHT:
            verdict = self.tr("That is tight: a smaller model would be safer.")
        else:
            verdict = self.tr("It keeps up.")
        return f"{load} {verdict} {heard}"

    def _show_running(self, *, is_running: bool) -> None:
        self.measure.setVisible(not is_running)
        self.cancel.setVisible(is_running)
        self.progress.setVisible(is_running)
