"""Connects the glossary dialog with its files and the session."""

from PySide6.QtCore import QObject, Slot

from app.captions.glossaries import GlossaryFolder, Terms
from app.config.settings_in_force import SettingsInForce
from app.config.translations import filled, worded
from app.dialogs.glossary_dialog import GlossaryDialog
from app.look.widgets.dialog_text import bring_up
from app.look.widgets.names import language_name
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from engine.events import ContextChanged, Event, Refused
from engine.messages import Code

_REFUSALS = (Code.GLOSSARY_TOO_LONG, Code.GLOSSARY_TOO_LARGE)


class GlossaryController(QObject):
    """Keep the terms of the target language; the model gets them only if the user wants that."""

    def __init__(self, settings: SettingsInForce, bridge: EngineBridge, window: MainWindow) -> None:
        super().__init__(window)
        self.dialog: GlossaryDialog | None = None
        self._settings = settings
        self._window = window
        self._folder = GlossaryFolder(settings.launch.data_folder / "glossary")
        self._language = ""
        self._terms: Terms = ()
        settings.language_changed.connect(self._take_language)
        bridge.event_came.connect(self._take_event)
        window.menu_actions.glossary.triggered.connect(self.open_glossary)
        if self._is_used:
            self._take_language(self._settings.translation.target_language)

    def hide(self) -> None:
        if self.dialog is not None:
            self.dialog.close()

    @Slot()
    def open_glossary(self) -> None:
        if self.dialog is None:
            self.dialog = GlossaryDialog(self._window)
            self.dialog.terms_changed.connect(self._take_terms)
            self.dialog.use_toggled.connect(self._use)
        self._take_language(self._settings.translation.target_language)
        self._show()
        bring_up(self.dialog)

    def add_name(self, name: str) -> None:
        """Add a name to the terms, so that captions spell it like this."""
        self._take_language(self._settings.translation.target_language)
        if name.casefold() not in (term.casefold() for term, _ in self._terms):
            self._take_terms((*self._terms, (name, name)))
        if not self._is_used:
            self._use(used=True)
        if self.dialog is not None and self.dialog.isVisible():
            self._show()

    @Slot(object)
    def _take_event(self, event: Event) -> None:
        if self.dialog is None:
            return
        match event:
            case ContextChanged():
                self.dialog.show_cost(self._cost(event.rows))
            case Refused(message=message) if message.code in _REFUSALS:
                self.dialog.show_cost(worded(message))

    @Slot(str)
    def _take_language(self, language: str) -> None:
        if language != self._language:
            self._language = language
            self._terms, failure = self._folder.read(language)
            if failure is not None:
                self._window.banner.show_notice(worded(failure))
            if self.dialog is not None and self.dialog.isVisible():
                self._show()
        self._tell()

    @Slot(tuple)
    def _take_terms(self, terms: Terms) -> None:
        begins = bool(terms) and not self._terms
        self._terms = terms
        failure = self._folder.write(self._language, terms)
        if failure is not None:
            self._window.banner.show_notice(worded(failure))
        if begins and not self._is_used:  # a first term is written to be used
            self._settings.change("translation", glossary=True)
            if self.dialog is not None:
                self.dialog.show_use(used=True, warning=self._warning())
        self._tell()

    @Slot(bool)
    def _use(self, used: bool) -> None:  # noqa: FBT001  what the signal carries
        self._settings.change("translation", glossary=used)
        self._tell()
        self._show_cost()

    @property
    def _is_used(self) -> bool:
        return self._settings.preferences.translation.glossary

    def _tell(self) -> None:
        self._settings.use_glossary(self._terms if self._is_used else ())

    def _show(self) -> None:
        if self.dialog is not None:
            spoken = language_name(self._settings.translation.source_language)
            self.dialog.show_terms(spoken, language_name(self._language), self._terms)
            self.dialog.show_use(used=self._is_used, warning=self._warning())
            self._show_cost()

    def _show_cost(self) -> None:
        if self.dialog is not None and not self._is_used:
            self.dialog.show_cost(self.tr("The terms are not in use"))

    def _cost(self, n_rows: int) -> str:
        if n_rows:
            text = self.tr(
                "%Ln terms cost {:,} tokens of the prompt, computed once", "", len(self._terms)
            )
            return filled(text, n_rows)
        n_terms = len(self._terms)
        if self._is_used and n_terms:
            return self.tr("%Ln terms are in use; they don't slow the translation", "", n_terms)
        return self.tr("The terms are not in use")

    def _warning(self) -> str:
        if self._settings.model is None:
            return self.tr(
                "A translation is used exactly as written here, in place of the model's own word "
                "for the term. The article before it stays as the model chose it."
            )
        if self._settings.adapter_in_use is not None:
            return self.tr(
                "A model that was not trained for Surtitle is told the terms before each "
                "sentence. Its adapter may never have seen a glossary in training, so captions "
                "may become worse. Try it with and without."
            )
        return self.tr(
            "A large instruct model can follow a glossary; whether this one does was not measured. "
            "Try it with and without."
        )
