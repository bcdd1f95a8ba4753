"""Mode, language and timing of the captions, as menus that several widgets can show."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from app.config.preferences import BOTH, CAPTIONS_ONLY, MODES, SOURCE_LANGUAGE
from app.look.widgets.buttons import ChoiceMenu
from app.look.widgets.names import language_name, policy_names, unoffered_policy


class CaptionChoices(QObject):
    """Six menus; they only emit signals.

    Signals:
        mode_chosen(str): one of ``MODES``.
        language_chosen(str): the code of a target language.
        second_chosen(str): the code of a language below it; empty for none.
        other_language_wanted(str): one that needs another model; empty for all that there are.
        purpose_chosen(str): the name of an adapter, empty for the model alone.
        policy_chosen(str): a policy as the engine writes it.
        computer_chosen(str): the address of a server that translates; empty for this computer.
        other_computer_wanted(): another server.
        changed(): a menu shows another choice.

    Attributes:
        language: menu of the target languages, those of the model in use above a line.
        second: menu of the languages that can stand below it.
        purpose: menu of what is captioned; without entries where the model has no choice.
    """

    mode_chosen = Signal(str)
    language_chosen = Signal(str)
    second_chosen = Signal(str)
    other_language_wanted = Signal(str)
    purpose_chosen = Signal(str)
    policy_chosen = Signal(str)
    computer_chosen = Signal(str)
    other_computer_wanted = Signal()
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
        self.mode.value_chosen.connect(self.mode_chosen)
        self.language.value_chosen.connect(self.language_chosen)
        self.language.other_chosen.connect(self.other_language_wanted)
        self.second.value_chosen.connect(self.second_chosen)
        self.purpose.value_chosen.connect(self.purpose_chosen)
        self.show_seconds([(self.tr("None"), "", "")], "")
        self.show_purposes([], "")
        self.timing.value_chosen.connect(self.policy_chosen)
        self.computer.value_chosen.connect(self.computer_chosen)
        self.computer.other_chosen.connect(self.other_computer_wanted)
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
