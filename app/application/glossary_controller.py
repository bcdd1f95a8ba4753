"""Joins the window of the glossary with its files and with what translates."""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from app.application.caption_controller import Captioning
from app.config.launch_settings import LaunchSettings
from app.config.preferences_store import Chosen
from app.dialogs.glossary_dialog import GlossaryDialog
from app.library.glossaries import GlossaryFolder, Terms
from app.main_window.window import MainWindow
from app.widgets.language_names import language_name
from engine.events import ContextChanged, Event, Refused


class GlossaryDesk(QObject):
    """Keep the terms of the target language; tell the model of them only if that is wanted.

    Signals:
        failed(str): the terms could not be read or stored; one sentence.

    Attributes:
        dialog: the window, once somebody opened it.
    """

    failed = Signal(str)

    def __init__(
        self,
        settings: LaunchSettings,
        chosen: Chosen,
        captioning: Captioning,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self.dialog: GlossaryDialog | None = None
        self._settings = settings
        self._chosen = chosen
        self._captioning = captioning
        self._window = window
        self._shelf = GlossaryFolder(settings.data_folder / "glossary")
        self._language = ""
        self._terms: Terms = ()
        captioning.language_changed.connect(self._take_language)
        self.failed.connect(window.banner.show_notice)
        if chosen.now.translation.glossary:
            self._take_language(captioning.language)

    @Slot()
    def open_glossary(self) -> None:
        """Show the window."""
        if self.dialog is None:
            self.dialog = GlossaryDialog(self._window)
            self.dialog.terms_changed.connect(self._take_terms)
            self.dialog.use_toggled.connect(self._use)
        self._take_language(self._captioning.language)
        self._show()
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    @Slot(object)
    def take_event(self, event: Event) -> None:
        """Show in the window what the session tells of the glossary."""
        if self.dialog is None:
            return
        match event:
            case ContextChanged():
                told = self.tr("{:,} terms cost {:,} tokens of the prompt, computed once")
                told = told.format(len(self._terms), event.rows)
                self.dialog.show_cost(told if event.rows else self.tr("The model is not told"))
            case Refused() if self._chosen.now.translation.glossary:
                self.dialog.show_cost(event.message)

    @Slot(str)
    def _take_language(self, language: str) -> None:
        """Take the terms of another language."""
        if language != self._language:
            self._language = language
            self._terms, failure = self._shelf.read(language)
            if failure:
                self.failed.emit(failure)
            if self.dialog is not None and self.dialog.isVisible():
                self._show()
        self._tell()

    @Slot(tuple)
    def _take_terms(self, terms: Terms) -> None:
        self._terms = terms
        failure = self._shelf.write(self._language, terms)
        if failure:
            self.failed.emit(failure)
        self._tell()

    @Slot(bool)
    def _use(self, used: bool) -> None:  # noqa: FBT001  what the signal carries
        now = self._chosen.now
        self._chosen.choose(replace(now, translation=replace(now.translation, glossary=used)))
        self._tell()
        self._show_cost()

    def _tell(self) -> None:
        is_used = self._chosen.now.translation.glossary
        self._captioning.use_glossary(self._terms if is_used else ())

    def _show(self) -> None:
        if self.dialog is not None:
            name = language_name(self._language)
            self.dialog.show_terms(name, self._terms)
            used = self._chosen.now.translation.glossary
            self.dialog.show_use(used=used, warning=self._warning())
            self._show_cost()

    def _show_cost(self) -> None:
        if self.dialog is not None and not self._chosen.now.translation.glossary:
            self.dialog.show_cost(self.tr("The model is not told: the terms cost nothing"))

    def _warning(self) -> str:
        """Say what a glossary does to the model of now."""
        if self._settings.model is None and self._chosen.now.model is None:
            return self.tr(
                "The model that comes with Surtitle never saw a glossary while it was trained: "
                "with one its captions become much worse (measured: BLEU 1.6 instead of 5.1). "
                "Turn it on for a large instruct model only."
            )
        if self._captioning.adapters.used is not None:
            return self.tr(
                "Adapters made by Surtitle's recipes never saw a glossary while they were "
                "trained, so captions may become worse. Try it with and without."
            )
        return self.tr(
            "A large instruct model can follow a glossary; whether this one does was not measured. "
            "Try it with and without."
        )
