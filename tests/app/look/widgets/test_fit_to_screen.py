import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, QSettings, QSize, Qt, QTimer
from PySide6.QtGui import QScreen
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QCheckBox,
    QDialog,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.look.widgets import desktop
from app.look.widgets.dialog_text import close_button, paragraph
from app.look.widgets.fit_to_screen import FitToScreen
from app.main_window.window import MainWindow


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


def test_a_dialog_opens_where_it_was_closed(qtbot, monkeypatch):
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _screen: QRect(0, 0, 640, 360))
    dialog = QDialog()
    qtbot.addWidget(dialog)
    FitToScreen(dialog)
    dialog.resize(200, 100)
    dialog.show()
    dialog.move(77, 66)
    dialog.hide()
    dialog.move(0, 0)
    dialog.show()
    assert dialog.pos() == QPoint(77, 66)
    assert dialog.size() == QSize(200, 100)


@pytest.mark.parametrize("is_default", [True, False])
@pytest.mark.parametrize(
    ("focus", "pressed"),
    [
        ("field", ""),
        ("box", ""),
        ("on", ""),
        ("choice", "choice"),
        ("close", "close"),
    ],
)
def test_enter_presses_the_button_with_the_focus_and_else_the_main_one(
    qtbot, focus, pressed, is_default
):
    dialog, told = QDialog(), []
    qtbot.addWidget(dialog)
    choices, buttons = QButtonGroup(dialog), close_button()
    kinds = {"checkable": True, "autoDefault": False}
    parts = {
        "field": QLineEdit(),
        "box": QCheckBox("Mark"),
        "on": QPushButton("A call", **kinds),
        "choice": QPushButton("A file", **kinds),
        "main": QPushButton("Start", autoDefault=False),
        "close": buttons.button(buttons.StandardButton.Close),
    }
    choices.addButton(parts["on"])
    parts["on"].setChecked(True)
    choices.addButton(parts["choice"])
    column = QVBoxLayout(dialog)
    for name, part in parts.items():
        column.addWidget(buttons if name == "close" else part)
        if isinstance(part, QPushButton):
            part.clicked.connect(lambda _on, name=name: told.append(name))
    parts["main"].setDefault(is_default)
    FitToScreen(dialog)
    dialog.show()
    parts[focus].setFocus()
    QTest.keyClick(parts[focus], Qt.Key.Key_Return)
    assert told == ([pressed] if pressed else ["main"] * is_default)


def test_a_dialog_that_a_page_of_a_dialog_opens_is_inside_the_screen(qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _screen: QRect(0, 0, 640, 360))
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(tmp_path))
    sizes = []

    def look():
        dialog = QApplication.activeModalWidget()
        sizes.append(dialog.size())
        dialog.reject()

    window = MainWindow()
    qtbot.addWidget(window)
    guide = QDialog(window)
    page = QWidget(guide)
    guide.show()
    QTimer.singleShot(0, look)
    assert desktop.ask_folder(page, "Folder of a model") is None
    guide.close()
    [size] = sizes
    assert size.height() < 360


def test_a_dialog_may_be_deleted_while_it_is_shown(qtbot):
    window = QWidget()
    dialog = QDialog(window)
    FitToScreen(dialog)
    dialog.show()
    with qtbot.capture_exceptions() as caught:
        window.deleteLater()
        QCoreApplication.sendPostedEvents(window, QEvent.Type.DeferredDelete)
    assert caught == []
