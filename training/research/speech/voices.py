"""Synthetic voices of several engines, and a text as one of them says it.

Engines are programs of the system (Debian's espeak-ng, festival and flite); which of them are
installed decides which voices there are. espeak-ng and festival tell when each word ends, flite
does not. Voices of espeak-ng with ``+klatt`` are made by another synthesis (Klatt's formants).
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.audio.resampler import Resampler
from training.errors import TrainingError, UsageError
from training.research.speech import espeak

_LOUD = 0.02  # a tenth of usual speech
_USUAL_RATE, _USUAL_PITCH = 160, 50  # of espeak-ng

ESPEAK = "espeak-ng"
FESTIVAL = "festival"
FLITE = "flite"

_NAMES: Mapping[str, Sequence[str]] = {
    ESPEAK: [
        accent + variant
        for accent in ("en-us", "en", "en-gb-scotland", "en-gb-x-rp")
        for variant in ("", "+m1", "+m3", "+m5", "+m7", "+f1", "+f2", "+f4", "+klatt", "+klatt3")
    ],
    FESTIVAL: ["kal_diphone", "ked_diphone", "cmu_us_slt_arctic_hts"],
    FLITE: ["kal16", "awb", "rms", "slt"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A text, who says it and how.

    Attributes:
        voice: ``engine/name``.
        speed: words in a time, over what is usual with this voice.
        pitch: height of the voice, likewise.
    """

    text: str
    voice: str
    speed: float = 1.0
    pitch: float = 1.0

    @property
    def name(self) -> str:
        """Of the voice, without its engine."""
        return self.voice.partition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Speech:
    """A text as it was said, without silence around it.

    Attributes:
        samples: shape (n_samples,), 16 kHz mono.
        ends_s: when each word ends, never falling; None where the engine does not tell.
    """

    samples: Samples
    ends_s: tuple[float, ...] | None


def known_voices(engines: Iterable[str]) -> list[str]:
    """List the voices of engines, each as ``engine/name``.

    Raises:
        UsageError: there is no such engine.
        TrainingError: one is not installed.
    """
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


def is_here(engine: str) -> bool:
    """Return whether an engine is installed."""
    return espeak.is_here() if engine == ESPEAK else shutil.which(engine) is not None


def say_all(requests: Sequence[Request]) -> list[Speech]:
    """Synthesise texts; equal requests in a process that has said nothing before give equal sound.

    Raises:
        TrainingError: an engine is missing or fails, or says nothing.
    """
    said = dict[int, Speech]()
    for engine, say in _ENGINES.items():
        own = {n: one for n, one in enumerate(requests) if one.voice.startswith(f"{engine}/")}
        said |= zip(own, say(list(own.values())), strict=True)
    if len(said) < len(requests):
        unknown = next(one.voice for n, one in enumerate(requests) if n not in said)
        msg = f"a voice is written ENGINE/NAME, with an engine of {', '.join(_NAMES)}: {unknown!r}"
        raise UsageError(msg)
    return [said[n] for n in range(len(requests))]


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


def _say_by_espeak(requests: Sequence[Request]) -> list[Speech]:
    said = list[Speech]()
    for one in requests:
        voice = espeak.Voice(
            name=one.name,
            words_per_minute=round(_USUAL_RATE * one.speed),
            pitch=min(99, max(0, round(_USUAL_PITCH * one.pitch))),
        )
        heard = espeak.say(one.text, voice)
        ends = (*heard.starts_s[1:], len(heard.samples) / SAMPLE_RATE_HZ)
        said.append(trimmed(Speech(samples=heard.samples, ends_s=ends)))
    return said


def _say_by_festival(requests: Sequence[Request]) -> list[Speech]:
    """Let one process of festival say all texts: it takes a second to start."""
    if not requests:
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "script.scm"
        lines = (_scheme(one, folder / str(n)) for n, one in enumerate(requests))
        script.write_text("\n".join(lines), encoding="latin-1", errors="replace")
        _run(FESTIVAL, ["-b", str(script)])
        return [_heard(FESTIVAL, one, folder / str(n)) for n, one in enumerate(requests)]


def _scheme(request: Request, path: Path) -> str:
    text = request.text.replace("\\", " ").replace('"', " ")
    return f"""
(voice_{request.name})
(Parameter.set 'Duration_Stretch {1 / request.speed:.3f})
(set! said (utt.synth (Utterance Text "{text}")))
(utt.wave.resample said {SAMPLE_RATE_HZ})
(utt.save.wave said "{path}.wav" 'riff)
(set! ends (fopen "{path}.ends" "w"))
(mapcar (lambda (it) (format ends "%s %s\\n" (if (item.parent it) 1 0) (item.feat it "word_end")))
        (utt.relation.items said 'Token))
(fclose ends)
"""


def _say_by_flite(requests: Sequence[Request]) -> list[Speech]:
    with tempfile.TemporaryDirectory() as name:
        said = list[Speech]()
        for n, one in enumerate(requests):
            path = Path(name) / str(n)
            stretch = f"duration_stretch={1 / one.speed:.3f}"
            arguments = ["-voice", one.name, "--setf", stretch, "-t", one.text, "-o", f"{path}.wav"]
            _run(FLITE, arguments)
            said.append(_heard(FLITE, one, path))
        return said


def _run(engine: str, arguments: Sequence[str]) -> None:
    try:
        subprocess.run([engine, *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        msg = f"{engine} was to say texts and failed ({error}): install it, or leave it out"
        raise TrainingError(msg) from error


def _heard(engine: str, request: Request, path: Path) -> Speech:
    """Read what an engine wrote beside a path."""
    told = path.with_suffix(".ends")
    ends = _told_ends(told.read_text(encoding="ascii")) if told.exists() else ()
    known = len(ends) == len(request.text.split()) and list(ends) == sorted(ends)
    try:
        samples = read_wave(path.with_suffix(".wav"))
        speech = Speech(samples=samples, ends_s=ends if known else None)
    except (OSError, av.FFmpegError) as error:
        msg = f"{engine} said nothing of {request.text!r} with {request.voice} ({error})"
        raise TrainingError(msg) from error
    return trimmed(speech)


def _told_ends(text: str) -> tuple[float, ...]:
    """Return when each token ends: ``0`` begins one, ``1`` and a time is each word said of it."""
    ends = list[float]()
    for line in text.splitlines():
        is_said, end_s = line.split()
        if is_said == "1":
            ends[-1] = max(ends[-1], float(end_s))
        else:
            ends.append(0.0)
    return tuple(ends)


def read_wave(path: Path) -> Samples:
    """Read a file of sound, shape (n_samples,), 16 kHz mono.

    Raises:
        OSError: it cannot be read.
        av.FFmpegError: it holds no sound.
    """
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
        rate_hz = container.streams.audio[0].rate
    whole = np.concatenate([frame.reshape(frame.shape[0], -1)[0] for frame in frames])
    scale = 32768.0 if whole.dtype == np.int16 else 1.0
    resampler = Resampler(rate_hz)
    samples = (whole / scale).astype(np.float32)
    return np.concatenate([resampler.feed(samples), resampler.flush()])


_ENGINES: Mapping[str, Callable[[Sequence[Request]], list[Speech]]] = {
    ESPEAK: _say_by_espeak,
    FESTIVAL: _say_by_festival,
    FLITE: _say_by_flite,
}
