"""Measure listening: words that come out wrong, the lag of every stage, words nobody said.

Speech is made by espeak-ng, or read from ``--speech FOLDER`` with its ``transcripts.tsv``. Each
recording is heard at its own pace, as from a microphone, through gate, recogniser, commit and
translation; then it is given to the recogniser as a whole. The difference is what streaming costs.
"""

import argparse
import datetime as dt
import json
import platform
import random
import tempfile
import time
import wave
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.audio.chunks import AudioSource, Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.audio.sources import AudioSources
from engine.events import CaptionChanged, Event, Ready, SourceChanged
from engine.hub.catalogue import bundled_models
from engine.metrics.latency import WordLags
from engine.models.model_card import read_card
from engine.session.session import Session
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings
from engine.speech.events import Heard
from engine.speech.hypothesis import same_word_key
from engine.speech.listener import Lane, Listener, Recognition
from engine.speech.recognizer import SpeechModel
from engine.speech.speech_models import load_speech_model
from engine.speech.streaming import StreamingModel
from engine.utterances import UtteranceTracker
from tests.support.sounds import music, n_edits, silence, white_noise
from tests.tiny_whisper.synthetic_speech import sentence, speech
from training.research.speech_corpus import is_here

if TYPE_CHECKING:
    from engine.events import FedWord

WAIT_S = 600.0


class Run:
    """What came of one recording."""

    def __init__(self) -> None:
        self.words: dict[int, tuple[FedWord, ...]] = {}
        self.captions: dict[int, str] = {}
        self.n_erased = 0

    def __call__(self, event: Heard | Event) -> None:
        """Take an event."""
        if isinstance(event, SourceChanged):
            self.words[event.utterance] = event.words
        elif isinstance(event, CaptionChanged):
            before = self.captions.get(event.utterance, "")
            self.n_erased += len(before) - event.kept
            self.captions[event.utterance] = before[: event.kept] + event.text

    @property
    def heard(self) -> list[str]:
        """List the committed words."""
        return [word.text for words in self.words.values() for word in words]


class Ears:
    """A recogniser and a session, loaded once."""

    def __init__(self, asr: str, model: Path, policy: str) -> None:
        self.model = load_speech_model(Path(asr), "auto", "en")
        card = read_card(model)
        self._take: Callable[[Event], None] = lambda _event: None
        self.session = Session(
            ModelSettings(directory=model),
            TranslationSettings(
                policy=policy,
                layout=LayoutSettings(slot_length=card.slot_length, name=card.layout),
            ),
            self._report,
        )
        self.lags: dict[str, list[tuple[int, float, float]]] = {}
        self.ready = False

    def _report(self, event: Event) -> None:
        self.ready |= isinstance(event, Ready)
        self._take(event)

    def hear(self, source: AudioSource, *, live: bool) -> Run:
        """Hear a source to its end."""
        run = Run()
        lags = self.listen([Lane(name="", source=source, live=live)], run, wait_s=WAIT_S)
        for lag in lags.heard():
            entry = (lag.n_words, lag.median_s, lag.p95_s)
            self.lags.setdefault(lag.stage, []).append(entry)
        return run

    def listen(
        self, lanes: Sequence[Lane], take: Callable[[Heard | Event], None], *, wait_s: float
    ) -> WordLags:
        """Hear sources to their ends, as somebody on whose screen captions stand at once."""
        lags, utterances = WordLags(), UtteranceTracker()

        def take_session(event: Event) -> None:
            take(event)
            listener.take(event)
            utterance = utterances.take(event, time.monotonic())
            if utterance is not None:
                lags.take(utterance, time.monotonic())
                lags.painted(utterance, time.monotonic())

        listener = Listener(
            lanes,
            self.session,
            Recognition(make_model=lambda: self.model),
            take,
        )
        self._take = take_session
        listener.start()
        if not listener.join(wait_s):
            raise TimeoutError
        listener.close()
        return lags


def read(source: AudioSource) -> Samples:
    """Read a source as a whole."""
    source.start()
    parts = []
    while not source.ended:
        chunk = source.read(0)
        if chunk is not None:
            parts.append(chunk.samples)
    return np.concatenate(parts)


def keys(text: str) -> list[str]:
    """List the words as they are compared."""
    return [key for key in map(same_word_key, text.split()) if key]


def words_at_once(model: SpeechModel | StreamingModel, samples: Samples) -> list[str]:
    """Return the words of a whole recording."""
    if not isinstance(model, StreamingModel):
        return [word.text for word in model.recognize(samples, 0.0, "").words]
    stream = model.stream()
    stream.feed(samples)
    return "".join(piece.text for piece in stream.flush()).replace("▁", " ").split()


def write_sound(path: Path, samples: Samples) -> None:
    """Write a WAV file of 16-bit numbers."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE_HZ)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def write_speech(folder: Path, n: int) -> None:
    """Let espeak-ng say ``n`` recordings of three sentences."""
    rng = random.Random(20_261_121)
    lines = ["file\ttranscript"]
    for number in range(n):
        spoken = speech([sentence(rng) for _ in range(3)], rng)
        write_sound(folder / f"{number}.wav", spoken.samples)
        lines.append(f"{number}.wav\t{spoken.text}")
    (folder / "transcripts.tsv").write_text("\n".join(lines) + "\n")


def recordings(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield what there is, with what is said."""
    for line in (folder / "transcripts.tsv").read_text().splitlines()[1:]:
        name, _, text = line.partition("\t")
        if (folder / name).is_file():
            yield folder / name, text


def measure_words(ears: Ears, folder: Path, *, real_time: bool) -> dict[str, float]:
    """Hear every recording as it comes, and as a whole."""
    n_words = n_streamed = n_whole = n_apart = n_erased = 0
    for path, text in recordings(folder):
        run = ears.hear(AudioSources().file(path, print, real_time=real_time), live=real_time)
        whole = read(AudioSources().file(path, print, real_time=False))
        offline = keys(" ".join(words_at_once(ears.model, whole)))
        said, heard = keys(text), keys(" ".join(run.heard))
        n_words += len(said)
        n_streamed += n_edits(said, heard)
        n_whole += n_edits(said, offline)
        n_apart += n_edits(offline, heard)
        n_erased += run.n_erased
    return {
        "words": n_words,
        "WER committed %": 100 * n_streamed / n_words,
        "WER whole %": 100 * n_whole / n_words,
        "apart %": 100 * n_apart / n_words,
        "erased characters": n_erased,
    }


def measure_quiet(ears: Ears, folder: Path, minutes: float) -> dict[str, int]:
    """Count the words that come of sound in which nobody speaks."""
    counted = {}
    for make in (silence, white_noise, music):
        path = folder / f"{make.__name__}.wav"
        write_sound(path, make(minutes * 60))
        run = ears.hear(AudioSources().file(path, print, real_time=False), live=False)
        counted[f"words in {make.__name__.replace('_', ' ')}"] = len(run.heard)
    return counted


def mean_lags(ears: Ears) -> dict[str, float]:
    """Mean over the recordings of each stage's median and 95 %, weighted by words."""
    found = {}
    for stage, entries in ears.lags.items():
        n_words = sum(entry[0] for entry in entries)
        found[f"{stage} p50 s"] = sum(entry[0] * entry[1] for entry in entries) / n_words
        found[f"{stage} p95 s"] = sum(entry[0] * entry[2] for entry in entries) / n_words
    return found


def main() -> None:
    """Measure, and print a row."""
    parser = argparse.ArgumentParser(prog="benchmarks.listen", description=__doc__)
    parser.add_argument(
        "--asr", default="tests/assets/tiny-whisper", help="folder of a speech model"
    )
    parser.add_argument("--model", type=Path, help="folder of the translator")
    parser.add_argument("--policy", default="read:3")
    parser.add_argument("--speech", type=Path, help="folder of recordings; else espeak-ng speaks")
    parser.add_argument("--n", type=int, default=10, help="recordings espeak-ng speaks")
    parser.add_argument("--minutes", type=float, default=10.0, help="of silence, noise and music")
    parser.add_argument("--fast", action="store_true", help="not in real time: no lags")
    parser.add_argument("--out", type=Path, help="JSON")
    given = parser.parse_args()
    ears = Ears(given.asr, given.model or bundled_models()[0], given.policy)
    with tempfile.TemporaryDirectory() as name:
        folder = given.speech or Path(name)
        if not given.speech:
            if not is_here():
                parser.error("espeak-ng is not installed: install it, or name --speech FOLDER")
            write_speech(folder, given.n)
        ears.session.start()
        row: dict[str, str | float] = {
            "date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}",
            "machine": platform.processor() or platform.machine(),
        }
        row |= measure_words(ears, folder, real_time=not given.fast)
        row |= {} if given.fast else mean_lags(ears)
        row |= measure_quiet(ears, Path(name), given.minutes)
        ears.session.stop()
    print("| " + " | ".join(row) + " |")
    print(
        "| "
        + " | ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row.values())
        + " |"
    )
    if given.out:
        given.out.write_text(json.dumps(row, indent=1) + "\n")


if __name__ == "__main__":
    main()
