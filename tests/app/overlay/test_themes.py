import pytest

from app.config.preferences import LEAST_OPACITY, PRESETS, CaptionPreferences
from app.look.palette import contrast
from app.overlay.themes import theme_of

AA = 4.5  # WCAG 2.2, 1.4.3


def over(colour, below, opacity):
    share = opacity / 255
    return tuple(
        round(share * one + (1 - share) * other) for one, other in zip(colour, below, strict=True)
    )


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("below", [(0, 0, 0), (255, 255, 255), (200, 30, 30), (40, 40, 220)])
def test_captions_are_legible_whatever_lies_behind_the_overlay(preset, below):
    colours = theme_of(CaptionPreferences(preset=preset))
    box = over(colours.background, below, colours.opacity)
    for colour in (colours.text, colours.quiet, *colours.lanes.values()):
        assert contrast(colour, box) >= AA


@pytest.mark.parametrize("preset", PRESETS)
def test_two_speakers_have_two_colours_and_neither_is_that_of_the_text(preset):
    colours = theme_of(CaptionPreferences(preset=preset))
    assert len({colours.text, *colours.lanes.values()}) == 3


def test_own_colours_and_opacity_replace_those_of_the_preset():
    own = CaptionPreferences(text_colour="#ffe600", background_colour="#0b1f4b", opacity=0.5)
    colours = theme_of(own)
    assert (colours.text, colours.background, colours.rim) == (
        (255, 230, 0),
        (11, 31, 75),
        (11, 31, 75),
    )
    assert colours.opacity == 128
    assert theme_of(CaptionPreferences(opacity=0.5)).text == (255, 255, 255)


@pytest.mark.parametrize("text", ["#ffffff", "#000000", "#ffa8d8", "#808080"])
@pytest.mark.parametrize("box", ["#ffffff", "#000000", "#4a0f0f", "#777777"])
@pytest.mark.parametrize("opacity", [LEAST_OPACITY, 0.6, 1.0])
def test_other_colours_are_as_legible_as_the_text_or_legible_enough(text, box, opacity):
    own = {"text_colour": text, "background_colour": box, "opacity": opacity}
    colours = theme_of(CaptionPreferences(**own, outline=False))
    for below in ((0, 0, 0), (255, 255, 255)):
        behind = over(colours.background, below, colours.opacity)
        least = min(AA, contrast(colours.text, behind)) - 0.01
        for colour in (colours.quiet, *colours.lanes.values()):
            assert contrast(colour, behind) >= least
    colours = theme_of(CaptionPreferences(**own))
    least = min(AA, contrast(colours.text, colours.rim)) - 0.01
    for colour in (colours.quiet, *colours.lanes.values()):
        assert contrast(colour, colours.rim) >= least


def test_the_contrast_of_black_and_white_is_21():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((9, 9, 9), (9, 9, 9)) == 1
