"""Average token delay against its definition done slowly; SimulEval: ``test_simuleval_scores``."""

import random

import pytest

from engine.metrics.latency import average_token_delay


def chunk_ends(delay, earlier, token):
    """Ends of the source tokens that were read between two delays."""
    ends, at = [], earlier
    while at < delay:
        at = min(at + token, delay)
        ends.append(at)
    return ends


def slow_token_delay(delays, source_token=1, target_token=1):
    """Follow Kano et al. 2023, section 4, token by token, and count everything anew for each."""
    lags = []
    for t in range(1, len(delays) + 1):
        ends = {}  # chunk by its delay -> source tokens
        for delay, earlier in zip(delays, [0, *delays], strict=False):
            ends.setdefault(delay, chunk_ends(delay, earlier, source_token))
        now = delays[t - 1]
        x_before = sum(len(tokens) for delay, tokens in ends.items() if delay < now)
        y_before = sum(delay < now for delay in delays)
        s = t - max(0, y_before - x_before)
        x_now = [end for delay, tokens in ends.items() if delay <= now for end in tokens]
        source_end = ([0, *x_now])[min(s, len(x_now))]
        end = 0
        for i in range(t):
            end = max(delays[i], end) + target_token
        lags.append(end - source_end)
    return sum(lags) / len(lags)


def cases(seed, n=300):
    rng = random.Random(seed)
    for _ in range(n):
        length, n_words = rng.randint(1, 12), rng.randint(1, 15)
        yield sorted(rng.randint(0, length) for _ in range(n_words)), rng


def test_text_follows_the_definition():
    for delays, _ in cases(0):
        slow = slow_token_delay(delays)
        assert average_token_delay(delays) == pytest.approx(slow)


def test_speech_follows_the_definition():
    for words, rng in cases(1):
        delays = [word * 170 for word in words]
        lengths = {
            "source_token": rng.choice((100, 300)),
            "target_token": rng.choice((0, 50, 300)),
        }
        slow = slow_token_delay(delays, **lengths)
        assert average_token_delay(delays, **lengths) == pytest.approx(slow)


def test_what_cannot_be_delays_is_refused():
    with pytest.raises(ValueError, match="at least one written word"):
        average_token_delay([])
    with pytest.raises(ValueError, match=r"never fall .* got \[2, 1\]"):
        average_token_delay([2, 1])
    with pytest.raises(ValueError, match="not below zero"):
        average_token_delay([-1, 1])
