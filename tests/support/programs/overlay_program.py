"""The overlay above another window on a real screen, with a hand on the mouse; prints what came.

scripts/with-display .venv/bin/python -m tests.support.programs.overlay_program
"""

import json
import subprocess
import sys

from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.captions.line_breaking import Line
from app.config.preferences import CaptionPreferences
from app.main_window.actions import Actions
from app.overlay.text_layout import OverlayView
from app.overlay.themes import theme_of
from app.overlay.toolbar import OverlayToolbar
from app.overlay.window import Overlay
from tests.support.programs.run import waited as wait


class Below(QWidget):
    """A window that counts clicks."""

    def __init__(self):
        super().__init__()
        self.clicks = 0

    def mousePressEvent(self, _event):  # noqa: N802  Qt's name
        self.clicks += 1


def xdotool(*arguments):
    """Move the mouse as a person would; the event loop goes on meanwhile."""
    process = subprocess.Popen(["xdotool", *map(str, arguments)])
    while process.poll() is None:
        QTest.qWait(10)
    QTest.qWait(150)


def click_at(point):
    xdotool("mousemove", point.x(), point.y(), "click", "1")


def drag(start, by):
    xdotool("mousemove", start.x(), start.y(), "mousedown", "1")
    for share in (0.25, 0.5, 0.75, 1.0):
        xdotool("mousemove", start.x() + by.x() * share, start.y() + by.y() * share)
    xdotool("mouseup", "1")


def darkness_at(qt, point):
    """Tell how bright the screen is where the overlay has no text."""
    picture = qt.primaryScreen().grabWindow(0).toImage()
    return picture.pixelColor(point + QPoint(150, 25)).lightness()


def set_up():
    below = Below()
    below.setGeometry(0, 0, 1200, 760)
    below.show()
    overlay = Overlay(CaptionPreferences(characters=30, smooth=False))
    overlay.show_view(OverlayView(lines=(Line(text="Guten Morgen"),)))
    overlay.show_whole(whole=True)  # as the bar does where there is one
    overlay.put(QPoint(200, 300))
    overlay.show()
    QTest.qWaitForWindowExposed(overlay)
    below.activateWindow()
    below.raise_()
    wait(below.isActiveWindow)
    QTest.qWait(200)
    return below, overlay


def box_of(overlay):
    """Where the overlay is painted on the screen, and takes clicks."""
    return overlay.box.translated(overlay.pos())


def try_lock(qt, below, overlay, found):
    before = overlay.geometry()
    for name, locked in (("locked", True), ("unlocked", False)):
        overlay.set_locked(locked=locked)
        QTest.qWait(400)  # until the window that was there before has gone from the screen
        found[f"on_top_{name}"] = wait(lambda: darkness_at(qt, overlay.geometry().center()) < 150)
        click_at(overlay.geometry().center())
        if locked:
            wait(lambda: below.clicks > 0)
        found[f"clicks_through_{name}"] = below.clicks
        found[f"{name}_stays"] = wait(lambda: overlay.geometry() == before and overlay.isVisible())


def try_full_screen(qt, below, overlay):
    """Let another window fill the screen, as slides and calls do."""
    below.showFullScreen()
    wait(below.isActiveWindow)
    QTest.qWait(400)
    is_seen = wait(lambda: darkness_at(qt, overlay.geometry().center()) < 150)
    below.showNormal()
    wait(below.isActiveWindow)
    QTest.qWait(200)
    return is_seen


def try_drag(overlay):
    before = overlay.pos()
    drag(overlay.geometry().center(), QPoint(80, 60))
    return wait(lambda: overlay.pos() == before + QPoint(80, 60))


def try_edge(overlay):
    wanted = []
    overlay.size_wanted.connect(lambda characters, lines: wanted.append((characters, lines)))
    edge = QPoint(overlay.geometry().right() - 3, overlay.geometry().center().y())
    drag(edge, QPoint(120, 0))
    before = overlay.width()
    wait(lambda: bool(wanted))
    wait(lambda: overlay.width() < before + 100)  # nobody here takes the new size
    QTest.qWait(200)
    return wanted[-1] if wanted else None


def try_bar(overlay):
    """Use the bar as a hand on the mouse does: hover, lock, and back."""
    xdotool("mousemove", 5, 5)
    actions = Actions()
    actions.lock.toggled.connect(lambda locked: overlay.set_locked(locked=locked))
    colours = theme_of(CaptionPreferences())
    bar = OverlayToolbar(overlay, actions.for_bar(), actions.lock, colours, inside=False)
    bar.settle()
    found = {"bar_waits": not bar.isVisible()}
    middle = box_of(overlay).center()
    xdotool("mousemove", middle.x(), middle.y())
    found["bar_comes"] = wait(bar.isVisible)
    found["bar_is_above"] = wait(lambda: bar.geometry().bottom() + 1 == overlay.geometry().top())
    click_at(bar.way_back.mapToGlobal(bar.way_back.rect().center()))
    found["bar_locks"] = wait(lambda: overlay.is_locked)
    xdotool("mousemove", 5, 5)
    found["bar_goes_from_locked"] = wait(lambda: not bar.isVisible())
    corner = box_of(overlay).topRight() + QPoint(-8, 8)
    xdotool("mousemove", corner.x(), corner.y())
    found["bar_comes_to_locked"] = wait(bar.isVisible)
    click_at(bar.way_back.mapToGlobal(bar.way_back.rect().center()))
    found["bar_unlocks"] = wait(lambda: not overlay.is_locked)
    xdotool("mousemove", 5, 5)
    found["bar_goes"] = wait(lambda: not bar.isVisible())
    bar.close()
    return found


def main():
    qt = QApplication(["surtitle"])
    below, overlay = set_up()
    found = {"on_top": wait(lambda: darkness_at(qt, overlay.geometry().center()) < 150)}
    middle = overlay.geometry().center()
    click_at(middle)
    found["clicks_through_open"] = below.clicks
    found["on_top_of_full_screen"] = try_full_screen(qt, below, overlay)
    found["dragged"] = try_drag(overlay)
    found["size_wanted"] = try_edge(overlay)
    try_lock(qt, below, overlay, found)
    found["dragged_again"] = try_drag(overlay)
    found["size_wanted_again"] = try_edge(overlay)
    found |= try_bar(overlay)
    sys.stdout.write(json.dumps(found) + "\n")
    overlay.close()
    below.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
