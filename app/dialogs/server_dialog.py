"""The dialog that names the computer that translates: address, token, certificate."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QFormLayout, QHBoxLayout, QLineEdit, QWidget

from app.config.preferences import MOST_ADDRESS
from app.config.settings_in_force import MOST_TOKEN, is_token
from app.look.style_sheet import make_primary
from app.look.widgets.desktop import ask_open
from app.look.widgets.dialog_text import (
    add_action,
    add_row,
    close_button,
    paragraph,
    push_button,
    quiet,
)
from engine.settings import ServerSettings

_LETTERS = 40  # of the address, without scrolling


class ServerDialog(QDialog):
    """Ask for a server.

    Signals:
        wanted(ServerSettings): it shall translate.

    Attributes:
        message: what is wrong; hidden without anything.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Another computer translates"))
        self.address = QLineEdit(placeholderText="https://house.example:8754")
        self.address.setMaxLength(MOST_ADDRESS)
        self.token = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        self.token.setMaxLength(MOST_TOKEN)
        self.certificate = QLineEdit()
        self.certificate.setPlaceholderText(self.tr("Only if needed"))
        self.browse = push_button(self.tr("&Browse…"))
        self.message = paragraph()
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._lay_out()
        self.address.textChanged.connect(self._check)
        self.browse.clicked.connect(self._ask_certificate)
        self.show_server(None)

    def _lay_out(self) -> None:
        buttons = close_button()
        self.use = add_action(buttons, self.tr("Co&nnect"), self._use)
        self.use.setDefault(True)
        make_primary(self.use)
        width = self.address.fontMetrics().averageCharWidth() * _LETTERS
        self.address.setMinimumWidth(width)
        intro = self.tr(
            "A strong computer on which surtitle serve runs translates for this one. Words and "
            "captions go there; sound, files and the history do not."
        )
        note = self.tr(
            "Whoever runs it tells you address and token. They could read along: choose a computer "
            "that you trust."
        )
        form = QFormLayout(self)
        form.addRow(paragraph(intro))
        add_row(form, self.tr("&Address:"), self.address, self.address)
        add_row(form, self.tr("&Token:"), self.token, self.token)
        row = QHBoxLayout()
        row.addWidget(self.certificate, 1)
        row.addWidget(self.browse)
        add_row(form, self.tr("C&ertificate:"), row, self.certificate)
        form.addRow(quiet(note))
        form.addRow(self.message)
        form.addRow(buttons)
        buttons.rejected.connect(self.close)

    def show_server(self, server: ServerSettings | None) -> None:
        self.address.setText("" if server is None else server.address)
        self.token.setText("" if server is None else server.token)
        certificate = None if server is None else server.certificate
        self.certificate.setText("" if certificate is None else str(certificate))
        self.show_message("")
        self._check()

    def show_message(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))
        self.use.setEnabled(bool(self.address.text().strip()))
        self.adjustSize()

    @Slot()
    def _check(self) -> None:
        self.use.setEnabled(bool(self.address.text().strip()))

    @Slot()
    def _use(self) -> None:
        address, token = self.address.text().strip(), self.token.text().strip()
        if not is_token(token):
            self.show_message(self.tr("A token has letters, digits and signs of English only."))
            return
        certificate = self.certificate.text().strip()
        self.show_message(self.tr("Connecting…"))
        self.wanted.emit(
            ServerSettings(
                address=address if "://" in address else f"https://{address}",
                token=token,
                certificate=Path(certificate) if certificate else None,
            )
        )

    @Slot()
    def _ask_certificate(self) -> None:
        path = ask_open(self, self.tr("Certificate of the server"), "PEM (*.pem *.crt)")
        if path is not None:
            self.certificate.setText(str(path))
