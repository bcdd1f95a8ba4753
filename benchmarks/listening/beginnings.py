"""How late speech begins to be heard after a minute in which nobody spoke.

Each recording is heard after one second and after sixty of the same silence or noise (white, by its
level below full scale, in steps of 16 bits); told is where the detector begins to let it through.

    python -m benchmarks.listening.beginnings RECORDING...
    python -m benchmarks.listening.beginnings --cut-s 4 RECORDING...     # each in pieces of 4 s
"""

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.audio.chunks import AudioChunk, Samples
from engine.audio.decoder import Decoder
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.vad import SileroDetector, VadSettings, VoiceActivityDetector

LEVELS_DB = (None, -90, -80, -70, -60, -50)  # None: zeros
LATE_S = 0.05
_SHORT_S, _LONG_S = 1.0, 60.0
_STEPS = 1 << 15


def begins_at_s(before: Samples, speech: Samples) -> float:
    """Return when a recording begins to go through; infinite if it does not."""
    vad = VoiceActivityDetector(SileroDetector(), VadSettings())
    samples = np.concatenate([before, speech, np.zeros(SAMPLE_RATE_HZ, np.float32)])
    parts = vad.feed(AudioChunk(samples=samples, start_s=0.0)) + vad.flush()
    return next((part.start_s for part in parts), np.inf) - len(before) / SAMPLE_RATE_HZ


def pieces(path: Path, cut_s: float) -> Iterator[Samples]:
    """Yield a recording, or its pieces."""
    with contextlib.closing(Decoder(path)) as decoder:
        samples = np.concatenate([chunk.samples for chunk in decoder.chunks])
    step = round(cut_s * SAMPLE_RATE_HZ) or len(samples)
    yield from (samples[at : at + step] for at in range(0, len(samples) - step + 1, step))


def hushed(level_db: float | None) -> Samples:
    """Return the longer time without speech."""
    n_samples = round(_LONG_S * SAMPLE_RATE_HZ)
    if level_db is None:
        return np.zeros(n_samples, np.float32)
    noise = np.random.default_rng(0).standard_normal(n_samples) * 10 ** (level_db / 20)
    return (np.round(noise * _STEPS) / _STEPS).astype(np.float32)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.listening.beginnings", description=__doc__)
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--cut-s", type=float, default=0.0, help="0 for whole recordings")
    given = parser.parse_args()
    speeches = [piece for path in given.recordings for piece in pieces(path, given.cut_s)]
    columns = ("before", "recordings", "later by s: median", "most", "later than 50 ms")
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for level_db in LEVELS_DB:
        before = hushed(level_db)
        soon = before[: round(_SHORT_S * SAMPLE_RATE_HZ)]
        late_s = [begins_at_s(before, one) - begins_at_s(soon, one) for one in speeches]
        name = "zeros" if level_db is None else f"noise at {level_db} dB"
        n_late = sum(late > LATE_S for late in late_s)
        print(
            f"| {name} | {len(late_s)} | {np.median(late_s):.2f} | {max(late_s):.2f} | {n_late} |"
        )


if __name__ == "__main__":
    main()
