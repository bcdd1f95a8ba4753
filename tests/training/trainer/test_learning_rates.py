import pytest

from training.settings import Optimisation
from training.trainer.learning_rates import (
    InverseSquareRoot,
    LinearFall,
    WarmUpStableDecay,
    make_rates,
)


def test_the_rate_rises_by_steps_stays_and_falls_by_the_share_of_the_run():
    rates = WarmUpStableDecay(peak=2.0, warm_up_steps=4, decay=0.2)
    assert [rates.rate(step, 0.0) for step in range(4)] == [0.5, 1.0, 1.5, 2.0]
    assert rates.rate(100, 0.5) == 2.0
    assert rates.rate(100, 0.8) == pytest.approx(2.0)
    assert rates.rate(100, 0.9) == pytest.approx(1.0)
    assert rates.rate(100, 1.0) == pytest.approx(0.002)


def test_without_a_decay_the_rate_stays_to_the_end():
    rates = WarmUpStableDecay(peak=2.0, warm_up_steps=0, decay=0.0)
    assert {rates.rate(step, done) for step in (0, 9) for done in (0.0, 0.5, 1.0)} == {2.0}


def test_before_its_fall_a_rate_does_not_depend_on_how_long_the_run_is():
    rates = WarmUpStableDecay(peak=1.0, warm_up_steps=3, decay=0.25)
    for step in range(50):
        assert rates.rate(step, step / 1000) == rates.rate(step, step / 100 * 0.7)


def test_a_linear_fall_rises_for_its_share_and_ends_just_above_nothing():
    rates = LinearFall(peak=2.0, warm_up=0.25)
    shares = (0.0, 0.125, 0.25, 0.625, 1.0)
    assert [rates.rate(0, done) for done in shares] == pytest.approx([0.002, 1, 2, 1, 0.002])
    assert LinearFall(peak=2.0, warm_up=0.0).rate(0, 0.0) == 2.0


def test_the_root_falls_with_the_steps_taken():
    rates = InverseSquareRoot(peak=2.0, warm_up_steps=4)
    assert [rates.rate(step, 0.5) for step in (0, 3, 15)] == [0.5, 2.0, 1.0]
    assert InverseSquareRoot(peak=2.0, warm_up_steps=0).rate(0, 0.0) == 2.0


@pytest.mark.parametrize(
    ("fall", "n_steps", "made"),
    [
        ("root", 40, InverseSquareRoot(3.0, 4)),
        ("late", 40, WarmUpStableDecay(3.0, 4, 0.3)),
        ("linear", 40, LinearFall(3.0, 0.1)),
        ("linear", 6, LinearFall(3.0, 0.5)),
        ("linear", 0, LinearFall(3.0, 0.5)),
    ],
)
def test_settings_name_the_fall(fall, n_steps, made):
    settings = Optimisation(rate=3.0, warm_up_steps=4, decay=0.3, fall=fall)
    assert make_rates(settings, n_steps) == made
