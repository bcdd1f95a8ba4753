import pytest

from app.main_window.status_bar import StatusBar
from engine.events import Statistics

FIGURES = Statistics(
    tokens_fed=12_345,
    forwards=1,
    tokens_recomputed=0,
    probes=0,
    cached_rows=1,
    ms_per_word=12,
    ms_per_token=3.25,
)


@pytest.fixture
def strips(qtbot):
    def make(n_bytes):
        strip = StatusBar(measure_memory=lambda: n_bytes)
        qtbot.addWidget(strip)
        strip.show_statistics(FIGURES)
        return strip

    return make


def test_memory_and_time_of_a_token_stand_beside_the_other_figures(strips):
    strip = strips(1_234_567_890)
    told = strip.figures.text()
    assert told.startswith("12,345 tokens fed")
    assert told.endswith("12 ms per word  ·  3.2 ms per token  ·  1,235 MB")


def test_a_system_that_does_not_tell_its_memory_has_the_other_figures(strips):
    strip = strips(None)
    assert strip.figures.text().endswith("3.2 ms per token")


def test_what_has_no_room_in_one_line_goes_on_in_the_next(strips, qtbot):
    strip = strips(1)
    strip.show_state("a model with a name, loaded in 0.2 s")
    strip.show_listening("microphone: Built-in Audio Analogue Stereo")
    strip.show_lag("lag 1.9 s", "")
    strip.show()
    qtbot.waitExposed(strip)
    wide, narrow = strip.layout().heightForWidth(2000), strip.layout().heightForWidth(300)
    assert narrow > wide
    assert strip.layout().minimumSize().width() < 600


def test_the_tip_of_the_figures_wraps(strips):
    assert strips(1).figures.toolTip().startswith("<p>")  # Qt wraps no other tip
