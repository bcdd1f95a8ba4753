import itertools
import random

import pytest

from engine.audio.recorder import LEAST_LOSS_S, SampleClock

RATE_HZ = 16_000
BLOCK = 320


class Device:
    """Gives blocks of 20 ms at its own pace to a clock, late by what the computer adds."""

    def __init__(self, *, start_s=0.0, drift=0.0):
        self.clock = SampleClock(RATE_HZ, start_s=start_s, clock_s=1000.0 + start_s)
        self.time_s = 1000.0 + start_s
        self.placed = []  # (start_s, end_s)
        self._length_s = BLOCK / RATE_HZ * (1 + drift)

    def give(self, seconds, late_s=lambda: 0.0):
        for _ in range(round(seconds / self._length_s)):
            self.time_s += self._length_s
            start_s = self.clock.feed(BLOCK, self.time_s + late_s())
            self.placed.append((start_s, start_s + BLOCK / RATE_HZ))

    def lose(self, seconds):
        self.time_s += seconds


def gaps(placed):
    return [b[0] - a[1] for a, b in itertools.pairwise(placed) if b[0] - a[1] > 1e-9]


def test_blocks_follow_each_other_without_a_gap_however_late_they_are_read():
    for seed in range(10):
        rng = random.Random(seed)
        device = Device()
        device.give(60, lambda: rng.choice([0, 0.001, 0.05, 1.5]))  # noqa: B023  called at once
        assert gaps(device.placed) == []
        assert device.clock.lost_s == 0


@pytest.mark.parametrize("drift", [-3e-4, -1e-5, 1e-5, 3e-4])
def test_a_clock_that_is_not_quite_right_loses_nothing(drift):
    device = Device(drift=drift)
    device.give(3600)
    assert gaps(device.placed) == []
    assert device.clock.lost_s == 0


@pytest.mark.parametrize("lost_s", [0.25, 1.0, 1.9, 30.0])
def test_sound_that_never_came_is_counted_once_and_what_follows_is_later(lost_s):
    device = Device()
    device.give(20)
    device.lose(lost_s)
    device.give(20)
    assert device.clock.lost_s == pytest.approx(lost_s, abs=0.02)
    assert gaps(device.placed) == [pytest.approx(lost_s, abs=0.02)]
    assert device.placed[-1][1] == pytest.approx(40 + lost_s, abs=0.05)


def test_a_changed_buffer_is_no_loss():
    device = Device()
    device.give(20)
    device.give(20, lambda: LEAST_LOSS_S * 0.9)
    assert device.clock.lost_s == 0


def test_a_burst_at_the_beginning_is_no_loss():
    device = Device()
    for _ in range(100):
        device.clock.feed(BLOCK, device.time_s)
    device.give(30)
    assert device.clock.lost_s == 0


def test_the_first_block_begins_before_it_was_heard_but_not_before_the_stretch():
    assert SampleClock(RATE_HZ, start_s=3, clock_s=50).feed(RATE_HZ, 54.5) == pytest.approx(6.5)
    assert SampleClock(RATE_HZ, start_s=3, clock_s=50).feed(RATE_HZ, 50.5) == pytest.approx(3)
