"""The page that scores a file with the current model, adapter and timing, in a child process."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import (
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.config.system.child_process import ChildCommand
from app.config.system.translations import failure_text, filled
from app.look.widgets.dialog_text import add_row, as_sentence, paragraph
from app.look.widgets.file_dialogs import ask_open

_LIMIT_S = 6 * 3600.0  # a large model on a long file


class EvaluationPage(QWidget):
    """Fields for two files or three, a button, and the scores in words."""

    def __init__(self, child: ChildCommand, arguments: Callable[[], list[str]]) -> None:
        """Make the page.

        Args:
            child: runs ``surtitle score``.
            arguments: returns the command-line options of the current model and settings.
        """
        super().__init__()
        self._child = child
        self._arguments = arguments
        self._failure = ""
        self._scores: list[str] = []
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addWidget(
            paragraph(
                self.tr(
                    "Translates a text word by word with the current model, adapter and timing, "
                    "while captions go on, and compares it line by line with a reference "
                    "translation. A recording of the text measures speech recognition, too."
                )
            )
        )
        form = QFormLayout()
        self.source = self._add_file(form, self.tr("&Text"))
        self.reference = self._add_file(form, self.tr("Its tra&nslation"))
        self.sound = self._add_file(form, self.tr("A recording (&optional)"))
        column.addLayout(form)
        self.start = QPushButton(self.tr("&Evaluate"))
        self.cancel = QPushButton(self.tr("&Stop"))
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName(self.tr("Evaluating"))
        row = QHBoxLayout()
        for widget in (self.start, self.cancel, self.progress):
            row.addWidget(widget)
        row.addStretch(1)
        column.addLayout(row)
        self.result = paragraph()
        column.addWidget(self.result)
        column.addStretch(1)
        child.line_came.connect(self._take_line)
        child.ended.connect(self._end)
        self.start.clicked.connect(self._start)
        self.cancel.clicked.connect(self._stop)
        self._offer()

    def choose(self, source: Path, reference: Path) -> None:
        """Fill in the two files."""
        self.source.setText(str(source))
        self.reference.setText(str(reference))

    def _add_file(self, form: QFormLayout, label: str) -> QLineEdit:
        line, button = QLineEdit(), QPushButton(self.tr("Choose…"))
        name = label.replace("&", "")
        line.setAccessibleName(name)
        button.setAccessibleName(f"{button.text()} {name}")
        row = QHBoxLayout()
        row.addWidget(line, 1)
        row.addWidget(button)
        add_row(form, label, row, line)
        line.textChanged.connect(self._offer)
        button.clicked.connect(partial(self._ask_file, line, name))
        return line

    @Slot()
    def _offer(self) -> None:
        is_running = self._child.is_running
        self.start.setVisible(not is_running)
        self.start.setEnabled(bool(self.source.text() and self.reference.text()))
        self.cancel.setVisible(is_running)
        self.progress.setVisible(is_running)

    @Slot()
    def _start(self) -> None:
        arguments = [*self._arguments(), "score", self.source.text(), self.reference.text()]
        if self.sound.text():
            arguments += ["--sound", self.sound.text()]
        self._failure, self._scores = "", []
        self.progress.setRange(0, 0)
        self.result.setText(self.tr("Loading the model…"))
        self._child.run([*arguments, "--json"], _LIMIT_S)
        self._offer()

    @Slot()
    def _stop(self) -> None:
        self._child.cancel()
        self.result.setText(self.tr("Stopped."))
        self._offer()

    @Slot(object)
    def _take_line(self, line: Mapping[str, object]) -> None:
        match line:
            case {"kind": "line", "n": int(n), "of": int(of)}:
                self.progress.setRange(0, of)
                self.progress.setValue(n)
                self.result.setText(filled(self.tr("Line {:,} of {:,}"), n, of))
            case {"kind": "stage", "stage": "recognising"}:
                self.result.setText(self.tr("Recognising the recording…"))
            case {"kind": "score", "bleu": float(bleu), "chrf": float(chrf), "laal": float(laal)}:
                text = self.tr("BLEU {:.1f}, chrF {:.1f}; captions are {:.1f} words behind (LAAL)")
                self._scores.append(as_sentence(filled(text, bleu, chrf, laal)))
                self._scores.append(self._more(line))
            case {"kind": "wer", "wer": float(rate)}:
                text = self.tr("{:.1f} % of the words were recognised wrongly (WER)")
                self._scores.append(as_sentence(filled(text, 100 * rate)))
            case {"kind": "failed"}:
                self._failure = failure_text(line)

    def _more(self, line: Mapping[str, object]) -> str:
        match line:
            case {
                "n_lines": int(n_lines),
                "n_empty": int(n_empty),
                "ms_per_word": float(ms),
                "signature": str(signature),
            }:
                text = self.tr(
                    "%Ln lines, {:,} without a caption; {:.0f} ms for a word; {}", "", n_lines
                )
                return filled(text, n_empty, ms, signature)
        return ""

    @Slot(str)
    def _end(self, failure: str) -> None:
        failure = failure or self._failure
        self.result.setText("\n".join(filter(None, [*self._scores, as_sentence(failure)])))
        self._offer()

    def _ask_file(self, line: QLineEdit, title: str) -> None:
        path = ask_open(line.window(), title)
        if path:
            line.setText(str(path))
