"""The setup wizard of the first start; the Help menu opens it again.

The main window behind it works already: a button on every page starts with the bundled model.
"""

from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.config.preferences import Preferences
from app.dialogs.setup.model_page import ModelPage
from app.dialogs.setup.model_service import ModelService
from app.dialogs.setup.pages import SoundPage, WelcomePage, WizardPage
from app.dialogs.setup.sound_check import MakeSources, SoundCheck, make_sources
from app.dialogs.setup.speed_page import SpeedPage
from app.look.style_sheet import make_primary
from app.system.child_process import ChildCommand
from app.widgets.dialog_text import bring_up
from app.widgets.language_names import language_name

_WIDTH, _HEIGHT = 860, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class WizardServices:
    """How the wizard examines the computer; tests replace it.

    Attributes:
        make_sources: returns the sound sources; called on a thread.
        program: the command line that starts this program; None for the running one.
        bundled: target languages of the bundled model; empty without one.
    """

    make_sources: MakeSources = field(default=make_sources)
    program: tuple[str, ...] | None = None
    bundled: tuple[str, ...] = ("de",)


class SetupWizard(QDialog):
    """Pages one after the other.

    Signals:
        start_wanted(object, str): start with this model (a Path as the preferences store it, or
            None) and this target language.
        left(): the wizard was closed.
    """

    start_wanted = Signal(object, str)
    left = Signal()

    def __init__(
        self, library: Path, parts: WizardServices | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        parts = parts or WizardServices()
        self.setWindowTitle(self.tr("Set up Surtitle"))
        self._policy = Preferences().translation.policy
        self.sound = SoundCheck(parts.make_sources, self)
        self.desk = ModelService(library, parent=self)
        self._machine_check = ChildCommand(self, program=parts.program)
        self._speed_check = ChildCommand(self, program=parts.program)
        self._bundled = parts.bundled
        self.welcome = WelcomePage(parts.bundled)
        self.sound_page = SoundPage(self.sound)
        self.model_page = ModelPage(self.desk, self._machine_check)
        self.speed_page = SpeedPage(self._speed_check)
        pages = self.welcome, self.sound_page, self.model_page, self.speed_page
        self.pages: tuple[WizardPage, ...] = pages
        self.stack = QStackedWidget()
        for page in self.pages:
            self.stack.addWidget(page)
        self.heading, self.step = QLabel(), QLabel()
        self.start_now = self._button("")
        self.start_now.setVisible(bool(parts.bundled))
        self.back = self._button(self.tr("&Back"))
        self.next = self._button(self.tr("&Next"))
        self.next.setDefault(True)
        make_primary(self.next)
        self._lay_out()
        self.start_now.clicked.connect(self._start_bundled)
        self.back.clicked.connect(self._go_back)
        self.next.clicked.connect(self._go_on)
        self.model_page.chosen.connect(self._use_model)
        self.welcome.target.currentIndexChanged.connect(self._name_start)
        self._name_start()

    def open_guide(self, preferences: Preferences) -> None:
        """Show the first page with the current choices."""
        self._policy = preferences.translation.policy
        self.welcome.show_preferences(preferences)
        self.model_page.choose(preferences.model)
        self._show_page(0)
        self.model_page.look()
        bring_up(self)
        self.next.setFocus()

    def end(self) -> None:
        """Release devices, downloads and checks; the program ends."""
        self.close()
        self._machine_check.cancel()
        self._speed_check.cancel()
        self.sound.close()
        self.desk.close()

    def reject(self) -> None:
        """Release the devices; a download goes on."""
        super().reject()
        self.pages[self.stack.currentIndex()].leave()
        self.left.emit()

    def _lay_out(self) -> None:
        font = self.heading.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        font.setBold(True)
        self.heading.setFont(font)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(self.stack)  # scrolls with large letters
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        top, row = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.heading, 1)
        top.addWidget(self.step)
        row.addWidget(self.start_now)
        row.addStretch(1)
        row.addWidget(self.back)
        row.addWidget(self.next)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 18, 18, 18)
        column.setSpacing(14)
        column.addLayout(top)
        column.addWidget(area, 1)
        column.addLayout(row)
        self.resize(_WIDTH, _HEIGHT)

    def _button(self, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setAutoDefault(False)
        return button

    def _show_page(self, number: int) -> None:
        self.pages[self.stack.currentIndex()].leave()
        self.stack.setCurrentIndex(number)
        page = self.pages[number]
        self.heading.setText(page.title)
        self.step.setText(self.tr("{} of {}").format(number + 1, len(self.pages)))
        self.back.setEnabled(number > 0)
        is_last = number == len(self.pages) - 1
        self.next.setText(self.tr("S&tart") if is_last else self.tr("&Next"))
        self.model_page.language = self.welcome.language
        self._use_model()
        page.enter()

    @Slot()
    def _use_model(self) -> None:
        """Let the last page measure the chosen model."""
        model, offer = self.model_page.model, self.model_page.offer
        is_here = offer is None or offer.is_here
        self.speed_page.use(model, self.welcome.language, self._policy, is_here=is_here)

    @Slot()
    def _go_back(self) -> None:
        self._show_page(max(0, self.stack.currentIndex() - 1))

    @Slot()
    def _go_on(self) -> None:
        if self.stack.currentIndex() < len(self.pages) - 1:
            self._show_page(self.stack.currentIndex() + 1)
        else:
            self._start(self.model_page.model)

    @Slot()
    def _start_bundled(self) -> None:
        self._start(None)

    def _start(self, model: Path | None) -> None:
        language = self.welcome.language if model is not None else self._language_now()
        self.start_wanted.emit(model, language)
        self.close()

    def _language_now(self) -> str:
        """Return the language the bundled model starts with: the chosen one if it knows that."""
        chosen = self.welcome.language
        return chosen if chosen in self._bundled or not self._bundled else self._bundled[0]

    @Slot()
    def _name_start(self) -> None:
        """Name the language on the button if it is not the chosen one."""
        text = self.tr("&Start now with the bundled model")
        if self._language_now() != self.welcome.language:
            text = self.tr("&Start now with the bundled model, in {}")
            text = text.format(language_name(self._language_now()))
        self.start_now.setText(text)
