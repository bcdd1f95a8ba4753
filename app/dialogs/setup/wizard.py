"""The setup wizard of the first start; the Help menu opens it again.

The main window behind it works already.
"""

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QWidget

from app.config.preferences import Preferences
from app.dialogs.setup.pages import (
    FILE,
    TYPING,
    VOICE,
    WelcomePage,
    WizardPage,
    heading_of,
    lay_out_page,
)
from app.dialogs.setup.speech_page import SpeechPage
from app.dialogs.setup.try_page import TryPage
from app.look.style_sheet import make_primary
from app.look.widgets.dialog_text import bring_up, push_button
from app.look.widgets.fit_to_screen import frame_of
from app.session.listening_service import ListeningService
from engine.audio.devices import DeviceKind

_WIDTH, _HEIGHT = 720, 528  # of its highest page: growing moves the buttons, and at once the title


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardServices:
    """How the wizard and the windows of the models examine the computer; tests replace it.

    Attributes:
        program: the command line that starts this program; None for the running one.
        bundled: target languages of the bundled models; empty without one.
    """

    program: tuple[str, ...] | None = None
    bundled: tuple[str, ...] = ("de",)


class SetupWizard(QDialog):
    """Three pages: what is captioned, the speech model, and a try, as far as they are needed.

    Signals:
        language_wanted(str): translate into this language, as soon as it is chosen.
        recognizer_wanted(str): use this speech model, which is on this computer.
        source_wanted(DeviceKind, bool): switch a source on or off.
        left(): the wizard was closed.
        ended(str): the last page was ended; what is to be captioned.
    """

    language_wanted = Signal(str)
    recognizer_wanted = Signal(str)
    source_wanted = Signal(object, bool)
    left = Signal()
    ended = Signal(str)

    def __init__(
        self, service: ListeningService, parts: WizardServices, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Set up Surtitle"))
        self.welcome = WelcomePage(parts.bundled)
        self.speech = SpeechPage(service)
        self.trial = TryPage()
        self.pages: tuple[WizardPage, ...] = (self.welcome, self.speech, self.trial)
        self.stack = QStackedWidget()
        for page in self.pages:
            self.stack.addWidget(page)
        self.heading, self.step = heading_of(""), QLabel()
        self._least = _HEIGHT  # pixels, until it had to grow
        self.back = push_button(self.tr("&Back"))
        self.next = push_button("")
        self.skip = push_button(self.tr("S&kip set-up"))
        self._lay_out()
        self.back.clicked.connect(self._go_back)
        self.next.clicked.connect(self._go_on)
        self.skip.clicked.connect(self.close)
        self.welcome.chosen.connect(self.language_wanted)
        self.welcome.use_chosen.connect(self._use)
        laid_out = Qt.ConnectionType.QueuedConnection
        self.speech.selected.connect(self._bring_into_sight, laid_out)
        self.trial.changed.connect(self._show_speech)
        self.speech.changed.connect(self._show_speech)
        self.speech.chosen.connect(self.recognizer_wanted)
        self.trial.source_wanted.connect(self.source_wanted)
        self.trial.model_wanted.connect(self._show_models)

    def open_guide(self, preferences: Preferences) -> None:
        self._open(preferences, self.welcome)

    def open_speech(self, preferences: Preferences) -> None:
        """Show every speech model."""
        self._open(preferences, self.speech, shows_all=True)

    def end(self) -> None:
        self.close()

    def reject(self) -> None:
        """Release the devices; a download goes on, and a model that was selected is offered on."""
        super().reject()
        if self.speech.wish:
            self.recognizer_wanted.emit(self.speech.wish)
        self.pages[self.stack.currentIndex()].leave()
        self.left.emit()

    def _open(self, preferences: Preferences, page: WizardPage, *, shows_all: bool = False) -> None:
        self.welcome.show_preferences(preferences)
        self.speech.show_in_use(preferences.listening.recognizer, shows_all=shows_all)
        self._show_page(self.pages.index(page))
        self.speech.enter()
        bring_up(self)
        self._grow()
        self._main_button().setFocus()

    def _lay_out(self) -> None:
        top, row = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.heading, 1)
        top.addWidget(self.step)
        row.addWidget(self.skip)
        row.addStretch(1)
        row.addWidget(self.back)
        row.addWidget(self.next)
        self.area = lay_out_page(self, top, self.stack, row, below=self.speech.row)
        self.resize(_WIDTH, _HEIGHT)

    def _show_page(self, number: int) -> None:
        self.pages[self.stack.currentIndex()].leave()
        self.stack.setCurrentIndex(number)
        page = self.pages[number]
        self.heading.setText(page.title)
        self.back.setEnabled(number > 0)
        self.speech.row.setVisible(page is self.speech)
        page.enter()
        self._show_speech()
        self._main_button().setFocus()
        self.area.verticalScrollBar().setValue(0)  # the pages share it
        if page is self.speech:
            self.speech.selected.emit()

    @property
    def _n_pages(self) -> int:
        """How many pages lead to what is to be captioned: to type needs no speech model."""
        needed = {TYPING: 1, FILE: 2}.get(self.welcome.use, len(self.pages))
        return max(needed, self.stack.currentIndex() + 1)

    @Slot()
    def _use(self) -> None:
        is_voice = self.welcome.use == VOICE
        self.trial.prefer(DeviceKind.MICROPHONE if is_voice else DeviceKind.SYSTEM)
        self._show_speech()

    @Slot()
    def _bring_into_sight(self) -> None:
        if self.stack.currentWidget() is self.speech:
            self.speech.cards.bring_into_sight(self.area)

    @Slot()
    def _show_speech(self) -> None:
        is_here, is_fetching = self.speech.is_here, self.speech.is_fetching
        self.trial.show_speech(is_here=is_here, is_fetching=is_fetching)
        page, number = self.stack.currentWidget(), self.stack.currentIndex()
        is_last = number == self._n_pages - 1
        self.step.setText(self.tr("{} of {}").format(number + 1, self._n_pages))
        self.skip.setVisible(not is_last)
        text = self.tr("&Next")
        if page is self.speech and not is_here and not is_fetching:
            text = self.tr("Skip for &now")
        elif is_last:
            ends = {TYPING: self.tr("&Start typing"), FILE: self.tr("Choose a fi&le…")}
            text = ends.get(self.welcome.use) or self.trial.start_text
        self.next.setText(text)
        is_main = self._main_button() is self.next
        self.next.setDefault(is_main)
        make_primary(self.next, primary=is_main)
        if self.isVisible():
            self._grow()

    def _grow(self) -> None:
        """Grow where a page would scroll, as far as the screen goes, unless it was made smaller."""
        layout = self.layout()
        if layout is not None:
            layout.activate()
        seen = self.area.viewport().size()
        lacks = self.stack.heightForWidth(seen.width()) - seen.height()
        lowest = self.screen().availableGeometry().bottom() - frame_of(self).width()
        has = max(0, lowest - self.geometry().bottom())
        if self.height() >= self._least and lacks > 0 and has > 0:
            self._least = self.height() + min(lacks, has)
            self.resize(self.width(), self._least)

    def _main_button(self) -> QPushButton:
        page, speech = self.stack.currentWidget(), self.speech
        if page is speech and not speech.is_here and not speech.is_fetching:
            return speech.row.download
        tries = page is self.trial and speech.is_here and not self.trial.on
        return self.trial.switch if tries else self.next

    @Slot()
    def _show_models(self) -> None:
        self._show_page(self.pages.index(self.speech))

    @Slot()
    def _go_back(self) -> None:
        self._show_page(max(0, self.stack.currentIndex() - 1))

    @Slot()
    def _go_on(self) -> None:
        number = self.stack.currentIndex()
        if number < self._n_pages - 1:
            self._show_page(number + 1)
            return
        self.trial.keep()
        self.close()
        self.ended.emit(self.welcome.use)
