"""What a list of names is worth: how many are heard right with it, and what it does to the rest.

espeak-ng says names that the recogniser was never taught, though its tokens can spell them, or with
``--names`` words where it does not expect them, in sentences of words that it knows; then the
recordings of ``benchmarks.listening.kinds``, in which none is said. Both are heard without the list
and with it. *Changed* are committed words that the search takes back afterwards: on a screen they
stay.

    python -m benchmarks.listening.names
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.listen import words_at_once
from benchmarks.listening.kinds import hear, keys, say, speeches
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.recognizer import SpeechModel
from engine.speech.recognizers import make_recognizer
from engine.speech.speech_models import load_speech_model
from engine.speech.streaming import StreamingModel
from engine.speech.vad import SileroDetector
from tests.support.sounds import n_edits
from tests.tiny_whisper.synthetic_speech import Utterance, speech

NAMES = (
    *("Winter", "Garner", "Garter", "Morden", "Letcher", "Sunden"),
    *("Dinter", "Kitner", "Picden", "Docden", "Brochen", "Winden"),
)
_SENTENCES = ("We like {} today.", "They went to {} every morning.", "Please bring {} tomorrow.")
_AFTER_S = 2.0
COLUMNS = (
    *("model", "list", "names said", "names right", "other words", "wrong %"),
    *("names told that nobody said", "changed %", "processor s for a second of sound"),
)


@dataclass(kw_only=True)
class Count:
    """What was heard: numbers of words, and seconds."""

    n_names: int = 0
    n_right: int = 0
    n_others: int = 0
    n_wrong: int = 0
    n_invented: int = 0
    n_changed: int = 0
    computing_s: float = 0.0
    sound_s: float = 0.0

    def add(
        self, model: SpeechModel | StreamingModel, spoken: Utterance, names: Sequence[str]
    ) -> None:
        """Hear a recording, in which names may be said."""
        pause = np.zeros(round(_AFTER_S * SAMPLE_RATE_HZ), np.float32)
        samples = np.concatenate([spoken.samples, pause])
        recognizer = make_recognizer(model, SileroDetector())
        cut = speeches(recognizer)
        before_s = time.process_time()
        committed = keys([word.text for word, _ in hear(recognizer, samples)])
        self.computing_s += time.process_time() - before_s
        self.sound_s += len(samples) / SAMPLE_RATE_HZ
        told = keys([word for speech_ in cut for word in words_at_once(model, speech_)])
        self.n_changed += n_edits(told, committed)
        said, listed = keys(spoken.text.split()), set(keys(names))
        missed = [word for word in said if word in listed and word not in committed]
        n_names = sum(word in listed for word in said)
        self.n_names += n_names
        self.n_right += n_names - len(missed)
        self.n_invented += sum(word in listed and word not in said for word in committed)
        self.n_others += len(said) - n_names
        self.n_wrong += max(0, n_edits(said, committed) - len(missed))


def recordings(names: Sequence[str], n_plain: int) -> Iterator[Utterance]:
    """Say each name in each sentence, then recordings without names."""
    rng = random.Random(33)
    for name in names:
        for sentence in _SENTENCES:
            yield speech([sentence.format(name)], rng)
    for seed in range(n_plain):
        yield say(seed)


def main() -> None:
    """Measure, and print a row without and with the list."""
    parser = argparse.ArgumentParser(prog="benchmarks.listening.names", description=__doc__)
    parser.add_argument("--asr", type=Path, default=Path("tests/assets/tiny-transducer"))
    parser.add_argument("--n", type=int, default=20, help="recordings without names")
    parser.add_argument("--names", nargs="+", default=NAMES)
    given = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for words in ((), tuple(given.names)):
        model, count = load_speech_model(given.asr, "cpu", "en", words), Count()
        for spoken in recordings(given.names, given.n):
            count.add(model, spoken, given.names)
        n_words = count.n_names + count.n_others
        row = (
            *(given.asr.name, "with" if words else "without"),
            *(str(count.n_names), str(count.n_right), str(count.n_others)),
            f"{100 * count.n_wrong / count.n_others:.1f}",
            *(str(count.n_invented), f"{100 * count.n_changed / n_words:.2f}"),
            f"{count.computing_s / count.sound_s:.3f}",
        )
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
