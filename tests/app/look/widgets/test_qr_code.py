import pytest
import segno

from app.dialogs.share_dialog import QrCode

LINK = "http://192.0.2.7:8753/r/abcdefgh"


@pytest.mark.parametrize("size", [(140, 140), (300, 203)])
def test_a_code_has_its_squares_and_a_light_border_whatever_the_place(qtbot, size):
    code = QrCode()
    qtbot.addWidget(code)
    code.resize(*size)
    code.show_text("something before")
    code.show_text(LINK)
    matrix = [list(row) for row in segno.make(LINK, error="m", micro=False).matrix]
    n_wide = len(matrix) + 8
    side = min(size) // n_wide
    left, top = ((one - side * n_wide) // 2 for one in size)
    image = code.grab().toImage()

    def is_dark(column, row):
        at = left + side * column + side // 2, top + side * row + side // 2
        return image.pixelColor(*at).lightness() < 128

    found = [[is_dark(x, y) for x in range(n_wide)] for y in range(n_wide)]
    border = [0] * 4
    expected = (
        [[0] * n_wide] * 4 + [[*border, *row, *border] for row in matrix] + [[0] * n_wide] * 4
    )
    assert found == [[bool(one) for one in row] for row in expected]
    edges = image.pixelColor(left, top), image.pixelColor(left + side * n_wide - 1, top)
    assert {edge.name() for edge in edges} == {"#ffffff"}
