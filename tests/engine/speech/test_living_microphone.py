"""Seven minutes of a microphone: people speak, and between that it is silent, noisy or another one.

The sound, the detector of speech and all behind it are as they are, on the clock of the sound. One
recogniser knows when which word is said, so that what is lost or doubled is not its doing; another
is that which comes with the program.
"""

import random
from collections import deque

import numpy as np
import pytest

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.hub.catalogue import bundled_speech_model
from engine.speech.hypothesis import RecognizedWord
from engine.speech.listener import Lane, Listener, Recognition
from engine.speech.moonshine import Moonshine
from tests.engine.speech.recordings import needs_recordings, recordings
from tests.support.hand_clock import HandClock
from tests.support.listening_fakes import Echo, Script, hear_out, to_both
from tests.support.sounds import white_noise
from tests.support.spoken import keys, word_error_rate

pytest.importorskip("faster_whisper")

_SECONDS = 400
_BLOCK = SAMPLE_RATE_HZ // 50
_HALF_S = 0.05  # of a word; more of it would reach into a pause where it is not known so exactly
_QUIET = 0.12  # of the loudest block: below it nobody speaks
_PAUSE = 15  # blocks without speech that part what is said
_HUSHED = np.float32(0.03)
_EARLY_S = 0.5  # by which the times of a recogniser may be wrong
_MISHEARD, _ALL_MISHEARD = 0.3, 0.12  # of the words of a recording, of all


def spoken(recording, start_s):
    """Spread the words of a recording over the times at which it is loud."""
    samples = recording.samples
    blocks = samples[: len(samples) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    loudness = np.sqrt(np.square(blocks).mean(axis=1))
    stretches = []
    for at in np.flatnonzero(loudness > _QUIET * loudness.max()):
        if not stretches or at - stretches[-1][1] > _PAUSE:
            stretches.append([at, at + 1])
        stretches[-1][1] = at + 1
    texts = recording.text.split()
    ends = np.cumsum([end - begin for begin, end in stretches])
    shares = np.round(ends / ends[-1] * len(texts)).astype(int)
    words, first = [], 0
    for (begin, end), last in zip(stretches, shares, strict=True):
        edges = start_s + np.linspace(begin, end, last - first + 1) * _BLOCK / SAMPLE_RATE_HZ
        words += [
            RecognizedWord(text=text, start_s=at_s - _HALF_S, end_s=at_s + _HALF_S)
            for text, at_s in zip(texts[first:last], (edges[:-1] + edges[1:]) / 2, strict=True)
        ]
        first = last
    return words


class Microphone:
    """Its sound comes at its own times, to which it sets the clock."""

    n_dropped = 0

    def __init__(self, clock):
        self._clock = clock
        self._waiting = deque()
        self.end_s = 0.0

    def hear(self, samples):
        for at in range(0, len(samples), 1600):
            chunk = AudioChunk(samples=samples[at : at + 1600], start_s=self.end_s)
            self._waiting.append(chunk)
            self.end_s = chunk.end_s

    def start(self):
        pass

    def stop(self):
        pass

    def read(self, _timeout_s):
        if not self._waiting:
            return None
        chunk = self._waiting.popleft()
        self._clock.now_s = chunk.end_s
        return AudioChunk(samples=chunk.samples, start_s=chunk.start_s, heard_at_s=chunk.end_s)

    @property
    def ended(self):
        return not self._waiting


def seven_minutes(clock):
    """A microphone with its sound, and when which recording of a person begins and ends in it."""
    rng = random.Random(0)
    microphone, said = Microphone(clock), []
    people = sorted(recordings(), key=lambda one: len(one.samples), reverse=True)
    pauses = [(60, "zeros"), (120, "zeros"), (30, "noise"), (60, "zeros"), (2, "zeros")]
    pauses += [(5, "noise"), (30, "zeros"), (1, "zeros"), (15, "another"), (60, "zeros")]
    while microphone.end_s < _SECONDS:
        for (pause_s, what), recording in zip(pauses, people, strict=False):
            if what == "another":
                microphone.end_s += 2.5  # nothing comes until it is open
            hushed = _HUSHED if what == "noise" else np.float32(0)
            microphone.hear(white_noise(pause_s) * hushed)
            begins_s = microphone.end_s
            microphone.hear(recording.samples)
            said.append((recording, begins_s, microphone.end_s))
        rng.shuffle(people)
    microphone.hear(white_noise(2) * np.float32(0))
    return microphone, said


def heard(microphone, clock, model):
    """Every word that comes of it."""
    echo = Echo()
    listener = Listener(
        [Lane(name="", source=microphone)],
        echo,
        Recognition(make_model=lambda: model),
        lambda _event: None,
        clock=clock,
    )
    echo.report = to_both(lambda _event: None, listener)
    hear_out(listener, 500)
    return echo.words


@needs_recordings
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_of_seven_minutes_every_word_is_heard_once():
    clock = HandClock()
    microphone, said = seven_minutes(clock)
    words = [word for one, begins_s, _ in said for word in spoken(one, begins_s)]
    found = heard(microphone, clock, Script(words))
    assert keys(word.text for word in found) == keys(word.text for word in words)


@needs_recordings
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(bundled_speech_model() is None, reason="needs the package moonshine-voice")
def test_a_recogniser_of_people_loses_and_doubles_nothing_in_seven_minutes():
    """It mishears some words, on other processors perhaps others: none is lost with its sentence,
    none is there twice, and nothing is heard where nobody speaks."""
    clock = HandClock()
    microphone, said = seven_minutes(clock)
    found = heard(microphone, clock, Moonshine(bundled_speech_model()))
    texts = {begins_s: [] for _, begins_s, _ in said}
    for word in found:
        began_s = max(at_s for at_s in texts if at_s - _EARLY_S <= word.start_s)
        texts[began_s].append(word)
    for recording, begins_s, ends_s in said:
        text = " ".join(word.text for word in texts[begins_s])
        assert word_error_rate(text, recording.text) <= _MISHEARD, (text, recording.text)
        assert texts[begins_s][-1].end_s < ends_s + _EARLY_S, "nobody speaks in the pause"
    whole, read = (" ".join(one) for one in ([w.text for w in found], [r.text for r, _, _ in said]))
    assert word_error_rate(whole, read) < _ALL_MISHEARD
