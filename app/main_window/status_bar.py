"""The status bar, one quiet line, and the menus of mode, language and timing that it shows, too."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QSizePolicy, QWidget

from app.config.preferences import BOTH, CAPTIONS_ONLY, MODES, SOURCE_LANGUAGE
from app.look.widgets.buttons import ChoiceMenu, open_with
from app.look.widgets.names import language_name, policy_names, unoffered_policy


class CaptionChoices(QObject):
    """Six menus; their values are what the engine, or who is asked, calls them.

    Signals:
        changed(): a menu shows another choice.

    Attributes:
        mode: one of ``MODES``.
        language: menu of the target languages by their codes, those of the model in use above a
            line; below it those that need another model, an empty one for all that there are.
        second: menu of the languages that can stand below it; empty for none.
        purpose: menu of what is captioned, by names of adapters, empty for the model alone; without
            entries where the model has no choice.
        timing: policies as the engine writes them.
        computer: addresses of servers, empty for this computer.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._spoken, self._second = SOURCE_LANGUAGE, ""
        self.mode = ChoiceMenu(self.tr("Sh&ow"))
        self.language = ChoiceMenu(self.tr("Translate &to"))
        self.second = ChoiceMenu(self.tr("Second la&nguage"))
        self.purpose = ChoiceMenu(self.tr("B&etter for"))
        self.timing = ChoiceMenu(self.tr("T&iming"))
        self.computer = ChoiceMenu(self.tr("Comp&uted on"))
        modes = (
            (self.tr("Translate"), self.tr("Captions in another language")),
            (self.tr("No translation"), self.tr("Captions of what is said; nothing is translated")),
            (self.tr("Both languages"), self.tr("What is said, above its translation")),
        )
        self.mode.show_entries(
            [(text, mode, tip) for (text, tip), mode in zip(modes, MODES, strict=True)]
        )
        self.show_timings(policy_names())
        self.show_seconds([(self.tr("None"), "", "")], "")
        self.show_purposes([], "")
        other = self.tr("&Another computer…"), "", self.tr("Its address, and the token it asks for")
        self.computer.show_others([other])
        self.show_computers({}, "")

    @property
    def below_mode(self) -> tuple[ChoiceMenu, ...]:
        """The menus that only captions in another language need."""
        return self.language, self.second, self.purpose, self.timing

    def show_mode(self, mode: str) -> None:
        """Select a mode; captions without a translation have no other language or timing."""
        self.mode.choose(mode)
        for menu in self.below_mode:
            menu.setEnabled(self.translates)
        self.changed.emit()

    def show_languages(self, languages: Mapping[str, str], chosen: str) -> None:
        """Offer these target languages, names by code; each has its place in the alphabet."""
        named = [(language_name(code, name), code, "") for code, name in languages.items()]
        self.language.show_entries(sorted(named, key=lambda entry: entry[0].casefold()))
        if chosen in languages:
            self.language.choose(chosen)
        self.changed.emit()

    def show_other_languages(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """Offer languages of other models below a line: text, code, tool tip."""
        more = self.tr("&More languages…"), "", self.tr("Shows all translation models")
        self.language.show_others([*entries, more])

    def show_seconds(self, entries: Sequence[tuple[str, str, str]], chosen: str) -> None:
        """Offer second languages, the first entry for none: text, code, tool tip."""
        self.second.show_entries(entries)
        self.show_second(chosen)

    def show_second(self, chosen: str) -> None:
        """Select the second language; empty for none."""
        self.second.choose(chosen, language_name(chosen))
        if chosen != self._second:  # a click has marked it already
            self._second = chosen
            self.changed.emit()

    def show_purposes(self, adapters: Sequence[tuple[str, str]], used: str) -> None:
        """Offer adapters, name and what each is for, beside the model alone; no choice of none."""
        alone = self.tr("&Everything"), "", self.tr("The model alone")
        self.purpose.show_entries([alone, *((name, name, purpose) for name, purpose in adapters)])
        self.purpose.choose(used)
        self.purpose.menuAction().setVisible(bool(adapters))
        self.changed.emit()

    def show_timings(self, policies: Sequence[tuple[str, str, str]]) -> None:
        """Offer policies, as ``policy_names`` returns them; the chosen one stays."""
        every = list(policies)
        if self.timing.value not in [written for written, _, _ in every]:
            every.append(unoffered_policy(self.timing.value))
        self.timing.show_entries([(name, written, tip) for written, name, tip in every])

    def show_computers(self, servers: Mapping[str, str], chosen: str) -> None:
        """Offer this computer and servers, names by address; select one, empty for this one."""
        tip = self.tr("It translates; words and captions go there, sound does not")
        here = self.tr("This computer"), "", self.tr("Nothing leaves it")
        entries = [(name, address, tip) for address, name in servers.items()]
        self.computer.choose("")  # a server that is not known any more is not kept
        self.computer.show_entries([here, *entries])
        self.computer.choose(chosen)

    def show_choice(self, spoken: str, language: str, policy: str) -> None:
        self._spoken = spoken
        self.language.choose(language, language_name(language))
        self.timing.choose(policy)
        self.changed.emit()

    @property
    def translates(self) -> bool:
        return self.mode.value != CAPTIONS_ONLY

    @property
    def languages(self) -> tuple[str, str]:
        """Names of the source language and the target language; the latter is empty without one."""
        target = self.language.text if self.translates else ""
        return language_name(self._spoken), target

    @property
    def summary(self) -> str:
        """Mode and languages in a few words."""
        source, target = self.languages
        if not self.translates:
            return self.tr("{} captions").format(source)
        pair = f"{source} + {target}" if self.mode.value == BOTH else f"{source} → {target}"
        if self.second.value not in ("", self.language.value):
            pair = f"{pair} + {language_name(self.second.value)}"
        return f"{pair} · {self.purpose.value}" if self.purpose.value else pair


_GAP = 12
_CATCHING_UP_WORDS = 20
"""Fewer words that wait are ordinary: captions come in groups of words."""

_STEADY_S = 0.75
"""The shown lag stays while the measured one is this near, so that the line does not flicker."""


class StatusBar(QWidget):
    """The state on the left; languages and glossary on the right.

    Attributes:
        is_ready: words become captions at once.
        skip: asks that the words that wait do not hold up what comes now.
        sharing: shown while captions are shared.
        glossary: shown while the model gets the glossary.
        server: shown while another computer translates.
        choices: button with the menus of mode, language and timing.
    """

    def __init__(self, choices: CaptionChoices) -> None:
        super().__init__()
        self._engine = self._listening = self._devices = self._left_out = ""
        self.is_ready = self._is_paused = False
        self._lag_s: int | None = None
        self._n_waiting = 0
        self._choices = choices
        self.state = QLabel()
        self.state.setAccessibleDescription(self.tr("State"))
        self.state.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.skip = self._hidden_button(
            self.tr("Leave the sentences that wait without a translation")
        )
        self.skip.setText(self.tr("Skip to now"))
        self.sharing = self._hidden_button(self.tr("Show the QR code, or stop sharing"))
        self.server = self._hidden_button(self.tr("Choose which computer translates"))
        self.glossary = QLabel(self.tr("Glossary on"))
        self.glossary.hide()
        self.choices = QPushButton()
        self.choices.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.choices.setToolTip(self.tr("Mode, language and timing of the captions"))
        self._make_menu()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP)
        row.addWidget(self.state, 1)
        row.addWidget(self.skip)
        row.addWidget(self.sharing)
        row.addWidget(self.server)
        row.addWidget(self.glossary)
        row.addWidget(self.choices)
        choices.changed.connect(self._name_choices)
        self._name_choices()

    def _make_menu(self) -> None:
        """Show the languages at once, and the other choices below *More*."""
        menu, choices = QMenu(self.choices), self._choices
        self._more = QMenu(self.tr("M&ore"), menu)
        for one in (menu, self._more):
            one.setToolTipsVisible(True)
        for other in choices.below_mode[1:]:
            self._more.addMenu(other)
        self._more.addSeparator()
        self._more.addActions(choices.mode.actions())
        menu.addMenu(self._more)
        menu.aboutToShow.connect(self._fill_menu)
        self.choices.setMenu(menu)
        open_with(menu, self.choices)

    @Slot()
    def _fill_menu(self) -> None:
        menu, language = self.choices.menu(), self._choices.language
        for action in menu.actions():
            menu.removeAction(action)  # to clear it would delete those of the other menu
        if language.isEnabled():
            language.aboutToShow.emit()  # others are on offer by now
            menu.addActions(language.actions())
            menu.addSeparator()
        menu.addMenu(self._more)

    def _hidden_button(self, tip: str) -> QPushButton:
        button = QPushButton()
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.hide()
        return button

    def show_loading(self) -> None:
        self._show_engine(self.tr("Loading…"))

    def show_stopped(self) -> None:
        self._show_engine(self.tr("Stopped"))

    def show_ready(self) -> None:
        self._show_engine("", is_ready=True)

    def show_listening(self, text: str, devices: str = "") -> None:
        """Show the state of listening, empty without one, and the devices in the tool tip."""
        if text != self._listening:
            self._lag_s = None
        self._listening, self._devices = text, devices
        self._show()

    def show_lag(self, seconds: float | None) -> None:
        """Show how far the captions are behind the speaker; None while nobody speaks."""
        if seconds is None:
            self._lag_s = None
        elif self._lag_s is None or abs(seconds - self._lag_s) > _STEADY_S:
            self._lag_s = max(1, round(seconds))
        self._show()

    def show_left_out(self, text: str) -> None:
        """Show what further languages leave out for now; empty for nothing."""
        self._left_out = text
        self._show()

    @Slot(bool)
    def show_paused(self, paused: bool) -> None:  # noqa: FBT001  what the signal carries
        """Show that captions are paused, or the state again."""
        self._is_paused = paused
        self._show()

    def show_backlog(self, n_words: int) -> None:
        """Show that words wait, once they are many, until none waits."""
        many = _CATCHING_UP_WORDS if not self._n_waiting else 1
        self._n_waiting = n_words if n_words >= many else 0
        self._show()

    def show_shared(self, n_readers: int | None) -> None:
        """Show how many phones read along; None while captions are not shared."""
        self.sharing.setVisible(n_readers is not None)
        some = self.tr("Shared with %Ln phones", "", n_readers or 0)
        self.sharing.setText(some if n_readers else self.tr("Shared, no reader yet"))

    def show_server(self, text: str) -> None:
        """Show how the connection to a server is; empty while this computer translates."""
        self.server.setVisible(bool(text))
        self.server.setText(text)

    def _show_engine(self, text: str, *, is_ready: bool = False) -> None:
        self._engine, self.is_ready = text, is_ready
        self._n_waiting = 0
        self._show()

    def _show(self) -> None:
        text = self._text()
        if self.is_ready and not self._is_paused and self._left_out:
            text = f"{text} · {self._left_out}"
        self.skip.setVisible(self.is_ready and not self._is_paused and self._n_waiting > 0)
        self.state.setText(text)
        short = text if text in {self.tr("Paused"), self._engine} else self.tr("Ready")
        self.state.setMinimumWidth(self.state.fontMetrics().horizontalAdvance(short))
        self.state.setToolTip(self._devices or text)

    def _text(self) -> str:
        if self._is_paused:
            return self.tr("Paused")
        if not self.is_ready:
            return self._engine
        if self._n_waiting:
            return self.tr("Catching up: %Ln words to go", "", self._n_waiting)
        if not self._listening:
            return self.tr("Ready")
        if self._lag_s is None:
            return self._listening
        behind = self.tr("captions {} s behind").format(self._lag_s)
        return f"{self._listening} · {behind}"

    @Slot()
    def _name_choices(self) -> None:
        self.choices.setText(self._choices.summary)
        self.choices.setAccessibleName(self._choices.summary)
