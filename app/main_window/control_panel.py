"""The controls above the transcript. They emit what the person wants and decide nothing."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QStyle, QWidget

from app.widgets.flow_layout import FlowLayout
from app.widgets.language_names import language_name
from app.widgets.policy_names import policy_names


class ControlPanel(QWidget):
    """One row of controls.

    Signals:
        language_chosen(str): the code of a target language.
        policy_chosen(str): a policy as the engine writes it.

    Attributes:
        pause: a button that is on while what is typed is held.
        clear: a button that empties the overlay.
        overlay: a button that is on while the overlay is shown.
        adapter: a button that shows the adapters.
        lock: a button that is on while clicks go through the overlay.
    """

    language_chosen = Signal(str)
    policy_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.language = QComboBox()
        self.language.setAccessibleName(self.tr("Target language"))
        self.policy = QComboBox()
        self.policy.setAccessibleName(self.tr("Timing of the captions"))
        self.pause = _button(
            self.tr("Pause"), "Ctrl+P", self.tr("Hold the captions; what you type is kept")
        )
        self.clear = _button(
            self.tr("Clear"), "Ctrl+L", self.tr("Empty the overlay; the transcript keeps all")
        )
        self.overlay = _button(
            self.tr("Overlay"), "Ctrl+O", self.tr("Show the captions above all other windows")
        )
        self.lock = _button(
            self.tr("Lock"), "Ctrl+K", self.tr("Let clicks go through the overlay, or take them")
        )
        self.adapter = _button("", "Ctrl+D", self.tr("Which adapter translates; show all"))
        self.show_adapter(None)
        for button in (self.pause, self.overlay, self.lock):
            button.setCheckable(True)
            button.toggled.connect(self._show_ticks)
            button.setMinimumHeight(_ticked_height(button))
        for written, name, explanation in policy_names():
            self._add_policy(written, name, explanation)
        self._lay_out()
        self.language.activated.connect(self._choose_language)
        self.policy.activated.connect(self._choose_policy)
        self.policy.currentIndexChanged.connect(self._explain_policy)
        self._explain_policy()

    def show_languages(self, languages: Mapping[str, str], chosen: str) -> None:
        """Offer these target languages, names by code."""
        self.language.clear()
        for code, name in languages.items():
            self.language.addItem(language_name(code, name), code)
        self.language.setCurrentIndex(max(0, self.language.findData(chosen)))
        self.language.setToolTip(
            "" if len(languages) > 1 else self.tr("This model knows one language only")
        )

    def show_choice(self, language: str, policy: str) -> None:
        """Make a language and a policy the chosen ones; a language not on offer changes nothing."""
        place = self.language.findData(language)
        if place >= 0:
            self.language.setCurrentIndex(place)
        self.show_policy(policy)

    def show_policy(self, written: str) -> None:
        """Make this policy the chosen one, in the words of the engine if the list has no better."""
        if self.policy.findData(written) < 0:
            self._add_policy(written, written, "")
        self.policy.setCurrentIndex(self.policy.findData(written))

    def show_adapter(self, name: str | None) -> None:
        """Name the adapter that translates; None for the model as it is."""
        self.adapter.setText(name or self.tr("No adapter"))

    def _add_policy(self, written: str, name: str, explanation: str) -> None:
        self.policy.addItem(name, written)
        self.policy.setItemData(self.policy.count() - 1, explanation, Qt.ItemDataRole.ToolTipRole)

    def _lay_out(self) -> None:
        row = FlowLayout(self)
        pairs = ((self.tr("Tra&nslate to"), self.language), (self.tr("T&iming"), self.policy))
        for text, combo in pairs:
            row.addWidget(_named(text, combo))
        row.addWidget(self.adapter)
        row.add_gap()
        for button in (self.pause, self.clear, self.overlay, self.lock):
            row.addWidget(button)

    @Slot()
    def _choose_language(self) -> None:
        self.language_chosen.emit(self.language.currentData())

    @Slot()
    def _choose_policy(self) -> None:
        self.policy_chosen.emit(self.policy.currentData())

    @Slot()
    def _explain_policy(self) -> None:
        explanation = self.policy.currentData(Qt.ItemDataRole.ToolTipRole)
        self.policy.setToolTip(explanation)
        self.policy.setAccessibleDescription(explanation)

    @Slot()
    def _show_ticks(self) -> None:
        """Tick what is on: by their colour alone it is hard to see, on dark desktops above all."""
        tick = self.style().standardIcon(QStyle.StandardPixmap.SP_DialogApplyButton)
        for button in (self.pause, self.overlay, self.lock):
            button.setIcon(tick if button.isChecked() else QIcon())


def _named(text: str, combo: QComboBox) -> QWidget:
    """Put a label before a list; the two stay together when the row is broken."""
    both, label = QWidget(), QLabel(text)
    label.setBuddy(combo)
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 12, 0)
    row.addWidget(label)
    row.addWidget(combo)
    return both


def _ticked_height(button: QPushButton) -> int:
    """Tell how high a button is with a tick, so that none moves its row."""
    ticked = QPushButton(button.text())
    ticked.setIcon(button.style().standardIcon(QStyle.StandardPixmap.SP_DialogApplyButton))
    return ticked.sizeHint().height()


def _button(text: str, shortcut: str, tip: str) -> QPushButton:
    """Make a button that a click does not let take the keyboard from the typed line."""
    button = QPushButton(text)
    button.setToolTip(f"{tip} ({shortcut})")
    button.setAccessibleDescription(tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
