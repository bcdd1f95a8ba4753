"""Listen for an hour: does memory grow, does the lag, does anything stop?

In one lane or two espeak-ng says two sentences, pauses, and so on; now and then the device vanishes
for a while, in a pause or in the middle of a word, and what is said then is not heard. Gate,
recogniser, commit and translation are the real ones and take the sound as fast as they can, so an
hour passes in minutes. The lag is told in seconds of sound: how much had been heard when a word was
placed in a caption's source, after its own end. Words are lost, double or out of order if their
numbers in the captions' sources, which the listener gives them, are not 1, 2, 3 and so on in each
lane. This program keeps some 30 bytes of each word.
"""

import argparse
import itertools
import random
import subprocess
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.listen import Ears
from benchmarks.soak import resident_mib
from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.events import Event, SourceChanged, UtteranceOpened
from engine.hub.bundled import bundled_models
from engine.speech.events import Heard
from engine.speech.listener import Lane
from tests.tiny_whisper.synthetic_speech import sentence, speech
from training.research.speech.espeak import is_here

_CHUNK = SAMPLE_RATE_HZ // 10
_PARTS = 6
_VANISHES_EVERY, _VANISHED_S = 10, 7.5  # pairs of sentences; seconds that nothing records
_SHORTEST_PAUSE_S = 1.0
COLUMNS = ("minute", "words said", "words committed", "lag s: median", "p95", "resident MiB")


class Talk:
    """A source that speaks until its time is over, made as it is read."""

    n_dropped = 0

    def __init__(self, seconds: float, seed: int, longest_pause_s: float) -> None:
        self._longest_pause_s = longest_pause_s
        self._rng = random.Random(seed)
        self._end = round(seconds * SAMPLE_RATE_HZ)
        self._made = 0
        self.n_vanished = 0
        self._chunks = self._make()
        self.said = array("d")  # when each word ends
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
        n_said = 0
        while self._made < self._end:
            n_said += 1
            spoken = speech([sentence(self._rng) for _ in range(2)], self._rng)
            pause_s = self._rng.uniform(_SHORTEST_PAUSE_S, self._longest_pause_s)
            pause = np.zeros(round(pause_s * SAMPLE_RATE_HZ), np.float32)
            sound = np.concatenate([spoken.samples, pause])
            vanishes = n_said % _VANISHES_EVERY == 0
            if vanishes and self.n_vanished % 2:
                sound = sound[: self._rng.randrange(len(spoken.samples))]
            begun_s, heard_s = self._made / SAMPLE_RATE_HZ, len(sound) / SAMPLE_RATE_HZ
            self.said.extend(begun_s + it.end_s for it in spoken.words if it.end_s <= heard_s)
            for first in range(0, len(sound), _CHUNK):
                samples = sound[first : first + _CHUNK]
                start_s = self._made / SAMPLE_RATE_HZ
                self._made += len(samples)
                yield AudioChunk(samples=samples, start_s=start_s, heard_at_s=time.monotonic())
            if vanishes:
                self.n_vanished += 1
                self._made += round(_VANISHED_S * SAMPLE_RATE_HZ)


@dataclass(kw_only=True)
class Part:
    """What came in a part of the time.

    Attributes:
        lags: of the words committed in it, in seconds of sound.
        resident: MiB, the most that was seen.
    """

    lags: "array[float]" = field(default_factory=lambda: array("d"))
    resident: float = 0.0


class Watch:
    """What came of all lanes.

    Attributes:
        parts: of the time.
    """

    def __init__(self, talks: Mapping[str, Talk], seconds: float) -> None:
        self.parts = [Part() for _ in range(_PARTS)]
        self._talks, self._seconds = talks, seconds
        self._lanes = dict[int, str]()
        self._numbers: dict[int, array[int]] = {}  # of the words, by utterance

    def __call__(self, event: Heard | Event) -> None:
        """Take an event."""
        if isinstance(event, UtteranceOpened):
            self._lanes[event.utterance] = event.lane
        if isinstance(event, SourceChanged):
            n_before = len(self._numbers.get(event.utterance, ()))
            self._numbers[event.utterance] = array("I", (word.number for word in event.words))
            talk = self._talks[self._lanes[event.utterance]]
            number = min(_PARTS - 1, int(talk.heard_s / self._seconds * _PARTS))
            part = self.parts[number]
            if not part.resident:
                sys.stderr.write(f"part {number + 1} of {_PARTS}\n")
            part.lags.extend(talk.heard_s - word.end_s for word in event.words[n_before:])
            part.resident = max(part.resident, resident_mib())

    def disorder(self) -> tuple[int, int, int]:
        """Return how many words are lost, double and out of order."""
        lost = double = unordered = 0
        for lane in self._talks:
            numbers = [
                number
                for utterance in sorted(self._numbers)
                if self._lanes[utterance] == lane
                for number in self._numbers[utterance]
            ]
            lost += len(set(range(1, max(numbers, default=0) + 1)) - set(numbers))
            double += len(numbers) - len(set(numbers))
            unordered += sum(b < a for a, b in itertools.pairwise(numbers))
        return lost, double, unordered


def rows(parts: list[Part], talks: Iterable[Talk], seconds: float) -> Iterator[tuple[str, ...]]:
    """Tell each part."""
    for number, part in enumerate(parts):
        begin_s, end_s = (seconds * edge / _PARTS for edge in (number, number + 1))
        said = sum(begin_s <= at_s < end_s for talk in talks for at_s in talk.said)
        median, p95 = np.percentile(part.lags, (50, 95)) if part.lags else (np.nan, np.nan)
        yield (
            f"{begin_s / 60:g} to {end_s / 60:g}", f"{said:,}", f"{len(part.lags):,}",
            f"{median:.2f}", f"{p95:.2f}", f"{part.resident:.1f}",
        )  # fmt: skip


def busy(n: int) -> ExitStack:
    """Start processes that compute until they are left."""
    running = ExitStack()
    for _ in range(n):
        process = running.enter_context(subprocess.Popen([sys.executable, "-c", "while 1: 1"]))
        running.callback(process.kill)
    return running


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.listening.soak", description=__doc__)
    parser.add_argument(
        "--asr", default="tests/assets/tiny-whisper", help="folder of a speech model"
    )
    parser.add_argument("--model", type=Path, help="folder of the translator")
    parser.add_argument("--policy", default="read:3")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--lanes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest-pause-s", type=float, default=_SHORTEST_PAUSE_S)
    parser.add_argument("--busy", type=int, default=0, help="processes that compute beside it")
    given = parser.parse_args(arguments)
    if not is_here():
        parser.error("espeak-ng is not installed")
    seconds = 60 * given.minutes
    ears = Ears(given.asr, given.model or bundled_models()[0], given.policy)
    names = ("me", "them")[: given.lanes] if given.lanes > 1 else ("",)
    pause_s = given.longest_pause_s
    talks = {name: Talk(seconds, given.seed + n, pause_s) for n, name in enumerate(names)}
    watch = Watch(talks, seconds)
    ears.session.start()
    begun_s = time.monotonic()
    lanes = [Lane(name=name, source=talk, live=False) for name, talk in talks.items()]
    with busy(given.busy):
        ears.listen(lanes, watch, wait_s=20 * seconds)
    took_s = time.monotonic() - begun_s
    ears.session.stop()
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|")
    for row in rows(watch.parts, talks.values(), seconds):
        print("| " + " | ".join(row) + " |")
    lost, double, unordered = watch.disorder()
    n_vanished = sum(talk.n_vanished for talk in talks.values())
    print(
        f"{lost} words lost, {double} double, {unordered} out of order; {n_vanished} devices gone"
    )
    print(f"{seconds * given.lanes / took_s:.1f} seconds of sound in a second")


if __name__ == "__main__":
    main()
