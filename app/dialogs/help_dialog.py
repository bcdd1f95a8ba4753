"""The help, a text in ``assets/help`` in the language of the windows."""

from PySide6.QtWidgets import QDialog, QTextBrowser, QVBoxLayout, QWidget

from app.look.widgets.dialog_text import close_button
from engine.files import ASSETS

_MARGIN = 12  # pixels


class HelpDialog(QDialog):
    """Show the help; its links go to the browser."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Help"))
        # The translation of this text is the code of the language.
        language = self.tr("en")
        self.text = QTextBrowser(openExternalLinks=True)
        self.text.setAccessibleName(self.tr("Help"))
        file = ASSETS / "help" / f"help_{language}.md"
        self.text.setMarkdown(file.read_text(encoding="utf-8"))
        self.text.document().setDocumentMargin(_MARGIN)
        self.buttons = close_button()
        self.buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.addWidget(self.text, 1)
        column.addWidget(self.buttons)
        self.resize(680, 560)
