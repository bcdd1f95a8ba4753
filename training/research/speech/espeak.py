"""Let espeak-ng say a text, and tell when each word of it sounds.

The library is spoken to, not the program: only it tells the times (``espeak_EVENT`` in its
``speak_lib.h``), and it need not be started again for every sentence. It carries a little state
(the flutter of a voice) from one text to the next, so the same texts in the same order give the
same sound.
"""

import ctypes
import ctypes.util
import functools
from dataclasses import dataclass

import numpy as np

from engine.audio.chunks import Samples
from engine.audio.resampler import Resampler
from training.errors import TrainingError

_SYNCHRONOUS = 2
_RATE, _PITCH = 1, 3
_CHARACTERS, _UTF8 = 1, 1
_WORD = 1
_GOES_ON = 0


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """The voice that says a text.

    Attributes:
        name: as ``espeak-ng --voices`` lists it, a variant behind a plus sign.
        words_per_minute: how fast.
        pitch: 0 to 99.
    """

    name: str = "en-us"
    words_per_minute: int = 160
    pitch: int = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Said:
    """A text as it was said.

    Attributes:
        samples: shape (n_samples,), 16 kHz mono.
        starts_s: when each word begins, in order.
    """

    samples: Samples
    starts_s: tuple[float, ...]


def is_here() -> bool:
    """Return whether espeak-ng is installed."""
    return ctypes.util.find_library("espeak-ng") is not None


def say(text: str, voice: Voice) -> Said:
    """Synthesise a text.

    Raises:
        TrainingError: espeak-ng is missing, or does not know the voice.
    """
    library, rate_hz = _library()
    if library.espeak_SetVoiceByName(voice.name.encode()):
        msg = f"expected a voice of espeak-ng, got {voice.name!r}: espeak-ng --voices lists them"
        raise TrainingError(msg)
    library.espeak_SetParameter(_RATE, voice.words_per_minute, 0)
    library.espeak_SetParameter(_PITCH, voice.pitch, 0)
    pieces = [np.zeros(0, np.int16)]
    starts: dict[int, int] = {}  # where a word stands in the text: its first sample

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
    resampler = Resampler(rate_hz)
    whole = (np.concatenate(pieces) / 32768).astype(np.float32)
    samples = np.concatenate([resampler.feed(whole), resampler.flush()])
    return Said(samples=samples, starts_s=_starts(text, starts, rate_hz, len(whole)))


def phonemes(word: str) -> str:
    """Return how an American says a word, in the letters of espeak-ng for sounds."""
    library, _ = _library()
    library.espeak_SetVoiceByName(b"en-us")
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    rest = ctypes.c_char_p(word.encode())
    said = library.espeak_TextToPhonemes(ctypes.byref(rest), _UTF8, 0)
    return str(said.decode())


def _starts(text: str, told: dict[int, int], rate_hz: int, n_samples: int) -> tuple[float, ...]:
    """List when each word begins; of words said as one ("in the") only the first has an event."""
    at, places = 0, []
    for word in text.split():
        at = text.index(word, at)
        places.append(at)
        at += len(word)
    known = sorted({0: 0} | told | {len(text): n_samples})
    samples = [({0: 0} | told | {len(text): n_samples})[place] for place in known]
    return tuple(float(start) / rate_hz for start in np.interp(places, known, samples))


@functools.cache
def _library() -> tuple[ctypes.CDLL, int]:
    """Load and begin, once a process: espeak-ng cannot begin again after it was ended."""
    path = ctypes.util.find_library("espeak-ng")
    if path is None:
        msg = "speech is made by espeak-ng and it is not installed: install it with apt-get"
        raise TrainingError(msg)
    library = ctypes.CDLL(path)
    return library, int(library.espeak_Initialize(_SYNCHRONOUS, 0, None, 0))
