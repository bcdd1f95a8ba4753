"""The banner beside the transcript: loading progress, failures, notices; and that of a download."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCursor, QHideEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QWidget,
)

from app.config.translations import filled
from app.look.widgets.desktop import announce
from app.look.widgets.dialog_text import as_sentence, paragraph

_STEPS = 1000
_MEGABYTE = 1_000_000
_SILENT_MS = 8000  # without a byte; then that is said
_PASSING_MS = 20_000  # enough to read a sentence and to reach its button
_MOST_LINES = 2  # beside the buttons; a longer sentence stands above them


Offer = tuple[str, Callable[[], object]]
"""The text of a button, and what a click on it does."""


@dataclass(frozen=True, slots=True, eq=False)
class _Notice:
    """A sentence with at most two offers; one that ``answers`` tells of a click."""

    sentence: str
    topic: str = ""
    offers: tuple[Offer, ...] = ()
    passes: bool = False
    answers: bool = False


class Banner(QFrame):
    """One sentence with a progress bar or a button; hidden if there is nothing to show.

    Answers to a click come first, since they may offer to undo it; then loading and failures, which
    come back after them; then notices one after the other, warnings first, those that pass at last.
    Answers and those go by themselves after 20 seconds, unless the mouse or the focus is on them.
    The buttons stand below a sentence that would be narrow and high beside them.

    Signals:
        other_clicked(): choose another model instead of what failed.
        answered(): one of its buttons was clicked.

    Attributes:
        retry: loads again what failed.
        back: does without it.
    """

    other_clicked = Signal()
    answered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._notices: list[_Notice] = []
        self._shown: _Notice | None = None  # none while something urgent is shown
        self._passing = QTimer(self, singleShot=True)
        self._passing.timeout.connect(self._pass)
        self._urgent: Callable[[], None] | None = None  # shows progress or failure
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.sentence = paragraph()
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName(self.tr("Loading the model"))
        self.progress.setFixedWidth(240)
        self.retry = QPushButton(self.tr("Try a&gain"))
        self.back = QPushButton()
        self.offer = QPushButton()
        self.other = QPushButton()
        self.dismiss = QPushButton(self.tr("&Dismiss"))
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.addWidget(self.sentence, 1)
        buttons = QHBoxLayout()
        self._row.addLayout(buttons)
        self._row.setAlignment(buttons, Qt.AlignmentFlag.AlignRight)
        self._parts = (
            *(self.progress, self.retry, self.back, self.offer, self.other, self.dismiss),
        )
        for widget in self._parts:
            buttons.addWidget(widget)
            widget.hide()
        self.dismiss.clicked.connect(self._dismiss)
        self.offer.clicked.connect(lambda: self._take_offer(0))
        self.other.clicked.connect(self._take_other)
        for button in (self.retry, self.back, self.offer, self.other, self.dismiss):
            button.clicked.connect(self.answered)
        self.hide()

    def show_progress(self, stage: str, fraction: float | None) -> None:
        """Show the progress of loading; None is an unknown fraction."""
        self.progress.setRange(0, 0 if fraction is None else _STEPS)
        if fraction is not None:
            self.progress.setValue(round(fraction * _STEPS))
        text = self.tr("{}… You can type already.").format(stage)
        self._urgent = partial(self._show, text, self.progress)
        self._show_next()

    def show_failure(self, message: str, way_back: str = "", *, is_model: bool = False) -> None:
        """Show a failure, with the button to retry, and another one if there is a way back.

        If a model of this computer failed, another one can be chosen.
        """
        other = self.tr("A&nother model or folder…") if is_model else ""
        self._urgent = partial(self._show_failed, as_sentence(message), way_back, other)
        self._show_next()

    def _show_failed(self, sentence: str, way_back: str, other: str) -> None:
        self._show(sentence, self.retry)
        for button, text in ((self.back, way_back), (self.other, other)):
            button.setText(text)
            button.setVisible(bool(text))
        self._lay_out()

    def show_loaded(self) -> None:
        """Hide progress and failure."""
        self._urgent = None
        self._show_next()

    @Slot(str)
    def show_answer(self, message: str, topic: str = "", *offers: Offer) -> None:
        """Show the answer to a click before all else; an offer may undo it. It passes."""
        self._drop(topic)
        notice = _Notice(as_sentence(message), topic, offers, passes=True, answers=True)
        self._notices.insert(0, notice)
        self._show_next()

    @Slot(str)
    def show_notice(self, message: str) -> None:
        """Show a notice as soon as nothing more urgent is shown."""
        self.show_offer(message)

    @Slot(str)
    def show_warning(self, message: str) -> None:
        """Show a notice of what may be lost: before those that are shown, which come back."""
        self._notices.insert(0, _Notice(as_sentence(message)))
        self._show_next()

    def show_offer(
        self, message: str, topic: str = "", *offers: Offer, passes: bool = False
    ) -> None:
        """Show a notice with a button for each of at most two offers.

        A notice replaces the one of the same topic, unless that is empty. One that ``passes`` needs
        no answer.
        """
        notice = _Notice(as_sentence(message), topic, offers, passes)
        index = self._index(topic)
        if index is not None and not passes:
            self._notices[index] = notice
        else:
            self._drop(topic)
            passing = (number for number, one in enumerate(self._notices) if one.passes)
            last = len(self._notices)
            self._notices.insert(last if passes else next(passing, last), notice)
        self._show_next()

    def withdraw(self, topic: str) -> None:
        if self._drop(topic):
            self._show_next()

    def _drop(self, topic: str) -> bool:
        index = self._index(topic)
        if index is not None:
            del self._notices[index]
        return index is not None

    def _index(self, topic: str) -> int | None:
        topics = [notice.topic for notice in self._notices]
        return topics.index(topic) if topic and topic in topics else None

    def _show_next(self) -> None:
        notice = next(iter(self._notices), None)
        if self._urgent is not None and not (notice and notice.answers):
            notice = None
            self._urgent()
        elif notice is None:
            self.hide()
        else:
            self._show(notice.sentence, self.dismiss)
            for button, (text, _) in zip((self.offer, self.other), notice.offers, strict=False):
                button.setText(text)
                button.show()
            self._lay_out()
        if notice is not self._shown:
            self._shown = notice
            self._passing.stop()
            if notice is not None and notice.passes:
                self._passing.start(_PASSING_MS)

    def _show(self, sentence: str, shown: QWidget) -> None:
        is_news = sentence != self.sentence.text() or not self.isVisible()
        self.sentence.setText(sentence)
        self.setAccessibleName(sentence)
        for widget in self._parts:
            widget.setVisible(widget is shown)
        self._lay_out()
        self.show()
        if is_news:
            announce(self, sentence)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the buttons beside the sentence, or below it."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        shown = [one.sizeHint().width() for one in self._parts if not one.isHidden()]
        area = self._row.contentsMargins()
        beside = self.contentsRect().width() - area.left() - area.right()
        beside -= sum(shown) + len(shown) * self._row.spacing()
        lines = self.sentence.fontMetrics().lineSpacing() * (_MOST_LINES + 0.5)
        is_narrow = beside <= 0 or self.sentence.heightForWidth(beside) > lines
        self._row.setStretch(0, 0 if is_narrow else 1)  # above buttons it would take the rows' room
        ways = QBoxLayout.Direction
        self._row.setDirection(ways.TopToBottom if is_narrow else ways.LeftToRight)

    def _take_offer(self, number: int) -> None:
        offers = () if self._shown is None else self._shown.offers
        self._dismiss()
        for _, act in offers[number : number + 1]:
            act()

    @Slot()
    def _take_other(self) -> None:
        if self._shown is None:
            self.other_clicked.emit()
        else:
            self._take_offer(1)

    @Slot()
    def _dismiss(self) -> None:
        if self._shown is not None:
            self._notices.remove(self._shown)
        self._show_next()

    @Slot()
    def _pass(self) -> None:
        # Qt may not see that the mouse has left, if a menu is opened by its key
        has_mouse = self.rect().contains(self.mapFromGlobal(QCursor.pos()))
        buttons = (self.offer, self.other, self.dismiss)
        if has_mouse or any(button.hasFocus() for button in buttons):
            self._passing.start(_PASSING_MS)
        else:
            self._dismiss()


class DownloadBar(QFrame):
    """A sentence, a progress bar and a button to stop the download."""

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.sentence = QLabel(wordWrap=True)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(240)
        self.cancel = QPushButton(self.tr("Ca&ncel"))
        self.cancel.setToolTip(self.tr("The download will resume from here next time"))
        row = QHBoxLayout(self)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.bar)
        row.addWidget(self.cancel)
        self.silence = QTimer(self, singleShot=True, interval=_SILENT_MS)
        self.silence.timeout.connect(self._tell_silence)
        self.hide()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.silence.stop()

    def show_stage(self, text: str, fraction: float | None) -> None:
        """Show a sentence and how much is done; None is unknown."""
        self.bar.setRange(0, 0 if fraction is None else _STEPS)
        if fraction is not None:
            self.bar.setValue(round(_STEPS * fraction))
        self._show(text)

    def show_progress(self, name: str, done: int, total: int) -> None:
        """Show the downloaded bytes; a total of 0 is unknown."""
        text = self.tr("Downloading {} from huggingface.co").format(name)
        self.bar.setRange(0, _STEPS if total else 0)
        if total:
            self.bar.setValue(_STEPS * done // total)
            megabytes = self.tr("{:,} of {:,} MB")
            text += ": " + filled(megabytes, done // _MEGABYTE, -(-total // _MEGABYTE))
        self._show(text)
        self.silence.start()

    @Slot()
    def _tell_silence(self) -> None:
        """Show that nothing comes, before the connection is given up."""
        waiting = self.tr("nothing arrives at the moment")
        self._show(f"{self.sentence.text()} – {waiting}")

    def _show(self, text: str) -> None:
        self.sentence.setText(text)
        self.bar.setAccessibleName(text)
        self.show()
