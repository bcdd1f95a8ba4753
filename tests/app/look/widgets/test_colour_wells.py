"""The colour of a scheme is told from the others by its shape."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor

from app.dialogs.settings.captions_page import ColourWells

NAVY = "#0b1f4b"


def corner(wells, value):
    """The colour beside the corner of a button, which a square fills and a disc does not."""
    return wells.well(value).grab().toImage().pixelColor(5, 6)


def test_the_colour_of_the_scheme_is_a_square_and_others_are_discs(qtbot):
    wells = ColourWells("As the scheme", [("Navy", NAVY)])
    qtbot.addWidget(wells)
    wells.show_scheme(NAVY)
    assert corner(wells, "") == QColor(NAVY)
    assert corner(wells, NAVY) != QColor(NAVY)


def test_a_colour_is_named_and_chosen_by_a_click_anywhere_on_it(qtbot, keeps_parts):
    wells = ColourWells("As the scheme", [("Navy", NAVY)])
    qtbot.addWidget(wells)
    keeps_parts(wells)
    wells.show()
    names = [(well.accessibleName(), well.toolTip()) for well in map(wells.well, ("", NAVY))]
    assert names == [("As the scheme",) * 2, ("Navy",) * 2]
    edge, told = QPoint(wells.well(NAVY).width() - 1, 0), []
    wells.chosen.connect(lambda: told.append(wells.value))
    qtbot.mouseClick(wells.well(NAVY), Qt.MouseButton.LeftButton, pos=edge)
    assert told == [NAVY]
    wells.show_value("#123456")
    assert wells.value == wells.well("#123456").toolTip() == "#123456"
