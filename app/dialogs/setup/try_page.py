"""The page of the setup wizard to try speech on: levels of the sound, and live captions."""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from app.captions.lanes import LANES
from app.captions.model import UtteranceView, dotted
from app.dialogs.setup.pages import WizardPage
from app.dialogs.setup.sound_check import SoundCheck
from app.look.icons import icon
from app.look.style_sheet import GAP, make_primary
from app.widgets.dialog_text import as_sentence, paragraph, quiet
from app.widgets.level_meter import LevelMeter
from engine.audio.devices import DeviceKind, Level

_BIG = 1.3  # letters of the caption, of those of the window
_LANE = LANES[DeviceKind.MICROPHONE]


class TryPage(WizardPage):
    """Meters of both sources, a switch of the microphone, and the newest caption of it.

    Signals:
        microphone_wanted(bool): switch the microphone of the main window on or off.
    """

    microphone_wanted = Signal(bool)

    def __init__(self, check: SoundCheck) -> None:
        super().__init__()
        self.title = self.tr("Try it")
        self._check = check
        self._before: set[int] = set()  # keys of what was said before
        self._speech: tuple[bool, bool] | None = None  # what ``show_speech`` showed
        self._views: tuple[UtteranceView, ...] = ()
        self.add_text(
            self.tr(
                "Switch on the microphone and say an English sentence. The bars move when "
                "Surtitle hears something."
            )
        )
        self.column.addLayout(self._lay_out_meters())
        self.switch = QPushButton(icon("mic", "on_accent"), "")
        self.switch.setCheckable(True)
        self.switch.setAutoDefault(False)
        make_primary(self.switch)
        self.retry = QPushButton(icon("refresh-cw"), self.tr("Try a&gain"))
        self.retry.setAutoDefault(False)
        self.state = quiet()
        row = QHBoxLayout()
        row.setSpacing(2 * GAP)
        row.addWidget(self.switch)
        row.addWidget(self.state, 1)
        row.addWidget(self.retry)
        self.column.addLayout(row)
        self.column.addWidget(self._make_card(), 1)
        check.level_came.connect(self._show_level)
        check.reported.connect(self._show_message)
        self.switch.toggled.connect(self._press)
        self.retry.clicked.connect(self._try_again)
        self.show_speech(is_here=False, is_fetching=False)

    def show_speech(self, *, is_here: bool, is_fetching: bool) -> None:
        """Allow listening if there is a speech model, else say what is missing."""
        state = (is_here, is_fetching)
        if state == self._speech:
            return
        self._speech = state
        self.switch.setEnabled(is_here)
        missing = self.tr("There is no speech model yet: the page before offers one.")
        if is_fetching:
            missing = self.tr("The speech model is still being downloaded.")
        self.show_state("" if is_here else missing)
        self._name_switch()

    def show_progress(self, text: str) -> None:
        """Show how far listening is, unless it was switched off or has failed meanwhile."""
        if self.switch.isChecked():
            self.show_state(text)

    def show_state(self, text: str) -> None:
        """Show a sentence beside the switch."""
        self.state.setText(text)
        self.retry.hide()

    def show_failure(self, message: str) -> None:
        """Show why nothing can be heard, and offer to try again."""
        if self.isVisible():
            self.show_on(on=False)
            self.state.setText(as_sentence(message))
            self.retry.show()

    def show_on(self, *, on: bool) -> None:
        """Show whether the microphone is on; nothing is emitted."""
        with QSignalBlocker(self.switch):
            self.switch.setChecked(on)
        self._name_switch()

    def show_views(self, views: tuple[UtteranceView, ...]) -> None:
        """Show the newest caption of what is said into the microphone on this page."""
        self._views = views
        mine = [view for view in views if view.lane == _LANE and view.key not in self._before]
        if mine:
            newest = mine[-1]
            said = " ".join(filter(None, (newest.source, dotted(newest.tail))))
            self.source.setText(said)
            self.caption.setText(newest.caption)

    def enter(self) -> None:
        """Measure levels while the page is visible."""
        for label in self.messages.values():
            label.setText(self.tr("Searching…"))
        self._check.start()
        self._clear()

    def leave(self) -> None:
        """Stop listening and measuring."""
        self._check.stop()
        for meter in self.meters.values():
            meter.show_nothing()
        self.switch.setChecked(False)

    def _clear(self) -> None:
        self._before = {view.key for view in self._views}
        self.source.setText("")
        self.caption.setText(self.tr("Your captions appear here."))

    def _lay_out_meters(self) -> QGridLayout:
        names = (self.tr("Microphone"), self.tr("Computer sound"))
        self.meters = {kind: LevelMeter() for kind in DeviceKind}
        self.messages = {kind: quiet() for kind in DeviceKind}
        grid = QGridLayout()
        grid.setVerticalSpacing(GAP)
        grid.setHorizontalSpacing(3 * GAP)
        grid.setColumnStretch(1, 1)
        for row, (kind, name) in enumerate(zip(DeviceKind, names, strict=True)):
            self.meters[kind].setAccessibleName(name)
            grid.addWidget(QLabel(name), 2 * row, 0)
            grid.addWidget(self.meters[kind], 2 * row, 1)
            grid.addWidget(self.messages[kind], 2 * row + 1, 1)
        return grid

    def _make_card(self) -> QFrame:
        """Make the frame with the newest words and their caption."""
        card = QFrame()
        card.setFrameShape(QFrame.Shape.StyledPanel)
        card.setBackgroundRole(QPalette.ColorRole.Base)
        card.setAutoFillBackground(True)
        self.source, self.caption = quiet(), paragraph()
        self.source.setAccessibleName(self.tr("What was said"))
        self.caption.setAccessibleName(self.tr("Caption"))
        font = self.caption.font()
        font.setPointSizeF(font.pointSizeF() * _BIG)
        self.caption.setFont(font)
        column = QVBoxLayout(card)
        column.setContentsMargins(3 * GAP, 2 * GAP, 3 * GAP, 2 * GAP)
        column.setSpacing(GAP)
        column.addWidget(self.source)
        column.addWidget(self.caption)
        column.addStretch(1)
        return card

    def _name_switch(self) -> None:
        text = self.tr("Switch &microphone on")
        if self.switch.isChecked():
            text = self.tr("Switch &microphone off")
        self.switch.setText(text)

    @Slot(bool)
    def _press(self, on: bool) -> None:  # noqa: FBT001  what the signal carries
        self._name_switch()
        if on:
            self._clear()
        self.microphone_wanted.emit(on)

    @Slot()
    def _try_again(self) -> None:
        self.show_state("")
        self.switch.setChecked(True)

    @Slot(object, object)
    def _show_level(self, kind: DeviceKind, level: Level) -> None:
        if self.isVisible():
            self.meters[kind].show_level(level)

    @Slot(object, str)
    def _show_message(self, kind: DeviceKind, message: str) -> None:
        self.messages[kind].setText(as_sentence(message))
