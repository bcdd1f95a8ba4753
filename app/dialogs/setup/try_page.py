"""The page of the setup wizard to try speech on: a switch and a meter of each source, captions."""

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout

from app.captions.model import UtteranceView, dotted
from app.config.preferences import LANES
from app.dialogs.setup.pages import WizardPage
from app.look.icons import icon
from app.look.style_sheet import GAP, make_primary
from app.look.widgets.dialog_text import as_sentence, paragraph, push_button, quiet
from app.look.widgets.level_meter import LevelMeter
from engine.audio.devices import DeviceKind, Level

_BIG = 1.3  # letters of the caption, of those of the window
_ICONS = {DeviceKind.MICROPHONE: "mic", DeviceKind.SYSTEM: "volume-2"}


class TryPage(WizardPage):
    """Switches the sources of the main window; shows their levels and the newest caption.

    No device is opened before its switch is clicked.

    Signals:
        source_wanted(DeviceKind, bool): switch a source of the main window on or off.
        model_wanted(): choose a speech model, without which nothing can be tried.
        changed(): a source was switched on or off.
    """

    source_wanted = Signal(object, bool)
    model_wanted = Signal()
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.title = self.tr("Try it")
        self._before: set[int] = set()  # keys of what was said before
        self._speech: tuple[bool, bool] | None = None  # what ``show_speech`` showed
        self._views: tuple[UtteranceView, ...] = ()
        self._switched_on: list[DeviceKind] = []  # by a click here, the newest last
        self._kind = DeviceKind.SYSTEM  # that is wanted most of all
        self.hint = paragraph()
        self.choose = push_button(self.tr("C&hoose a speech model…"))
        self.column.addWidget(self.hint)
        self.column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addLayout(self._lay_out_sources())
        self.retry = push_button(self.tr("Try a&gain"), "refresh-cw")
        self.state = quiet()
        row = QHBoxLayout()
        row.setSpacing(2 * GAP)
        row.addWidget(self.state, 1)
        row.addWidget(self.retry)
        self.column.addLayout(row)
        self.column.addWidget(self._make_card(), 1)
        self.retry.clicked.connect(self._try_again)
        self.choose.clicked.connect(self.model_wanted)
        self.prefer(DeviceKind.SYSTEM)
        self.show_speech(is_here=False, is_fetching=False)

    @property
    def switch(self) -> QPushButton:
        return self.switches[self._kind]

    @property
    def on(self) -> list[DeviceKind]:
        return [kind for kind, switch in self.switches.items() if switch.isChecked()]

    @property
    def start_text(self) -> str:
        """Word the button that ends here: captions of what is on go on."""
        texts = {
            (): self.tr("C&lose"),
            (DeviceKind.MICROPHONE,): self.tr("&Start captions of the microphone"),
            (DeviceKind.SYSTEM,): self.tr("&Start captions of computer sound"),
        }
        return texts.get(tuple(self.on), self.tr("&Start captions of both"))

    def keep(self) -> None:
        """Let what was switched on here stay on."""
        self._switched_on.clear()

    def prefer(self, kind: DeviceKind) -> None:
        self._kind = kind
        for one, switch in self.switches.items():
            is_main = one is kind
            make_primary(switch, primary=is_main)
            switch.setIcon(icon(_ICONS[one], "on_accent" if is_main else "", before_text=True))
        speech, self._speech = self._speech, None
        if speech is not None:
            self.show_speech(is_here=speech[0], is_fetching=speech[1])

    def show_speech(self, *, is_here: bool, is_fetching: bool) -> None:
        """Ask to listen if there is a speech model, else say what is missing and lead there."""
        state = (is_here, is_fetching)
        if state == self._speech:
            return
        self._speech = state
        for switch in self.switches.values():
            switch.setEnabled(is_here)
        hint = self.tr(
            "Switch computer sound on, and play something in English or begin the call. Nothing is "
            "recorded before that; the bars move when sound arrives."
        )
        if self._kind is DeviceKind.MICROPHONE:
            hint = self.tr(
                "Switch the microphone on and say an English sentence. Nothing is recorded before "
                "that; the bars move when sound arrives."
            )
        if is_fetching:
            hint = self.tr(
                "The speech model is still being downloaded. You can try speaking here as soon as "
                "it has arrived."
            )
        elif not is_here:
            hint = self.tr(
                "To try it, Surtitle needs a speech model, and there is none on this computer yet."
            )
        self.hint.setText(hint)
        self.show_state("")

    def show_progress(self, text: str) -> None:
        """Show how far listening is, unless it was switched off or has failed meanwhile."""
        if any(switch.isChecked() for switch in self.switches.values()):
            self.show_state(text)

    def show_state(self, text: str) -> None:
        self.state.setText(text)
        self.state.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.retry.hide()
        self.choose.setHidden(self._speech is None or any(self._speech))

    def show_failure(self, message: str, *, is_model: bool = False) -> None:
        """Show why nothing can be heard, and offer to try again, or another speech model."""
        if self.isVisible():
            self.state.setText(as_sentence(message))
            self.state.setForegroundRole(QPalette.ColorRole.WindowText)
            self.retry.show()
            self.choose.setVisible(is_model)

    def show_on(self, kind: DeviceKind, *, on: bool) -> None:
        """Show whether a source is on; nothing is emitted."""
        with QSignalBlocker(self.switches[kind]):
            self.switches[kind].setChecked(on)
        self._name_switch(kind)
        if not on:
            self.meters[kind].show_nothing()
            self.messages[kind].setText(self.tr("Off."))

    def show_message(self, lane: str, message: str) -> None:
        for kind, of_kind in LANES.items():
            if of_kind == lane and self.switches[kind].isChecked():
                self.messages[kind].setText(as_sentence(message))

    def show_levels(self, levels: Mapping[str, Level]) -> None:
        if self.isVisible():
            for kind, lane in LANES.items():
                if lane in levels and self.switches[kind].isChecked():
                    self.meters[kind].show_level(levels[lane])

    def show_views(self, views: tuple[UtteranceView, ...]) -> None:
        """Show the newest caption of what was said since this page was entered."""
        self._views = views
        heard = [
            view for view in views if view.lane in LANES.values() and view.key not in self._before
        ]
        if heard:
            newest = heard[-1]
            said = " ".join(filter(None, (newest.source, dotted(newest.tail))))
            self.source.setText(said)
            self.caption.setText(newest.caption)

    def enter(self) -> None:
        self._clear()

    def leave(self) -> None:
        for kind in self._switched_on.copy():
            self.switches[kind].setChecked(False)
        for meter in self.meters.values():
            meter.show_nothing()

    def _clear(self) -> None:
        self._before = {view.key for view in self._views}
        self.source.setText("")
        self.caption.setText(self.tr("Your captions appear here."))

    def _lay_out_sources(self) -> QGridLayout:
        names = (self.tr("Microphone"), self.tr("Computer sound"))
        self.switches = {kind: self._make_switch(kind) for kind in DeviceKind}
        self.meters = {kind: LevelMeter() for kind in DeviceKind}
        self.messages = {kind: quiet(self.tr("Off.")) for kind in DeviceKind}
        grid = QGridLayout()
        grid.setVerticalSpacing(3 * GAP)
        grid.setHorizontalSpacing(3 * GAP)
        grid.setColumnStretch(1, 1)
        for row, (kind, name) in enumerate(zip(DeviceKind, names, strict=True)):
            self.meters[kind].setAccessibleName(name)
            side = QVBoxLayout()
            side.setSpacing(0)
            side.addWidget(self.meters[kind])
            side.addWidget(self.messages[kind])
            grid.addWidget(self.switches[kind], row, 0)
            grid.addLayout(side, row, 1)
            self._name_switch(kind)
        return grid

    def _make_switch(self, kind: DeviceKind) -> QPushButton:
        switch = push_button()
        switch.setCheckable(True)
        switch.toggled.connect(lambda on: self._press(kind, on=on))
        return switch

    def _make_card(self) -> QFrame:
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

    def _name_switch(self, kind: DeviceKind) -> None:
        self.changed.emit()
        on = self.switches[kind].isChecked()
        if kind is DeviceKind.MICROPHONE:
            text = self.tr("Switch &microphone off") if on else self.tr("Switch &microphone on")
        else:
            text = self.tr("Switch &computer sound off")
            text = text if on else self.tr("Switch &computer sound on")
        self.switches[kind].setText(text)

    def _press(self, kind: DeviceKind, *, on: bool) -> None:
        self._name_switch(kind)
        self._switched_on = [one for one in self._switched_on if one is not kind]
        if on:
            self._switched_on.append(kind)
            self.messages[kind].setText(self.tr("Opening the device…"))
            self._clear()
        else:
            self.show_on(kind, on=False)
        self.source_wanted.emit(kind, on)

    @Slot()
    def _try_again(self) -> None:
        self.show_state("")
        kind = (self._switched_on or [self._kind])[-1]
        self.switches[kind].setChecked(True)
