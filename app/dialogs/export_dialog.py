"""The export dialog: file format, content and file name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QCheckBox, QDialog, QFormLayout, QWidget

from app.captions.cues import Cue, begun
from app.captions.export import (
    ALL,
    CONTENTS,
    FORMS,
    SUBTITLES,
    TIMES,
    Times,
    export,
    further_languages,
    n_lacking,
)
from app.config.text_io import TextError
from app.config.translations import error_text
from app.look.style_sheet import make_primary
from app.look.widgets.desktop import ask_save, forget_folder
from app.look.widgets.dialog_text import (
    add_action,
    add_row,
    breakable,
    bring_up,
    close_button,
    list_of,
    paragraph,
)
from app.look.widgets.names import lane_name, language_name

_TOPIC = "export"  # of its file dialogs
_LINES = 2  # height of the empty message label


class ExportDialog(QDialog):
    """Choose a format, its content and a file, and write it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Export captions"))
        self._cues: Sequence[Cue] = ()
        self._started = datetime.now().astimezone()
        self._given: Mapping[str, str] = {}
        self._told_result = False
        names = (
            self.tr("Subtitles (SRT)"),
            self.tr("Subtitles for the web (WebVTT)"),
            self.tr("Plain text, without times"),
            self.tr("JSON Lines (everything)"),
        )
        self.form = list_of(zip(names, FORMS, strict=True))
        contents = (self.tr("Captions"), self.tr("Original"), self.tr("Original above translation"))
        self.content = list_of(zip(contents, CONTENTS, strict=True))
        starts = (
            self.tr("From the first caption"),
            self.tr("From the start of the session"),
            self.tr("Clock time"),
        )
        self.times = list_of(zip(starts, TIMES, strict=True))
        self.marks_doubt = QCheckBox(self.tr("Mark &doubtful captions with (?)"))
        self.message = paragraph()
        self.message.setAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignTop)
        self._lay_out()
        self.form.currentIndexChanged.connect(self._take_form)

    def show_cues(self, cues: Sequence[Cue], started: datetime) -> None:
        self._told_result = False
        self.follow(cues, started)
        bring_up(self)

    def follow(self, cues: Sequence[Cue], started: datetime) -> None:
        """Offer these cues from now on; the result of an export stays to be read."""
        self._cues, self._started = cues, started
        self._offer_languages()
        self._take_form()
        if not self._told_result:
            self._show_message(self._counted(self.tr("%Ln captions", "", len(cues))))
        self.save.setEnabled(bool(cues))

    def _offer_languages(self) -> None:
        chosen, further = self.content.currentData(), further_languages(self._cues)
        while self.content.count() > len(CONTENTS):
            self.content.removeItem(self.content.count() - 1)
        for code in further:
            self.content.addItem(self.tr("{} alone").format(language_name(code)), code)
        if further:
            self.content.addItem(self.tr("All languages"), ALL)
        self.content.setCurrentIndex(max(0, self.content.findData(chosen)))

    def name_speakers(self, given: Mapping[str, str]) -> None:
        self._given = given

    def export_to(self, path: Path) -> None:
        """Write the file and show the result; the dialog stays open."""
        form, content = self.form.currentData(), self.content.currentData()
        self._told_result = True
        try:
            count = export(
                path,
                self._cues if form == "jsonl" else self._named(),
                form,
                content,
                times=Times(self.times.currentData(), self._started),
                marks_doubt=self.marks_doubt.isChecked(),
            )
        except TextError as error:
            forget_folder(_TOPIC)  # it may be full, or closed to this user
            text = error_text(error)
            self._show_message(f"{text[:1].upper()}{text[1:]}.")  # may begin with a path
        else:
            text = self.tr("%Ln captions were written to {}", "", count)
            self._show_message(self._counted(text.format(path)))

    def _counted(self, text: str) -> str:
        lacking = (
            self.tr("{} lacks %Ln captions", "", n).format(language_name(code))
            for code, n in n_lacking(self._cues).items()
        )
        return "; ".join((text, *lacking))

    def _named(self) -> list[Cue]:
        return [replace(cue, speaker=lane_name(cue.speaker, self._given)) for cue in self._cues]

    def _show_message(self, text: str) -> None:
        """Show a message; long paths may break, and the window grows to show all of it."""
        self.message.setText(breakable(text))
        height = self._rows.totalHeightForWidth(self.width())
        self.resize(self.width(), max(self.height(), height))

    def _lay_out(self) -> None:
        buttons = close_button()
        self.save = add_action(buttons, self.tr("&Export…"), self._ask_path)
        form = self._rows = QFormLayout(self)
        add_row(form, self.tr("&Format"), self.form, self.form)
        add_row(form, self.tr("C&ontent"), self.content, self.content)
        add_row(form, self.tr("&Times"), self.times, self.times)
        form.addRow(self.marks_doubt)
        form.addRow(self.message)
        form.addRow(buttons)
        self.save.setDefault(True)
        make_primary(self.save)
        self.message.setMinimumHeight(_LINES * self.message.fontMetrics().lineSpacing())
        buttons.rejected.connect(self.close)

    @Slot()
    def _take_form(self) -> None:
        form = self.form.currentData()
        self.content.setEnabled(form != "jsonl")
        self.times.setEnabled(form in SUBTITLES)
        has_doubt = any(cue.doubtful for cue in self._cues)
        self.marks_doubt.setVisible(has_doubt)
        self.marks_doubt.setEnabled(form != "jsonl")

    @Slot()
    def _ask_path(self) -> None:
        form = self.form.currentData()
        content = self.content.currentData()
        kind = form if content in (*CONTENTS, ALL) or form == "jsonl" else f"{content}.{form}"
        start = self.tr("captions")
        name = f"{start}-{begun(self._cues, self._started):%Y-%m-%d-%H%M}.{kind}"
        path = ask_save(self, self.windowTitle(), name, f"*.{form}", topic=_TOPIC)
        if path:
            self.export_to(path)
