"""Scenes of the windows beside the main one: the guide, the glossary."""

import json
import sys

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.dialogs.setup.wizard import WizardServices
from engine.events import Failed
from engine.hub.bundled import bundled_languages
from engine.hub.catalogue import KNOWN_MODELS
from engine.messages import Code

MACHINE = {
    "kind": "machine",
    "processor": "Some Processor 9000",
    "cores": 8,
    "memory_bytes": 33_400_000_000,
    "free_bytes": 21_300_000_000,
    "gpu": "Some Graphics 4060",
    "gpu_bytes": 8_200_000_000,
    "gpu_free_bytes": 7_100_000_000,
    "trouble": "",
}
FORECAST = {"kind": "forecast", "n_words": 96, "load": 0.31, "median_s": 1.4, "p95_s": 2.3,
            "computing_s": 0.2}  # fmt: skip
MOST_FREE_BYTES = 7_100_000_000
SERVER = "https://office-pc:8443"


def fits():
    """What would fit onto the graphics card."""
    for model in KNOWN_MODELS:
        needed = model.download_bytes + 900_000_000
        fit = needed < MOST_FREE_BYTES
        words = "whole on cuda" if fit else "in 4 bits on cuda"
        numbers = {"needed_bytes": needed, "device": "cuda"}
        yield {"kind": "fit", "model": model.name, "fits": True, "words": words, **numbers}


def says(*lines):
    """Services of a guide whose examiners report these lines."""
    text = "\n".join(map(json.dumps, lines))
    program = sys.executable, "-c", f"print({text!r})"
    return WizardServices(program=program, bundled=tuple(bundled_languages()))


class Call(QWidget):
    """A video call of some other program: people who have their cameras off."""

    TILE, GAP = QSize(560, 280), 20
    PEOPLE = (("PK", "#7a5195"), ("AN", "#2f7f86"), ("LB", "#b5651d"), ("ME", "#4a6fa5"))

    def paintEvent(self, _event):  # noqa: N802  the name in Qt
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QColor("#17191d"))
        left = (self.width() - 2 * self.TILE.width() - self.GAP) // 2
        for number, (name, colour) in enumerate(self.PEOPLE):
            row, column = divmod(number, 2)
            corner = QPoint(
                left + column * (self.TILE.width() + self.GAP),
                40 + row * (self.TILE.height() + self.GAP),
            )
            tile = QRect(corner, self.TILE)
            painter.setPen(QPen(QColor("#6fcf97"), 3) if number == 0 else Qt.PenStyle.NoPen)
            painter.setBrush(QColor("#26292f"))
            painter.drawRoundedRect(tile, 10, 10)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawEllipse(tile.center(), 48, 48)
            font = painter.font()
            font.setPointSize(24)
            painter.setFont(font)
            painter.setPen(QColor("white"))
            painter.drawText(tile, Qt.AlignmentFlag.AlignCenter, name)
        painter.end()


GFLOPS = 420.0  # of a computer with four cores


class SideScenes:
    """What a person would have done before the picture."""

    def act_meeting(self):
        """Show the overlay over a call."""
        self.window.hide()
        call = Call()
        call.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        call.setGeometry(self.qt.primaryScreen().geometry().adjusted(0, 0, 0, -1))
        call.show()
        self.others.append(call)
        self.application.overlay.raise_()

    def place(self, dialog, offset):
        """Move a dialog over the window, but not off the screen."""
        area, frame = dialog.screen().availableGeometry(), dialog.frameGeometry()
        frame.moveTopLeft(self.window.pos() + offset)
        left = min(frame.left(), area.right() - frame.width())
        top = min(frame.top(), area.bottom() - frame.height())
        dialog.move(max(area.left(), left), max(area.top(), top))

    def open_guide(self, n_pages):
        guide = self.application.setup
        guide.parts = self.examiners()
        self.measure_as_elsewhere()
        guide.open_guide()
        self.place(guide.dialog, QPoint(110, 70))
        for _ in range(n_pages):
            guide.dialog.next.click()
        return guide.dialog

    def measure_as_elsewhere(self):
        """Find the same speed on whatever machine the picture is taken."""
        desk = self.application.listening.service
        desk.measure_speed = lambda: desk.speed_measured.emit(GFLOPS, False)

    def examiners(self):
        return says(MACHINE, *fits(), FORECAST)

    def act_guide(self):
        self.open_guide(0)

    def act_guide_languages(self):
        self.open_guide(0).welcome.target.showPopup()

    def act_guide_polish(self):
        target = self.open_guide(0).welcome.target
        target.setCurrentIndex(target.findData("pl"))

    def act_server(self):
        """Name another computer that translates."""
        *_, other = (one for one in self.window.choices.computer.actions() if one.text())
        other.trigger()
        dialog = self.application.server.dialog
        dialog.address.setText(SERVER)
        dialog.token.setText("a token of the office, told by who runs the server")
        self.place(dialog, QPoint(180, 120))
        return dialog

    def act_server_used(self):
        self.act_server().use.click()

    def act_server_away(self):
        self.act_server_used()
        name = SERVER.removeprefix("https://")
        gone = Code.SERVER_UNREACHABLE(server=name, reason=Code.CONNECTION_REFUSED())

        def fail():
            if not self.window.status.server.text().startswith("Computed on"):
                QTimer.singleShot(200, fail)
                return
            self.application.bridge.event_came.emit(Failed(message=gone))
            self.application.server.hide()  # it tries nothing more, and the next try would succeed

        fail()

    def open_models(self, *lines):
        guide = self.application.setup
        guide.parts = says(*lines) if lines else self.examiners()
        self.measure_as_elsewhere()
        guide.open_models()
        self.place(guide.models, QPoint(110, 70))
        return guide.models

    def act_models_polish(self):
        """A laptop without a graphics card."""
        laptop = MACHINE | {"gpu": "", "gpu_bytes": 0, "gpu_free_bytes": 0}
        page = self.open_models(laptop, {"kind": "computing", "gflops": 620.0})
        page.show_languages("en", "pl")
        return page
