"""The picture of captions where their look is chosen: as the overlay would break and paint them."""

from dataclasses import replace

import pytest

from app.config.preferences import CaptionPreferences
from app.overlay.last_lines import CaptionPreview

LOOK = CaptionPreferences(smooth=False, characters=60, name_them="Ada")


@pytest.fixture
def preview(qtbot):
    one = CaptionPreview()
    qtbot.addWidget(one)
    one.resize(400, 100)
    one.show()
    return one


SOURCE = [
    "Good morning, everyone.",
    "Ada: The room is full today.",
    "Ada: We begin with a question.",
]
CAPTIONS = [
    "Guten Morgen zusammen.",
    "Ada: Der Saal ist heute voll.",
    "Ada: Wir beginnen mit einer Frage.",
]


@pytest.mark.parametrize(
    ("mode", "lines", "source"),
    [
        ("translate", CAPTIONS, []),
        ("both", CAPTIONS, SOURCE),
        ("captions only", SOURCE, []),
    ],
)
def test_it_shows_captions_of_the_mode_with_the_names_of_speakers(preview, mode, lines, source):
    preview.show_choices(replace(LOOK, mode=mode, lines=4))
    view = preview._text.view
    assert [line.text for line in view.lines] == lines
    assert [line.text for line in view.source] == source
    assert preview.accessibleDescription() == " ".join(lines)
    assert [line.doubtful for line in view.lines][-1] == (mode != "captions only")


def test_captions_without_room_are_smaller_and_in_the_middle(preview):
    colours = []
    for points in (14, 96):
        preview.show_choices(replace(LOOK, point_size=points, lines=1))
        picture = preview.grab().toImage()
        colours.append([picture.pixelColor(1, 50), picture.pixelColor(398, 50)])
    assert colours[0] == colours[1], "the edge is never covered"
    dark, light = (colour.lightness() for colour in colours[0])
    assert dark < 20
    assert light > 235
