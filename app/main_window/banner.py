"""The banner under the controls: how loading goes, what failed, what to know."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app.widgets.dialog_text import as_sentence

_STEPS = 1000


class Banner(QFrame):
    """One sentence with a progress bar or a button, hidden while there is nothing to say.

    Loading and failures come before notices, and notices wait for one another.

    Signals:
        retry_clicked(): load again.
        offer_taken(str): the person wants what a notice with a button of its own offers; its name.
    """

    retry_clicked = Signal()
    offer_taken = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notices: list[tuple[str, str, str]] = []  # sentence, button's text, offer's name
        self._has_more_urgent = False
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.sentence = QLabel(wordWrap=True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName(self.tr("Loading the model"))
        self.progress.setFixedWidth(240)
        self.retry = QPushButton(self.tr("&Retry"))
        self.offer = QPushButton()
        self.dismiss = QPushButton(self.tr("&Dismiss"))
        row = QHBoxLayout(self)
        row.addWidget(self.sentence, 1)
        for widget in (self.progress, self.retry, self.offer, self.dismiss):
            row.addWidget(widget)
            widget.hide()
        self.retry.clicked.connect(self._retry)
        self.dismiss.clicked.connect(self._dismiss)
        self.offer.clicked.connect(self._take_offer)
        self.hide()

    def show_progress(self, stage: str, fraction: float | None) -> None:
        """Show how far loading is; None stands for a fraction that nobody knows."""
        self.progress.setRange(0, 0 if fraction is None else _STEPS)
        if fraction is not None:
            self.progress.setValue(round(fraction * _STEPS))
        self._has_more_urgent = True
        self._show(self.tr("{}. You can type already.").format(stage), self.progress)

    def show_failure(self, message: str) -> None:
        """Show what failed, with the button to try again."""
        self._has_more_urgent = True
        self._show(as_sentence(message), self.retry)

    def show_loaded(self) -> None:
        """Take progress and failure away."""
        self._has_more_urgent = False
        self._show_next_notice()

    @Slot(str)
    def show_notice(self, message: str) -> None:
        """Show something the person should know, as soon as nothing more urgent is shown."""
        self.show_offer(message, "", "")

    def show_offer(self, message: str, button: str, name: str) -> None:
        """Show a notice with something that can be done about it at once, unless button is empty.

        A name that is not empty stands once among the notices: the newest takes the place.
        """
        notice = (as_sentence(message), button, name)
        place = self._place(name)
        if place is None:
            self._notices.append(notice)
        else:
            self._notices[place] = notice
        self._show_next_notice()

    def withdraw(self, name: str) -> None:
        """Take a notice away that is true no more, if it is still among them."""
        place = self._place(name)
        if place is not None:
            del self._notices[place]
            self._show_next_notice()

    def _place(self, name: str) -> int | None:
        names = [one for _, _, one in self._notices]
        return names.index(name) if name and name in names else None

    def _show_next_notice(self) -> None:
        if self._has_more_urgent:
            return
        if self._notices:
            sentence, button, _ = self._notices[0]
            self._show(sentence, self.dismiss)
            self.offer.setText(button)
            self.offer.setVisible(bool(button))
        else:
            self.hide()

    def _show(self, sentence: str, shown: QWidget) -> None:
        is_news = sentence != self.sentence.text() or not self.isVisible()
        self.sentence.setText(sentence)
        self.setAccessibleName(sentence)
        for widget in (self.progress, self.retry, self.offer, self.dismiss):
            widget.setVisible(widget is shown)
        self.show()
        if is_news:  # said by screen readers, though the keyboard is elsewhere
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, sentence))

    @Slot()
    def _retry(self) -> None:
        self.retry_clicked.emit()

    @Slot()
    def _take_offer(self) -> None:
        _, _, name = self._notices[0]
        self._dismiss()
        self.offer_taken.emit(name)

    @Slot()
    def _dismiss(self) -> None:
        del self._notices[:1]
        self._show_next_notice()
