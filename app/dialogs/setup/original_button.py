"""The button that deletes the weights that a model was converted from, after a question."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QPushButton

from app.dialogs.setup.model_service import OriginalWeights
from app.look.widgets.dialog_text import breakable, size_text


class OriginalButton(QPushButton):
    """Hidden unless there is something to delete; each click asks once.

    Signals:
        confirmed(Path): delete the original weights in this folder.
    """

    confirmed = Signal(Path)

    def __init__(self) -> None:
        super().__init__()
        self.setText(self.tr("Delete the origi&nal…"))
        self.setAutoDefault(False)
        self.hide()
        self._original: OriginalWeights | None = None
        self.question = QMessageBox(self)
        self.question.setWindowTitle(self.tr("Delete the original"))
        self.question.setTextFormat(Qt.TextFormat.PlainText)
        self.delete_for_good = self.question.addButton(
            self.tr("&Delete"), QMessageBox.ButtonRole.DestructiveRole
        )
        keep = self.question.addButton(self.tr("&Keep it"), QMessageBox.ButtonRole.RejectRole)
        self.question.setDefaultButton(keep)
        self.question.setEscapeButton(keep)
        self.question.buttonClicked.connect(self._take_answer)
        self.clicked.connect(self._ask)

    def offer(self, original: OriginalWeights | None) -> None:
        """Show the button for these weights, or hide it."""
        self._original = original
        self.setVisible(original is not None)
        if original is not None:
            text = self.tr("Frees {}: the model was converted, and these files are not needed now.")
            self.setToolTip(text.format(size_text(original.n_bytes)))

    @Slot()
    def _ask(self) -> None:
        original = self._original
        if original is None:
            return
        text = self.tr(
            "This model was converted for this computer. Delete the files it was made from, and "
            "free {}?"
        )
        self.question.setText(text.format(size_text(original.n_bytes)))
        where = (
            self.tr("They were downloaded into {}. The converted model stays.")
            if original.is_ours
            else self.tr(
                "They are in a folder of your own, {}, and Surtitle cannot bring them back. The "
                "converted model stays."
            )
        )
        self.question.setInformativeText(breakable(where.format(original.folder)))
        self.question.open()

    @Slot(QAbstractButton)
    def _take_answer(self, button: QAbstractButton) -> None:
        if self._original is not None and button is self.delete_for_good:
            self.setEnabled(False)
            self.confirmed.emit(self._original.folder)
