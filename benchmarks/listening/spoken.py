"""BLEU of captions from speech: the meeting sentences, said by three voices and recognised.

flite (``apt-get install flite``) says each line by each voice, with ``--turns`` each by one of them
in turn, which costs a third. Some lines with pauses between them are recognised
at a time, by a Whisper as a whole, by a streaming model as it comes; a word belongs to the line in
whose time its middle lies. What was recognised is captioned as the recogniser wrote it; in small
letters without punctuation, as most streaming models tell it; and with both restored by
``engine.text.punctuation``. The last row has the same of the text that was said.

    python -m benchmarks.listening.spoken --asr FOLDER
"""

import argparse
import itertools
import shutil
import subprocess
import tempfile
import time
import wave
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.listening.kinds import hear, translator
from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.metrics.quality import measure_quality
from engine.speech.hypothesis import RecognizedWord
from engine.speech.recognizer import SpeechModel
from engine.speech.speech_models import load_speech_model, make_recognizer
from engine.speech.streaming import StreamingModel
from engine.speech.vad import SileroDetector
from engine.text.punctuation import SentenceMarks, punctuation_for
from engine.translation.feed import translate_lines
from tests.support.sounds import n_edits

_MEETINGS = Path(__file__).parents[1] / "meetings" / "en-de.tsv"
_PAUSE_S, _AT_ONCE_S = 1.0, 24.0
_MARKS = ",;:.!?\"'“”()"
COLUMNS = (
    *("voice", "lines", "words", "wrong %", "as recognised"),
    *("neither case nor punctuation", "restored", "processor s for a second of sound"),
)


def bare(text: str) -> list[str]:
    """Return the words as a recogniser without case and punctuation tells them."""
    words = (word.strip(_MARKS).lower() for word in text.split())
    return [
        "I" + word[1:] if word == "i" or word.startswith("i'") else word for word in words if word
    ]


def restored(marks: SentenceMarks, words: Sequence[str]) -> str:
    """Return the words with case and punctuation, a pause behind them."""
    written = [told for word in words for told in marks.feed(word)]
    return " ".join([*written, *marks.pause()])


def bleu(lines: Sequence[str], references: Sequence[str]) -> float:
    """Return BLEU of the captions of lines."""
    found = list(translate_lines(translator, enumerate(lines)))
    return measure_quality([one.hypothesis for one in found], references, "de").bleu


def say(text: str, voice: str) -> Samples:
    """Return how a voice of flite says a text, 16 kHz mono."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/said.wav"
        subprocess.run(["flite", "-voice", voice, "-t", text, "-o", path], check=True)
        with wave.open(path) as file:
            if file.getframerate() != SAMPLE_RATE_HZ:
                msg = f"expected a voice of {SAMPLE_RATE_HZ} Hz, got {file.getframerate()}: {voice}"
                raise ValueError(msg)
            data = file.readframes(file.getnframes())
    return np.frombuffer(data, "<i2").astype(np.float32) / 32768


def joined(said: Sequence[Samples]) -> Iterator[tuple[Samples, list[tuple[int, float, float]]]]:
    """Yield sounds of some lines each, with the line numbers and from when to when each counts."""
    pause = np.zeros(round(_PAUSE_S * SAMPLE_RATE_HZ), np.float32)
    parts, places = [pause], list[tuple[int, float, float]]()
    for number, samples in enumerate(said):
        begin_s = sum(map(len, parts)) / SAMPLE_RATE_HZ
        if places and begin_s + len(samples) / SAMPLE_RATE_HZ > _AT_ONCE_S:
            yield np.concatenate(parts), places
            parts, places, begin_s = [pause], [], _PAUSE_S
        end_s = begin_s + len(samples) / SAMPLE_RATE_HZ
        places.append((number, begin_s - _PAUSE_S / 2, end_s + _PAUSE_S / 2))
        parts += [samples, pause]
    yield np.concatenate(parts), places


def small(words: Sequence[str]) -> list[str]:
    """Return words in small letters."""
    return [word.lower() for word in words]


def words_of(model: SpeechModel | StreamingModel, samples: Samples) -> Sequence[RecognizedWord]:
    """Recognise a sound of some lines."""
    if isinstance(model, StreamingModel):
        return [word for word, _ in hear(make_recognizer(model, SileroDetector()), samples)]
    return model.recognize(samples, 0.0, "").words


def recognised(
    model: SpeechModel | StreamingModel, said: Sequence[Samples]
) -> tuple[list[str], float]:
    """Return the words of each line, and the seconds of computing for a second of sound."""
    lines: list[list[str]] = [[] for _ in said]
    began_s, sound_s = time.process_time(), 0.0
    for samples, places in joined(said):
        sound_s += len(samples) / SAMPLE_RATE_HZ
        for word in words_of(model, samples):
            number = min(places, key=lambda it: max(it[1] - word.middle_s, word.middle_s - it[2]))
            lines[number[0]].append(word.text)
    return [" ".join(words) for words in lines], (time.process_time() - began_s) / sound_s


def main() -> None:
    """Measure, and print a row for the true text and one for each voice."""
    parser = argparse.ArgumentParser(prog="benchmarks.listening.spoken", description=__doc__)
    parser.add_argument("--asr", type=Path, required=True, help="folder of a speech model")
    parser.add_argument("--voices", nargs="+", default=("slt", "rms", "awb"), help="of flite")
    parser.add_argument("--turns", action="store_true", help="the voices take turns")
    parser.add_argument("--lines", type=int, help="the first ones only")
    parser.add_argument("--out", type=Path, help="a file for what was recognised")
    given = parser.parse_args()
    english = punctuation_for("en")
    if english is None or shutil.which("flite") is None:
        parser.error("flite is not installed, or there are no weights for punctuation")
    rows = [line.split("\t") for line in _MEETINGS.read_text(encoding="utf-8").splitlines()]
    sources, references = ([row[at] for row in rows][: given.lines] for at in (0, 1))
    model = load_speech_model(given.asr, "cpu", "en")
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|", flush=True)
    true, n_words = [bare(line) for line in sources], sum(len(bare(line)) for line in sources)
    speakers = [tuple(given.voices)] if given.turns else [(voice,) for voice in given.voices]
    for voices in (*speakers, ()):
        told, cost = sources, ""
        if voices:
            turns = itertools.cycle(voices)
            told, computing_s = recognised(model, [say(line, next(turns)) for line in sources])
            cost = f"{computing_s:.2f}"
        heard = [bare(line) for line in told]
        wrong = [n_edits(small(said), small(line)) for said, line in zip(true, heard, strict=True)]
        variants = (
            told,
            [" ".join(words) for words in heard],
            [restored(SentenceMarks(english), words) for words in heard],
        )
        counts = (str(len(sources)), str(n_words), f"{100 * sum(wrong) / n_words:.1f}")
        if given.out and voices:
            with given.out.open("a", encoding="utf-8") as file:
                pairs = zip(sources, told, strict=True)
                file.writelines(f"{' '.join(voices)}\t{said}\t{line}\n" for said, line in pairs)
        scores = [f"{bleu(lines, references):.1f}" for lines in variants]
        name = ", ".join(voices) or "true text"
        print(f"| {' | '.join((name, *counts, *scores, cost))} |", flush=True)


if __name__ == "__main__":
    main()
