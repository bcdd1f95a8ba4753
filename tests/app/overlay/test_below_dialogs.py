import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog

from app.config.preferences import CaptionPreferences
from app.main_window.actions import Actions
from app.overlay.controller import BelowDialogs
from app.overlay.themes import theme_of
from app.overlay.toolbar import OverlayToolbar
from app.overlay.window import Overlay


@pytest.fixture
def overlay(qtbot):
    widget = Overlay(CaptionPreferences(smooth=False, characters=30))
    qtbot.addWidget(widget)
    BelowDialogs(widget)
    widget.put(QPoint(100, 200))
    widget.show()
    qtbot.waitExposed(widget)
    return widget


@pytest.fixture
def dialog(qtbot, overlay):
    made = QDialog()
    qtbot.addWidget(made)
    made.setGeometry(QRect(overlay.geometry().center(), overlay.size()))
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def is_there(overlay, point):
    """Return whether the overlay is painted at a point of the screen, and takes clicks there."""
    mask = overlay.mask()
    return mask.isEmpty() or mask.contains(point - overlay.pos())


def test_a_dialog_of_ours_is_not_covered(overlay, dialog, qtbot):
    inside = overlay.geometry().bottomRight() - QPoint(9, 9)
    outside = overlay.geometry().topLeft() + QPoint(9, 9)
    qtbot.waitUntil(lambda: not is_there(overlay, inside))
    assert is_there(overlay, outside)
    dialog.move(overlay.geometry().bottomRight() + QPoint(50, 50))
    qtbot.waitUntil(lambda: is_there(overlay, inside))
    dialog.move(overlay.pos())
    qtbot.waitUntil(lambda: not is_there(overlay, outside))
    dialog.close()
    assert is_there(overlay, inside)
    assert is_there(overlay, outside)


def test_a_dialog_of_ours_is_not_covered_by_the_bar_of_the_overlay_either(overlay, dialog, qtbot):
    actions = Actions()
    colours = theme_of(CaptionPreferences())
    bar = OverlayToolbar(overlay, actions.for_bar(), actions.lock, colours, inside=False)
    qtbot.addWidget(bar)
    BelowDialogs(bar)
    bar.linger()
    assert bar.isVisible()
    dialog.setGeometry(QRect(bar.geometry().center(), overlay.size()))
    inside, outside = bar.geometry().bottomRight(), bar.geometry().topLeft()
    qtbot.waitUntil(lambda: not is_there(bar, inside))
    assert is_there(bar, outside)
    dialog.close()
    assert is_there(bar, inside)


def test_a_dialog_on_the_whole_overlay_covers_it(overlay, dialog, qtbot):
    dialog.setGeometry(overlay.geometry().adjusted(-9, -9, 9, 9))
    middle = overlay.geometry().center()
    qtbot.waitUntil(lambda: not is_there(overlay, middle))


def test_other_programs_are_covered_though_a_dialog_of_ours_is_open(
    overlay, dialog, qtbot, monkeypatch
):
    inside = overlay.geometry().bottomRight() - QPoint(9, 9)
    qtbot.waitUntil(lambda: not is_there(overlay, inside))
    inactive = Qt.ApplicationState.ApplicationInactive
    monkeypatch.setattr(QGuiApplication, "applicationState", lambda: inactive)
    QGuiApplication.instance().applicationStateChanged.emit(inactive)
    assert is_there(overlay, inside)
    assert dialog.isVisible()
