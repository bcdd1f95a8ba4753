import pytest

from app.config.preferences import PRESETS
from app.look.contrast import contrast
from app.overlay.themes import theme

AA = 4.5  # WCAG 2.2, 1.4.3


def over(colour, below, opacity):
    share = opacity / 255
    return tuple(
        round(share * one + (1 - share) * other) for one, other in zip(colour, below, strict=True)
    )


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("below", [(0, 0, 0), (255, 255, 255), (200, 30, 30), (40, 40, 220)])
def test_captions_are_legible_whatever_lies_behind_the_overlay(preset, below):
    colours = theme(preset)
    box = over(colours.background, below, colours.opacity)
    assert contrast(colours.text, box) >= AA
    assert contrast(colours.quiet, box) >= AA


def test_the_contrast_of_black_and_white_is_21():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((9, 9, 9), (9, 9, 9)) == 1
