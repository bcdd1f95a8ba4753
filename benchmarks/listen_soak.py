"""Listen for an hour: does memory grow, does the lag, does anything stop?

espeak-ng says two sentences, is silent for a second, and so on. Gate, recogniser, commit and
translation are the real ones and take the sound as fast as they can, so an hour passes in minutes.
The lag is told in seconds of sound: how much had been heard when a word was placed in a caption's
source, after its own end.
"""

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.listen import Ears
from benchmarks.soak import resident_mib
from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.events import Event, SourceChanged
from engine.hub.bundled import bundled_models
from engine.speech.events import Heard
from tests.tiny_whisper.espeak import is_here
from tests.tiny_whisper.synthetic_speech import sentence, speech

_CHUNK = SAMPLE_RATE_HZ // 10
_PARTS = 6
COLUMNS = ("minute", "words said", "words committed", "lag s: median", "p95", "resident MiB")


class Talk:
    """A source that speaks until its time is over, made as it is read."""

    n_dropped = 0

    def __init__(self, seconds: float, seed: int) -> None:
        self._rng = random.Random(seed)
        self._end = round(seconds * SAMPLE_RATE_HZ)
        self._made = 0
        self._chunks = self._make()
        self.said: list[float] = []  # when each word ends
        self.heard_s = 0.0
        self.ended = False

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""
        self.ended = True

    def read(self, timeout_s: float) -> AudioChunk | None:  # noqa: ARG002  nothing is waited for
        """Return the next tenth of a second."""
        chunk = None if self.ended else next(self._chunks, None)
        self.ended = chunk is None
        self.heard_s = chunk.end_s if chunk else self.heard_s
        return chunk

    def _make(self) -> Iterator[AudioChunk]:
        while self._made < self._end:
            spoken = speech([sentence(self._rng) for _ in range(2)], self._rng)
            begun_s = self._made / SAMPLE_RATE_HZ
            self.said += [begun_s + word.end_s for word in spoken.words]
            sound = np.concatenate([spoken.samples, np.zeros(SAMPLE_RATE_HZ, np.float32)])
            for first in range(0, len(sound), _CHUNK):
                samples = sound[first : first + _CHUNK]
                start_s = self._made / SAMPLE_RATE_HZ
                self._made += len(samples)
                yield AudioChunk(samples=samples, start_s=start_s, heard_at_s=time.monotonic())


@dataclass(kw_only=True)
class Part:
    """What came in a part of the time.

    Attributes:
        lags: of the words committed in it, in seconds of sound.
        resident: MiB, the most that was seen.
    """

    lags: list[float] = field(default_factory=list)
    resident: float = 0.0


def listen(ears: Ears, talk: Talk, seconds: float) -> list[Part]:
    """Hear the talk to its end."""
    parts, placed = [Part() for _ in range(_PARTS)], dict[int, int]()

    def take(event: Heard | Event) -> None:
        part = parts[min(_PARTS - 1, int(talk.heard_s / seconds * _PARTS))]
        if isinstance(event, SourceChanged):
            n_before = placed.pop(event.utterance, 0)
            placed[event.utterance] = len(event.words)
            part.lags += [talk.heard_s - word.end_s for word in event.words[n_before:]]
            part.resident = max(part.resident, resident_mib())

    ears.listen(talk, take, live=False, wait_s=20 * seconds)
    return parts


def rows(parts: list[Part], talk: Talk, seconds: float) -> Iterator[tuple[str, ...]]:
    """Tell each part."""
    for number, part in enumerate(parts):
        begin_s, end_s = (seconds * edge / _PARTS for edge in (number, number + 1))
        said = sum(begin_s <= at_s < end_s for at_s in talk.said)
        median, p95 = np.percentile(part.lags, (50, 95)) if part.lags else (np.nan, np.nan)
        yield (
            f"{begin_s / 60:g} to {end_s / 60:g}", f"{said:,}", f"{len(part.lags):,}",
            f"{median:.2f}", f"{p95:.2f}", f"{part.resident:.1f}",
        )  # fmt: skip


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.listen_soak", description=__doc__)
    parser.add_argument("--asr", default="tests/assets/tiny-whisper", help="Whisper to use")
    parser.add_argument("--model", type=Path, help="folder of the translator")
    parser.add_argument("--policy", default="read:3")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if not is_here():
        parser.error("espeak-ng is not installed")
    seconds = 60 * given.minutes
    ears = Ears(given.asr, given.model or bundled_models()[0], given.policy)
    talk = Talk(seconds, given.seed)
    ears.session.start()
    begun_s = time.monotonic()
    parts = listen(ears, talk, seconds)
    took_s = time.monotonic() - begun_s
    ears.session.stop()
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|")
    for row in rows(parts, talk, seconds):
        print("| " + " | ".join(row) + " |")
    print(f"{talk.heard_s / took_s:.1f} seconds of sound in a second")


if __name__ == "__main__":
    main()
