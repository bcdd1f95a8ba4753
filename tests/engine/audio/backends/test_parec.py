"""The tap without a server: programs of our own stand in for ``parec``."""

import sys

import numpy as np
import pytest

from engine.audio.backends.pulse import ParecTap
from engine.errors import TapEndedError

SAMPLES = np.random.default_rng(0).uniform(-1, 1, 5000).astype(np.float32)


def tap(script, *arguments):
    return ParecTap([sys.executable, "-c", f"import os, sys, time\n{script}", *arguments], 16_000)


def read_to_the_end(tap):
    parts = [np.zeros(0, np.float32)]
    try:
        while True:
            parts.append(tap.read(1))
    except TapEndedError as ended:
        return np.concatenate(parts), str(ended)


def test_samples_that_are_cut_in_two_come_out_whole(tmp_path):
    (tmp_path / "sound").write_bytes(SAMPLES.tobytes())
    script = """
sound, at = open(sys.argv[1], "rb").read(), 0
while at < len(sound):
    at += os.write(1, sound[at : at + 1 + at * 7 % 61])
    time.sleep(0.0005)
"""
    samples, _ = read_to_the_end(tap(script, str(tmp_path / "sound")))
    assert np.array_equal(samples, SAMPLES)


def test_what_was_read_is_not_changed_by_reading_on(tmp_path):
    (tmp_path / "sound").write_bytes(SAMPLES.tobytes())
    script = "os.write(1, open(sys.argv[1], 'rb').read()); time.sleep(9)"
    recording = tap(script, str(tmp_path / "sound"))
    first = recording.read(5)
    kept = first.copy()
    recording.read(0)
    recording.close()
    assert np.array_equal(first, kept)


def test_a_move_is_seen_even_if_it_is_told_in_pieces():
    script = """
os.write(2, b"Time: 1.0 sec\\rStream moved to dev")
time.sleep(0.1)
os.write(2, b"ice b\\xc3\\xbcro (12, not suspended).\\x1b[K\\nTime: 2")
os.write(1, bytes(4))
time.sleep(9)
"""
    recording = tap(script)
    assert recording.moved_to is None
    while recording.moved_to is None:
        recording.read(0.05)
    assert recording.moved_to == 12
    recording.close()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Opening.\\nConnection failure: Connection refused\\nmore", "Connection refused"),
        ("Stream error: No such entity\\n", "No such entity"),
        ("", "it ended"),
    ],
)
def test_the_end_has_a_reason(said, reason):
    samples, message = read_to_the_end(tap(f"sys.stderr.write('{said}')"))
    assert len(samples) == 0
    assert message.endswith(reason)
