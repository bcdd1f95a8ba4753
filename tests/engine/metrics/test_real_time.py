"""Delays that contain computing: by hand, against a clock that is stepped, and OmniSTEval."""

import random

import pytest

from engine.metrics.latency import (
    queue_starts,
    real_time_delays,
    simuleval_delays,
)
from tests.support import run_folders


def translation(delays, emitted_ms, ms):
    return run_folders.translation(
        source=("x",) * len(ms),
        hypothesis=" ".join("y" * len(delays)),
        delays=tuple(delays),
        emitted_ms=tuple(emitted_ms),
        ms=tuple(ms),
    )


def drawn(seed, most_ms, n=300):
    """Draw translations whose words take up to so many milliseconds."""
    rng = random.Random(seed)
    for _ in range(n):
        length = rng.randint(1, 12)
        ms = [rng.choice((0.0, rng.uniform(0, most_ms))) for _ in range(length)]
        delays = sorted(rng.randint(1, length) for _ in range(rng.randint(1, 15)))
        emitted = [0.0] * len(delays)
        for word in set(delays):
            places = [place for place, delay in enumerate(delays) if delay == word]
            times = sorted(rng.uniform(0, ms[word - 1]) for _ in places)
            for place, time in zip(places, times, strict=True):
                emitted[place] = time
        yield translation(delays, emitted, ms), rng.choice((50.0, 333.3, 400.0))


def test_work_starts_when_its_word_has_come_and_the_work_before_is_done():
    made = translation([1, 2, 2, 4], [50, 0, 100, 20], [60, 200, 0, 30])
    # words come at 100, 200, 300, 400 ms; work starts at 100, 200, 400, 400
    assert queue_starts(made.ms, 100) == [1, 2, 4, 4]
    assert real_time_delays(made, 100) == pytest.approx([1.5, 2, 3, 4.2])


def test_simuleval_adds_up_all_computing():
    made = translation([1, 2, 2, 4], [50, 0, 100, 20], [60, 200, 0, 30])
    assert simuleval_delays(made, 100) == pytest.approx([1.5, 2.6, 3.6, 6.8])


def test_without_computing_delays_are_the_plain_ones_exactly():
    for made, _ in drawn(0, 0.0):
        for word_ms in (0.1, 1 / 3, 333.3, 400.0):
            assert real_time_delays(made, word_ms) == list(made.delays)
            assert simuleval_delays(made, word_ms) == list(made.delays)


def simulated(made, word_ms):
    """Step a clock from event to event: words come to a queue, one is worked on at a time."""
    now, queue, arrivals = 0.0, [], [(n + 1) * word_ms for n in range(len(made.ms))]
    seen = {}
    while arrivals or queue:
        if not queue:
            now = max(now, arrivals[0])
        while arrivals and arrivals[0] <= now:
            arrivals.pop(0)
            queue.append(len(made.ms) - len(arrivals))
        word = queue.pop(0)
        for place, delay in enumerate(made.delays):
            if delay == word:
                seen[place] = (now + made.emitted_ms[place]) / word_ms
        now += made.ms[word - 1]
    return [seen[place] for place in range(len(made.delays))]


@pytest.mark.parametrize("most_ms", [100, 500, 2000])
def test_the_queue_is_what_a_clock_would_show(most_ms):
    for made, word_ms in drawn(1, most_ms):
        assert real_time_delays(made, word_ms) == pytest.approx(simulated(made, word_ms))


def test_what_cannot_be_is_refused():
    made = translation([1], [0], [1])
    for word_ms in (0, -1, float("nan")):
        for measure in (real_time_delays, simuleval_delays):
            with pytest.raises(ValueError, match="milliseconds apart, got"):
                measure(made, word_ms)
    for delays in ([0], [2]):
        with pytest.raises(ValueError, match=r"words 1 to 1, got \("):
            real_time_delays(translation(delays, [0], [1]))
