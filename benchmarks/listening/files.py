"""Measure how long the captions of a recording take, and how wrong its words are.

Real recordings (``--speech FOLDER`` with its ``transcripts.tsv``) follow each other with pauses
until ``--minutes`` are full. They are captioned as a file of nobody who waits (each piece heard
once, each sentence read to its end), and with ``--live-too`` as if they were live, at full speed.
"""

import argparse
import os
import random
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.listen import Ears, Run, keys, read, recordings, write_sound
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.audio.sources import AudioSources
from engine.hub.bundled import bundled_models
from engine.models.resolve import POLICY_OF_RECORDINGS, STANDARD_POLICY
from engine.speech.listener import Lane
from tests.support.sounds import n_edits

PAUSES_S = 0.3, 2.5
"""Bounds of the pauses, which are drawn from a seed."""


def write_talk(path: Path, folder: Path, minutes: float) -> tuple[str, float]:
    """Write a recording of so many minutes; return what is said in it, and its seconds."""
    rng = random.Random(1)
    said, parts, n_samples = list[str](), list[np.ndarray[tuple[int], np.dtype[np.float32]]](), 0
    found = [
        (read(AudioSources().file(p, print, real_time=False)), t) for p, t in recordings(folder)
    ]
    noise = np.random.default_rng(0)
    while n_samples < minutes * 60 * SAMPLE_RATE_HZ:
        samples, text = rng.choice(found)
        pause = round(rng.uniform(*PAUSES_S) * SAMPLE_RATE_HZ)
        parts += [samples, noise.normal(0, 1e-4, pause).astype(np.float32)]
        said.append(text)
        n_samples += len(samples) + pause
    write_sound(path, np.concatenate(parts))
    return " ".join(said), n_samples / SAMPLE_RATE_HZ


def main() -> None:
    """Measure, and print rows."""
    parser = argparse.ArgumentParser(prog="benchmarks.listening.files", description=__doc__)
    parser.add_argument("--asr", required=True, help="folder of a speech model")
    parser.add_argument("--speech", type=Path, required=True, help="folder of recordings")
    parser.add_argument("--model", type=Path, help="folder of the translator")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--live-too", action="store_true", help="also as if it were live")
    given = parser.parse_args()
    print("| how | sound s | computing s | ratio | processor s for a second | words wrong % |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "talk.wav"
        said, sound_s = write_talk(path, given.speech, given.minutes)
        ways = {"as a recording": (True, POLICY_OF_RECORDINGS)}
        ways |= {"as if live": (False, STANDARD_POLICY)} if given.live_too else {}
        for way, (whole, policy) in ways.items():
            ears = Ears(given.asr, given.model or bundled_models()[0], policy)
            ears.session.start()
            source, run = AudioSources().file(path, print, real_time=False), Run()
            before_s, before = time.monotonic(), sum(os.times()[:4])
            lane = Lane(name="", source=source, live=False, whole=whole)
            ears.listen([lane], run, wait_s=20 * sound_s + 60)
            took_s, used_s = time.monotonic() - before_s, sum(os.times()[:4]) - before
            ears.session.stop()
            wrong = 100 * n_edits(keys(said), keys(" ".join(run.heard))) / len(keys(said))
            print(
                f"| {way} | {sound_s:.0f} | {took_s:.0f} | {took_s / sound_s:.2f} "
                f"| {used_s / sound_s:.3f} | {wrong:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
