import pytest

from training.trainer.learning_rates import WarmUpStableDecay


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
