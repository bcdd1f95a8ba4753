"""The colour of a scheme is told from the others by its shape."""

from PySide6.QtGui import QColor

from app.look.widgets.colour_wells import ColourWells

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
