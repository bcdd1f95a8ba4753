"""A corpus of sentence pairs that synthetic voices say in rooms: ``speech-data``.

It is a table, ``SPLIT.tsv``, a line for each utterance in the columns of ``Line``, and shards
beside it: ``SHARD.i16`` holds sound of several, one behind the other, 16-bit integers,
little-endian, 16 kHz, one channel.

Everything is drawn by the seed and the number of an utterance. A shard is said by a process of its
own, since espeak-ng carries a little state from one text to the next; so the result does not depend
on the number of processes, and a run that was stopped goes on at its next shard.

Engines are programs of the system (Debian's espeak-ng and flite); which are installed decides which
voices there are. espeak-ng says when each word ends, flite does not.
"""

import argparse
import ctypes
import ctypes.util
import functools
import json
import random
import shutil
import subprocess
import sys
import tempfile
import wave
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, astuple, dataclass, fields, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.audio.recorder import Resampler
from engine.settings import at_least
from training.commands.command_line import settings_from
from training.data.alignment import AlignedPair, read_aligned
from training.data.corpus import read_lines, replacing, write_lines
from training.errors import CorpusError, TrainingError, UsageError
from training.evaluation.runs import readable_sha256

SPLITS = ("train", "dev", "test")
_FULL, _SAMPLE_BYTES, _SHARD = 32767, 2, 200
_SPEEDS, _PITCHES = (0.85, 1.2), (0.7, 1.3)
_LOUD = 0.02  # a tenth of usual speech
_USUAL_RATE, _USUAL_PITCH = 160, 50  # of espeak-ng
_SHARE_ECHOING, _SHARE_NOISY = 0.5, 0.6


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "speech-data",
        help="let synthetic voices say aligned pairs",
        description="Write a corpus of spoken pairs: DIR/train.tsv, dev.tsv and test.tsv, with "
        "sound beside them, by voices of espeak-ng and flite, at several speeds and "
        "pitches, in rooms with echo and noise. Run it again to go on after a stop.",
    )
    add, usual = parser.add_argument, "(%(default)s)"
    add("--pairs", type=Path, required=True, metavar="F.tsv", help="file that align wrote")
    add("--out", type=Path, required=True, metavar="DIR")
    engines = ",".join(_NAMES)
    add("--engines", default=engines, metavar="E,E,...", help=f"whose voices speak {usual}")
    held = f"voices of the test utterances, which say nothing else {usual}"
    add("--held-back", default="flite/*", metavar="PATTERN", help=held)
    for split, n in (("train", 25_000), ("dev", 500), ("test", 500)):
        add(f"--{split}", dest=f"n_{split}", type=int, default=n, metavar="N", help=usual)
    add("--max-words", type=int, default=14, metavar="N", help=f"of a source {usual}")
    add("--workers", type=int, default=1, metavar="N", help=usual)
    add("--seed", type=int, default=1, metavar="N", help=usual)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    engines = tuple(arguments.engines.split(","))
    settings = settings_from(arguments, SpeechDataSettings, engines=engines)
    for split, n_utterances in make_speech_data(settings).items():
        sys.stdout.write(f"{settings.out / split}.tsv: {n_utterances:,} utterances\n")
    return 0


# Tables and shards --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One utterance, as the table has it.

    Attributes:
        shard: name of the file of its sound, without ``.i16``.
        first, n_samples: its place in the shard, in samples.
        needs: for each target word, the source words that it needs (docs/read_n_data.md); empty
            where the alignment is not trusted.
        ends_ms: when each source word ends, from the beginning of the sound; empty if unknown.
        voice: of the speaker, ``engine/name``.
    """

    shard: str
    first: int
    n_samples: int
    source: str
    target: str
    corpus: str
    needs: tuple[int, ...]
    ends_ms: tuple[int, ...]
    voice: str

    def __post_init__(self) -> None:
        n_source, n_target = len(self.source.split()), len(self.target.split())
        for name, numbers, n_words in (
            ("needs", self.needs, n_target),
            ("ends_ms", self.ends_ms, n_source),
        ):
            if numbers and len(numbers) != n_words:
                msg = f"{n_words} words have as many {name}, got {len(numbers)}"
                raise ValueError(msg)
            if any(later < earlier for earlier, later in pairwise(numbers)):
                msg = f"{name} never fall, got {list(numbers)}"
                raise ValueError(msg)
        if self.first < 0 or self.n_samples < 1:
            msg = f"sound begins at 0 or later and has a sample, got {self.first}, {self.n_samples}"
            raise ValueError(msg)
        if self.needs and not 1 <= self.needs[0] <= self.needs[-1] <= n_source:
            msg = f"needs are from 1 to {n_source} source words, got {list(self.needs)}"
            raise ValueError(msg)

    def as_text(self) -> str:
        return "\t".join(
            " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            for value in astuple(self)
        )


def read_table(path: Path) -> list[Line]:
    """Read the table of a corpus; the shards must be there, and long enough."""
    lines, sizes = list[Line](), dict[str, int]()
    for number, text in enumerate(read_lines(path), start=1):
        try:
            line = _parsed(text.decode())
            if line.shard not in sizes:
                n_bytes = shard_path(path, line.shard).stat().st_size
                sizes[line.shard] = n_bytes // _SAMPLE_BYTES
            _check_sound(line, sizes[line.shard])
        except (OSError, ValueError) as error:
            msg = (
                f"line {number} of {path} is no utterance ({error}): make the file with speech-data"
            )
            raise CorpusError(msg) from error
        lines.append(line)
    return lines


def _check_sound(line: Line, n_samples: int) -> None:
    if line.first + line.n_samples > n_samples:
        msg = f"its shard {line.shard} has {n_samples} samples, too few for it"
        raise ValueError(msg)


def _parsed(text: str) -> Line:
    columns, names = text.split("\t"), [field.name for field in fields(Line)]
    if len(columns) != len(names):
        msg = f"{len(names)} columns were expected, got {len(columns)}"
        raise ValueError(msg)
    shard, first, n_samples, source, target, corpus, needs, ends_ms, voice = columns
    if not shard or Path(shard).name != shard:
        msg = f"a shard is the name of a file beside it, got {shard!r}"
        raise ValueError(msg)
    return Line(
        shard=shard,
        first=int(first),
        n_samples=int(n_samples),
        source=source,
        target=target,
        corpus=corpus,
        needs=tuple(map(int, needs.split())),
        ends_ms=tuple(map(int, ends_ms.split())),
        voice=voice,
    )


def write_table(path: Path, lines: Iterable[Line]) -> None:
    write_lines(path, (line.as_text() for line in lines))


def shard_path(table: Path, shard: str) -> Path:
    return table.with_name(f"{shard}.i16")


def read_sound(table: Path, line: Line) -> Samples:
    """Read the sound of an utterance, shape (n_samples,), float32 from -1 to 1."""
    path = shard_path(table, line.shard)
    try:
        integers = np.fromfile(path, "<i2", count=line.n_samples, offset=_SAMPLE_BYTES * line.first)
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror}): make it again, or put it beside the table"
        raise CorpusError(msg) from error
    return integers.astype(np.float32) / np.float32(_FULL)


def sound_bytes(sounds: Sequence[Samples]) -> bytes:
    """Return the content of a shard with these sounds one behind the other."""
    whole = np.concatenate([np.zeros(0, np.float32), *sounds])
    return (whole.clip(-1, 1) * _FULL).round().astype("<i2").tobytes()


# espeak-ng ----------------------------------------------------------------------------------------
# The library is spoken to, not the program: only it says the times (``espeak_EVENT`` in its
# ``speak_lib.h``), and it need not be started again for every sentence. It carries a little state
# (the flutter of a voice) from one text to the next: the same texts in the same order sound alike.

_SYNCHRONOUS, _RATE, _PITCH, _CHARACTERS, _UTF8, _WORD, _GOES_ON = 2, 1, 3, 1, 1, 1, 0


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_ms", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("name", ctypes.c_char * 8),
    ]


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


def say(
    text: str, voice: str, words_per_minute: int = _USUAL_RATE, pitch: int = _USUAL_PITCH
) -> tuple[Samples, tuple[float, ...]]:
    """Synthesise a text by espeak-ng.

    Args:
        voice: as ``espeak-ng --voices`` lists it, a variant behind a plus sign.
        pitch: 0 to 99.

    Returns:
        the sound, shape (n_samples,), 16 kHz mono, and when each word begins, in seconds.
    """
    library, rate_hz = _library()
    if library.espeak_SetVoiceByName(voice.encode()):
        msg = f"expected a voice of espeak-ng, got {voice!r}: espeak-ng --voices lists them"
        raise TrainingError(msg)
    library.espeak_SetParameter(_RATE, words_per_minute, 0)
    library.espeak_SetParameter(_PITCH, pitch, 0)
    pieces = [np.zeros(0, np.int16)]
    starts: dict[int, int] = {}  # position of a word in the text: its first sample

    def hear(
        sound: "ctypes._Pointer[ctypes.c_short]", n: int, events: "ctypes._Pointer[_Event]"
    ) -> int:
        if n:  # else there is no sound, and no pointer to it
            # as_array would make a type for each length, and ctypes keeps them all
            pieces.append(np.frombuffer(ctypes.string_at(sound, 2 * n), np.int16))
        at = 0
        while events[at].type:
            if events[at].type == _WORD:
                starts[events[at].text_position - 1] = events[at].sample
            at += 1
        return _GOES_ON

    callback = _Callback(hear)
    library.espeak_SetSynthCallback(callback)
    data = text.encode()
    library.espeak_Synth(data, len(data) + 1, 0, _CHARACTERS, 0, _UTF8, None, None)
    whole = (np.concatenate(pieces) / 32768).astype(np.float32)
    return resampled(whole, rate_hz), _starts(text, starts, rate_hz, len(whole))


def resampled(samples: Samples, rate_hz: int) -> Samples:
    resampler = Resampler(rate_hz)
    return np.concatenate([resampler.feed(samples), resampler.flush()])


def _starts(text: str, told: dict[int, int], rate_hz: int, n_samples: int) -> tuple[float, ...]:
    """List when each word begins; of words said as one ("in the") only the first has an event."""
    at, places = 0, []
    for word in text.split():
        at = text.index(word, at)
        places.append(at)
        at += len(word)
    known = {0: 0} | told | {len(text): n_samples}
    samples = [known[place] for place in sorted(known)]
    return tuple(float(start) / rate_hz for start in np.interp(places, sorted(known), samples))


@functools.cache
def _library() -> tuple[ctypes.CDLL, int]:
    """Load and begin, once a process: espeak-ng cannot begin again after it was ended."""
    path = ctypes.util.find_library(ESPEAK)
    if path is None:
        msg = "speech is made by espeak-ng and it is not installed: install it with apt-get"
        raise TrainingError(msg)
    library = ctypes.CDLL(path)
    return library, int(library.espeak_Initialize(_SYNCHRONOUS, 0, None, 0))


# Voices of all engines ----------------------------------------------------------------------------

ESPEAK, FLITE = "espeak-ng", "flite"
_NAMES: Mapping[str, Sequence[str]] = {  # klatt: by another synthesis (formants)
    ESPEAK: [
        accent + variant
        for accent in ("en-us", "en", "en-gb-scotland", "en-gb-x-rp")
        for variant in ("", "+m1", "+m3", "+m5", "+m7", "+f1", "+f2", "+f4", "+klatt", "+klatt3")
    ],
    FLITE: ["kal16", "awb", "rms", "slt"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A text and its voice, ``engine/name``; speed and pitch over what is usual with it."""

    text: str
    voice: str
    speed: float = 1.0
    pitch: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Speech:
    """A text as it was said, 16 kHz mono, without silence around it.

    Attributes:
        ends_s: when each word ends, never falling; None where the engine does not say.
    """

    samples: Samples
    ends_s: tuple[float, ...] | None


def known_voices(engines: Iterable[str]) -> list[str]:
    """List the voices of engines, each as ``engine/name``."""
    voices = list[str]()
    for engine in engines:
        if engine not in _NAMES:
            msg = f"engines of voices are {', '.join(_NAMES)}, got {engine!r}"
            raise UsageError(msg)
        if not is_here(engine):
            msg = f"the voices of {engine} are not installed: apt-get install {engine}"
            raise TrainingError(msg)
        voices += [f"{engine}/{name}" for name in _NAMES[engine]]
    return voices


def is_here(engine: str = ESPEAK) -> bool:
    find = ctypes.util.find_library if engine == ESPEAK else shutil.which
    return find(engine) is not None


def trimmed(speech: Speech) -> Speech:
    """Cut off the silence around a speech."""
    loud = np.flatnonzero(np.abs(speech.samples) > _LOUD * max(np.abs(speech.samples).max(), 1e-9))
    if not len(loud):
        return speech
    first, last = int(loud[0]), int(loud[-1]) + 1
    ends = speech.ends_s
    if ends is not None:
        length_s = (last - first) / SAMPLE_RATE_HZ
        moved = (end_s - first / SAMPLE_RATE_HZ for end_s in ends)
        ends = tuple(min(max(0.0, end_s), length_s) for end_s in moved)
    return Speech(samples=speech.samples[first:last], ends_s=ends)


def said(request: Request) -> Speech:
    """Synthesise a text; the same texts in a process that has said nothing before sound alike."""
    engine, _, name = request.voice.partition("/")
    return trimmed((_by_flite if engine == FLITE else _by_espeak)(request, name))


def _by_espeak(request: Request, name: str) -> Speech:
    rate, pitch = round(_USUAL_RATE * request.speed), round(_USUAL_PITCH * request.pitch)
    samples, starts_s = say(request.text, name, rate, min(99, max(0, pitch)))
    return Speech(samples=samples, ends_s=(*starts_s[1:], len(samples) / SAMPLE_RATE_HZ))


def _by_flite(request: Request, name: str) -> Speech:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "said.wav")
        stretch = f"duration_stretch={1 / request.speed:.3f}"
        options = ["-voice", name, "--setf", stretch, "-t", request.text, "-o", str(path)]
        try:
            subprocess.run([FLITE, *options], capture_output=True, check=True)
            with wave.open(str(path)) as file:
                frames, rate_hz = file.readframes(file.getnframes()), file.getframerate()
        except (OSError, EOFError, wave.Error, subprocess.CalledProcessError) as error:
            msg = f"{FLITE} was to say a text and failed ({error}): install it, or leave it out"
            raise TrainingError(msg) from error
    whole = (np.frombuffer(frames, "<i2") / 32768).astype(np.float32)
    return Speech(samples=resampled(whole, rate_hz), ends_s=None)


# Rooms --------------------------------------------------------------------------------------------

_Sound = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Silence, echoes and noise around a speech, and how loud it is.

    Attributes:
        before_s, after_s: silence around it.
        echo_s: time in which echoes fall by 60 dB; 0: none.
        noise_db: of the noise under the speech; infinite: none.
        falls: the noise has less of high frequencies, as that of rooms has.
        peak: the loudest sample, of 1.
    """

    before_s: float = 0.1
    after_s: float = 0.1
    echo_s: float = 0.0
    noise_db: float = np.inf
    falls: bool = False
    peak: float = 0.5
    seed: int = 0


def draw_room(rng: random.Random) -> Room:
    """Draw a room; half of them echo, and more are noisy."""
    return Room(
        before_s=rng.uniform(0.05, 0.4),
        after_s=rng.uniform(0.05, 0.3),
        echo_s=rng.uniform(0.1, 0.5) if rng.random() < _SHARE_ECHOING else 0.0,
        noise_db=rng.uniform(8, 35) if rng.random() < _SHARE_NOISY else np.inf,
        falls=rng.random() < 0.5,
        peak=rng.uniform(0.2, 0.9),
        seed=rng.getrandbits(32),
    )


def hear_in(room: Room, speech: Speech) -> Speech:
    """Return a speech as it is heard in a room; its words end later by the pause before it."""
    rng = np.random.default_rng(room.seed)
    before, after = (
        np.zeros(round(pause_s * SAMPLE_RATE_HZ)) for pause_s in (room.before_s, room.after_s)
    )
    own = speech.samples.astype(np.float64)
    wet = np.concatenate([before, own, after])
    if room.echo_s:
        wet = _echoing(wet, room.echo_s, rng)
    if np.isfinite(room.noise_db):
        power = np.mean(own**2) if len(own) else 0.0
        noise = _noise(rng, len(wet), falls=room.falls)
        wet = wet + noise * np.sqrt(power * 10 ** (-room.noise_db / 10))
    scaled = wet * (room.peak / max(np.abs(wet).max(), 1e-9))
    ends = speech.ends_s
    moved = None if ends is None else tuple(end_s + room.before_s for end_s in ends)
    return replace(speech, samples=scaled.astype(np.float32), ends_s=moved)


def _echoing(dry: _Sound, echo_s: float, rng: np.random.Generator) -> _Sound:
    """Convolve with the sound itself and noise that dies away (Moorer 1979)."""
    n_taps = round(echo_s * SAMPLE_RATE_HZ)
    fall = 10 ** (-3 * np.arange(n_taps) / n_taps)
    response = rng.normal(size=n_taps) * fall
    response *= 0.5 / np.sqrt(np.sum(response**2))
    response[0] = 1.0
    size = len(dry) + n_taps
    wet = np.fft.irfft(np.fft.rfft(dry, size) * np.fft.rfft(response, size), size)
    cut: _Sound = wet[: len(dry)]
    return cut


def _noise(rng: np.random.Generator, n: int, *, falls: bool) -> _Sound:
    """Make noise of power 1; where it falls, by 3 dB an octave."""
    white = np.fft.rfft(rng.normal(size=n))
    if falls:
        white[1:] /= np.sqrt(np.arange(1, len(white)))
    noise: _Sound = np.fft.irfft(white, n)
    noise /= max(float(np.sqrt(np.mean(noise**2))), 1e-9)
    return noise


# Said pairs ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechDataSettings:
    """A corpus to be said.

    Attributes:
        held_back: voices, as a pattern like ``flite/*``, that say the test utterances, and nothing
            else.
        n_train, n_dev, n_test: utterances; a sentence is in one of the three alone. Training and
            development have the same voices.
        shard: utterances in a shard.
    """

    pairs: Path
    out: Path
    engines: tuple[str, ...]
    held_back: str
    n_train: int
    n_dev: int
    n_test: int
    max_words: int = 14
    shard: int = _SHARD
    workers: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("n_train", "n_test", "max_words", "shard", "workers"):
            at_least(name, getattr(self, name), 1)
        at_least("n_dev", self.n_dev, 0)


_Planned = tuple[AlignedPair, Request, str]
"""A pair, its voice, and the seed of its room."""


def make_speech_data(settings: SpeechDataSettings) -> dict[str, int]:
    """Write the tables and shards of a corpus; return the utterances of each split."""
    voices = known_voices(settings.engines)
    unheard = [voice for voice in voices if fnmatchcase(voice, settings.held_back)]
    heard = [voice for voice in voices if voice not in unheard]
    if not (heard and unheard):
        msg = f"{settings.held_back!r} is to hold back some of the voices, not none or all: "
        raise UsageError(msg + ", ".join(voices))
    _claim(settings, voices)
    chosen = _chosen(settings)
    n_dev, n_test = settings.n_dev, settings.n_test
    parts = {
        "test": chosen[:n_test],
        "dev": chosen[n_test : n_test + n_dev],
        "train": chosen[n_test + n_dev :],
    }
    counts = dict[str, int]()
    for split in SPLITS:
        own = unheard if split == "test" else heard
        planned = [
            _planned(pair, own, f"{settings.seed} {split} {number}")
            for number, pair in enumerate(parts[split])
        ]
        if planned:
            counts[split] = len(_say(settings, split, planned))
    return counts


def _claim(settings: SpeechDataSettings, voices: Sequence[str]) -> None:
    """Write what decides a corpus into its folder, or check that the folder holds this very one."""
    path, own = settings.out / "corpus.json", asdict(settings)
    for name in ("pairs", "out", "workers"):
        del own[name]
    own |= {"voices": voices, "pairs_sha256": readable_sha256(settings.pairs)}
    text = json.dumps(own)
    try:
        known = path.read_text(encoding="utf-8").strip() if path.exists() else None
    except (OSError, ValueError) as error:
        msg = f"{path} cannot be read ({error}): choose another folder"
        raise CorpusError(msg) from error
    if known is None:
        write_lines(path, [text])
    elif known != text:
        msg = f"{settings.out} holds a corpus of other settings, pairs or voices: choose another"
        raise UsageError(msg)


def _chosen(settings: SpeechDataSettings) -> list[AlignedPair]:
    short = dict[str, AlignedPair]()
    for one in read_aligned([settings.pairs]):
        if 1 <= len(one.pair.source.split()) <= settings.max_words:
            short.setdefault(one.pair.source, one)
    rng = random.Random(f"{settings.seed} pairs")
    n_wanted = settings.n_train + settings.n_dev + settings.n_test
    if len(short) < n_wanted:
        msg = (
            f"{settings.pairs} has {len(short)} different sources of up to {settings.max_words} "
            f"words, and {n_wanted} are needed: ask for fewer, or name a larger file"
        )
        raise CorpusError(msg)
    return rng.sample(list(short.values()), n_wanted)


def _planned(pair: AlignedPair, voices: Sequence[str], seed: str) -> _Planned:
    rng = random.Random(seed)
    engine = rng.choice(sorted({voice.partition("/")[0] for voice in voices}))  # each as often
    request = Request(
        text=pair.pair.source,
        voice=rng.choice([voice for voice in voices if voice.startswith(f"{engine}/")]),
        speed=rng.uniform(*_SPEEDS),
        pitch=rng.uniform(*_PITCHES),
    )
    return pair, request, f"{seed} room"


def _say(settings: SpeechDataSettings, split: str, planned: Sequence[_Planned]) -> list[Line]:
    """Synthesise a split shard by shard, each in a process of its own, and write its table."""
    shards = {
        f"{split}-{start // settings.shard:04d}": planned[start : start + settings.shard]
        for start in range(0, len(planned), settings.shard)
    }
    parts = {name: settings.out / f"{name}.part.tsv" for name in shards}
    missing = [name for name, part in parts.items() if not part.exists()]
    context = get_context("spawn")
    with ProcessPoolExecutor(settings.workers, context, max_tasks_per_child=1) as processes:
        jobs = [processes.submit(_say_shard, parts[name], name, shards[name]) for name in missing]
        for job in tqdm(jobs, desc=split, disable=None):
            job.result()
    lines = [line for part in parts.values() for line in read_table(part)]
    write_table(settings.out / f"{split}.tsv", lines)
    return lines


def _say_shard(part: Path, name: str, planned: Sequence[_Planned]) -> None:
    """Write a shard, then its part of the table: where the part is, the shard is whole."""
    speeches = [
        hear_in(draw_room(random.Random(seed)), said(request)) for _, request, seed in planned
    ]
    with replacing(shard_path(part, name)) as fresh:
        fresh.write_bytes(sound_bytes([speech.samples for speech in speeches]))
    lines, first = list[Line](), 0
    for (one, request, _), speech in zip(planned, speeches, strict=True):
        n_samples = len(speech.samples)
        last_ms = 1000 * n_samples // SAMPLE_RATE_HZ  # no word ends after its sound
        lines.append(
            Line(
                shard=name,
                first=first,
                n_samples=n_samples,
                source=one.pair.source,
                target=one.pair.target,
                corpus=one.pair.corpus,
                needs=one.needs or (),
                ends_ms=tuple(min(last_ms, round(1000 * end_s)) for end_s in speech.ends_s or ()),
                voice=request.voice,
            )
        )
        first += n_samples
    write_table(part, lines)
