import random

from PySide6.QtGui import QColor, QImage

from tests.support.programs.small_picture import N_COLOURS, main, small


def picture_of(colours, width, height, rng):
    picture = QImage(width, height, QImage.Format.Format_RGB32)
    for y in range(height):
        for x in range(width):
            picture.setPixelColor(x, y, QColor(*rng.choice(colours)))
    return picture


def pixels(picture):
    return [
        picture.pixelColor(x, y).getRgb()[:3]
        for y in range(picture.height())
        for x in range(picture.width())
    ]


def test_a_picture_of_few_colours_stays_as_it_is_at_any_width():
    rng = random.Random(0)
    for width in (1, 3, 4, 17):
        colours = [tuple(rng.randrange(256) for _ in range(3)) for _ in range(40)]
        picture = picture_of(colours, width, 9, rng)
        assert pixels(small(picture)) == pixels(picture)


def test_of_many_colours_the_frequent_ones_stay_and_the_others_come_near():
    rng = random.Random(1)
    greys = [(value, value, value) for value in range(0, 256, 2)]
    blues = [(value, value, min(255, value + 40)) for value in range(0, 256, 2)]
    picture = picture_of([*greys * 9, *blues * 9, (13, 13, 13)], 90, 90, rng)
    before, after = pixels(picture), pixels(small(picture))
    assert len(set(after)) <= N_COLOURS
    for one, other in zip(before, after, strict=True):
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) <= 4


def test_a_rare_colour_unlike_all_others_stays():
    rng = random.Random(2)
    greys = [(value, value, value + rng.randrange(3)) for value in range(250)] * 4
    picture = picture_of(greys, 70, 70, rng)
    green = (40, 160, 60)
    picture.setPixelColor(5, 5, QColor(*green))
    assert small(picture).pixelColor(5, 5).getRgb()[:3] == green


def test_what_is_no_picture_is_named(tmp_path, monkeypatch, capsys):
    file = tmp_path / "it.png"
    file.write_text("no")
    monkeypatch.setattr("sys.argv", ["small_picture.py", str(file)])
    assert main() == 1
    assert "it.png" in capsys.readouterr().err
    assert file.read_text() == "no"
