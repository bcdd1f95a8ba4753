"""Hear the same speech by Whisper with local agreement and by a streaming model, in one run.

Sentences of espeak-ng are heard 100 ms at a time by gate and recogniser, as from a microphone. A
word is committed once so much sound was heard, and the processor time of the last step is over. The
bundled translator is fed these words; a word has its caption once a piece of it rests on the word.
Both are measured from the end of the word as espeak-ng tells it, by the clock of the sound, so that
no silence counts; words that were misheard have no lag. *Changed* are committed words that the
model tells otherwise once it has heard the same speech, as the gate cut it, to its end; on a screen
they stay. *Otherwise as a whole* are those that it tells otherwise where nothing cuts the
recording. Each kind runs in a process of its own, for its memory.

    python -m benchmarks.listening.kinds --n 20
"""

import argparse
import datetime as dt
import json
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from benchmarks.listen import words_at_once
from benchmarks.talk import resident_mib
from engine.audio.chunks import AudioChunk, Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.hub.catalogue import bundled_models
from engine.metrics.event_log import EventLog
from engine.models.model_card import read_card
from engine.runtime.loader import load_weights
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings
from engine.speech.hypothesis import RecognizedWord, same_word_key
from engine.speech.recognizer import LiveRecognizer, Recognized
from engine.speech.speech_models import load_speech_model, make_recognizer
from engine.speech.vad import SileroDetector, SpeechPart
from engine.text.sentences import Sentence, ends_sentence
from engine.translation.conversation import Conversation
from engine.translation.factory import make_system
from engine.translation.feed import changes
from tests.support.sounds import n_edits
from tests.tiny_whisper.synthetic_speech import Utterance, sentence, speech

_STEP = SAMPLE_RATE_HZ // 10
_AFTER_S = 2.0
POLICY = "read:3"
COLUMNS = (
    *("date", "machine", "load", "model", "words", "word said to committed s: p50", "p95"),
    *("word said to caption s: p50", "p95"),
    *("changed %", "otherwise as a whole %", "wrong %", "processor s for a second of sound"),
    "resident MiB",
)


def say(seed: int) -> Utterance:
    """Say one to three sentences, one voice for all; no model was trained on them."""
    rng = random.Random(100_000 + seed)
    return speech([sentence(rng) for _ in range(1 + seed % 3)], rng)


def hear(recognizer: LiveRecognizer, samples: Samples) -> list[tuple[RecognizedWord, float]]:
    """Return the committed words, each with the second at which it was."""
    heard, end_s = [], 0.0
    for at in range(0, len(samples), _STEP):
        chunk = samples[at : at + _STEP]
        end_s = (at + len(chunk)) / SAMPLE_RATE_HZ
        before_s = time.process_time()
        sound = AudioChunk(samples=chunk, start_s=at / SAMPLE_RATE_HZ, heard_at_s=end_s)
        results = recognizer.feed(sound)
        ready_s = end_s + time.process_time() - before_s
        heard += [(word, ready_s) for result in results for word in result.committed]
    return heard + [(word, end_s) for one in recognizer.flush() for word in one.committed]


def speeches(recognizer: LiveRecognizer) -> list[Samples]:
    """Return the speeches that a recogniser will have heard, filled while it hears them."""
    heard, take = list[Samples](), recognizer._take

    def noted(part: SpeechPart) -> Iterable[Recognized]:
        before = [] if part.begins or not heard else [heard.pop()]
        heard.append(np.concatenate([*before, part.samples]))
        return take(part)

    recognizer._take = noted  # type: ignore[method-assign]
    return heard


def keys(words: Sequence[str]) -> list[str]:
    """Return words without what recognisers write in several ways."""
    return [same_word_key(word) for word in words]


def same_words(said: Sequence[str], told: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of words that were said and told, in order."""
    for at, told_at, n in SequenceMatcher(None, said, told, autojunk=False).get_matching_blocks():
        yield from zip(range(at, at + n), range(told_at, told_at + n), strict=True)


def translator(log: EventLog | None = None) -> Conversation:
    """Load the bundled translator."""
    folder = bundled_models()[0]
    card = read_card(folder)
    layout = LayoutSettings(slot_length=card.slot_length, name=card.layout)
    settings = ModelSettings(directory=folder)
    return make_system(
        settings.system,
        load_weights(settings),
        TranslationSettings(policy=POLICY, layout=layout),
        capacity=settings.capacity,
        log=log or EventLog([]),
    )


def captions(system: Conversation, heard: Sequence[tuple[RecognizedWord, float]]) -> list[float]:
    """Return at which second each word has its caption, of words with the seconds they came at."""
    at_s, sentence = list[float](), list[str]()
    utterance = system.open()
    for n, (word, ready_s) in enumerate(heard, 1):
        sentence.append(word.text)
        ended = n == len(heard) or ends_sentence(word.text)
        before_s = time.process_time()
        utterance.set_source(Sentence(tuple(sentence), ended=ended))
        for change in changes(utterance):
            spent_s = time.process_time() - before_s
            n_new = n - len(sentence) + change.n_read - len(at_s)
            at_s += [ready_s + spent_s] * n_new
        if ended:
            at_s += [ready_s + time.process_time() - before_s] * (n - len(at_s))
            sentence, utterance = [], system.open()
    return at_s


def measure(folder: Path, n: int) -> dict[str, float]:
    """Hear n recordings by the model in a folder."""
    model = load_speech_model(folder, "cpu", "en")
    system = translator()
    make_recognizer(model, SileroDetector())  # libraries are loaded
    n_words = n_changed = n_otherwise = n_wrong = 0
    waits, captioned = list[float](), list[float]()
    sound_s = computing_s = 0.0
    for seed in range(n):
        spoken = say(seed)
        pause = np.zeros(round(_AFTER_S * SAMPLE_RATE_HZ), np.float32)
        samples = np.concatenate([spoken.samples, pause])
        recognizer = make_recognizer(model, SileroDetector())
        cut = speeches(recognizer)
        before_s = time.process_time()
        heard = hear(recognizer, samples)
        computing_s += time.process_time() - before_s
        sound_s += len(samples) / SAMPLE_RATE_HZ
        committed, said = keys([word.text for word, _ in heard]), keys(spoken.text.split())
        n_words += len(said)
        n_wrong += n_edits(said, committed)
        told = [word for speech_ in cut for word in words_at_once(model, speech_)]
        n_changed += n_edits(keys(told), committed)
        n_otherwise += n_edits(keys(words_at_once(model, samples)), committed)
        captioned_at_s = captions(system, heard) if heard else []
        for at, told_at in same_words(said, committed):
            end_s = spoken.words[at].end_s
            waits.append(heard[told_at][1] - end_s)
            captioned.append(captioned_at_s[told_at] - end_s)
    p50, p95 = np.percentile(waits, [50, 95]) if waits else (np.nan, np.nan)
    caption_p50, caption_p95 = np.percentile(captioned or [np.nan], [50, 95])
    return {
        "words": n_words,
        "p50_s": float(p50),
        "p95_s": float(p95),
        "caption_p50_s": float(caption_p50),
        "caption_p95_s": float(caption_p95),
        "changed": 100 * n_changed / n_words,
        "otherwise": 100 * n_otherwise / n_words,
        "wrong": 100 * n_wrong / n_words,
        "processor": computing_s / sound_s,
        "resident": resident_mib(),
    }


def main() -> None:
    """Print a row of ``benchmarks/results.md`` for each model."""
    parser = argparse.ArgumentParser(prog="benchmarks.listening.kinds", description=__doc__)
    names = ("tiny-whisper", "tiny-streaming", "tiny-transducer")
    assets = [Path("tests/assets") / name for name in names]
    parser.add_argument("--asr", type=Path, nargs="+", default=assets, help="folders of models")
    parser.add_argument("--n", type=int, default=20, help="recordings")
    parser.add_argument("--json", action="store_true", help="numbers of the first model alone")
    given = parser.parse_args()
    if given.json:
        print(json.dumps(measure(given.asr[0], given.n)))
        return
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    machine = f"{os.cpu_count()} {platform.machine()} cores"
    for folder in given.asr:
        command = [
            sys.executable,
            "-m",
            "benchmarks.listening.kinds",
            "--json",
            "--n",
            str(given.n),
        ]
        done = subprocess.run(
            [*command, "--asr", str(folder)], stdout=subprocess.PIPE, check=True, text=True
        )
        got = json.loads(done.stdout)
        facts = [f"{dt.datetime.now(tz=dt.UTC).date()}", machine, f"{os.getloadavg()[0]:.1f}"]
        names = [
            "p50_s",
            "p95_s",
            "caption_p50_s",
            "caption_p95_s",
            "changed",
            "otherwise",
            "wrong",
        ]
        numbers = [f"{got[name]:.2f}" for name in names]
        rest = [f"{got['processor']:.3f}", f"{got['resident']:.0f}"]
        row = [*facts, folder.name, str(got["words"]), *numbers, *rest]
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
