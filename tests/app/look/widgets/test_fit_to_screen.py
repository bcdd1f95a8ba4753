from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QCheckBox, QDialog, QVBoxLayout

from app.look.widgets.dialog_text import paragraph
from app.look.widgets.fit_to_screen import FitToScreen


def test_a_dialog_that_qt_opens_too_low_for_its_text_is_as_high_as_that_needs(qtbot, monkeypatch):
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _screen: QRect(0, 0, 640, 360))
    dialog = QDialog()
    qtbot.addWidget(dialog)
    column = QVBoxLayout(dialog)
    boxes = [QCheckBox("Language") for _ in range(4)]
    for part in (paragraph("What is said is read on phones. " * 6), *boxes):
        column.addWidget(part)
    FitToScreen(dialog)
    dialog.resize(QSize(300, 100))  # as Qt does, which takes two thirds of a screen at most
    dialog.show()
    assert all(box.height() >= box.sizeHint().height() for box in boxes)
    assert dialog.height() < 360
