"""Sources, models and sessions for tests of listening, without sound, weights or threads."""

import contextlib
import threading
import time
from collections import deque

import numpy as np

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.events import (
    CaptionChanged,
    EndPassage,
    FeedWords,
    Flush,
    Flushed,
    Ready,
    SourceChanged,
    UtteranceEnded,
    UtteranceOpened,
    text_of,
)
from engine.settings import UtteranceLimits
from engine.speech.hypothesis import Hypothesis, RecognizedWord
from engine.text.sentences import split_sentences

WORD_S = 0.4


WAIT_S = 90


@contextlib.contextmanager
def started(listener, wait_s=WAIT_S):
    """Let a listener hear during the block, and to its end after it; close it in any case."""
    listener.start()
    try:
        yield
        assert listener.join(wait_s)
    finally:
        listener.close()


def hear_out(listener, wait_s=WAIT_S):
    """Let a listener hear to its end."""
    with started(listener, wait_s):
        pass


class Loudness:
    """A detector: what is not silent is speech."""

    def probability(self, frame):
        return float(np.abs(frame).max() > 0.1)

    def reset(self):
        pass


class Script:
    """A model that knows what is said when, and is unsure of the word it hears half of."""

    def __init__(self, words, *, on_pass=lambda: None):
        self.words = words
        self.on_pass = on_pass
        self.prompts = []
        self.n_whole = 0  # passes over pieces that are heard once

    def recognize(self, samples, start_s, prompt, *, whole=False):
        self.prompts.append(prompt)
        self.n_whole += whole
        self.on_pass()
        end_s = start_s + len(samples) / SAMPLE_RATE_HZ
        heard = []
        for word in self.words:
            if word.middle_s < start_s or word.start_s >= end_s:
                continue
            text = word.text if word.end_s <= end_s + 0.01 else f"xx{len(self.prompts)}"
            heard.append(RecognizedWord(text=text, start_s=word.start_s, end_s=word.end_s))
        return Hypothesis(words=tuple(heard), start_s=start_s, end_s=end_s)


def script(text, start_s=0.0):
    """The words of a text one after the other."""
    return [
        RecognizedWord(text=word, start_s=start_s + i * WORD_S, end_s=start_s + (i + 1) * WORD_S)
        for i, word in enumerate(text.split())
    ]


def sound_of(words, seconds):
    """Loud where a word is, silent elsewhere."""
    samples = np.zeros(round(seconds * SAMPLE_RATE_HZ), np.float32)
    for word in words:
        first, last = (round(at * SAMPLE_RATE_HZ) for at in (word.start_s, word.end_s))
        samples[first:last] = 0.5
    return samples


class Chunks:
    """A source that has its sound already, in pieces of 0.1 s; ``heard_at_s`` by its clock."""

    def __init__(self, samples, clock=time.monotonic, *, open_end=False):
        self._waiting = deque(
            (at / SAMPLE_RATE_HZ, samples[at : at + 1600]) for at in range(0, len(samples), 1600)
        )
        self._clock = clock
        self._open_end = open_end
        self.started = self.stopped = False
        self.n_dropped = 0
        self._stopping = threading.Event()

    def start(self):
        self.started = True

    def read(self, timeout_s):
        if not self._waiting:
            if self._open_end:
                self._stopping.wait(timeout_s)
            return None
        start_s, samples = self._waiting.popleft()
        return AudioChunk(samples=samples, start_s=start_s, heard_at_s=self._clock())

    def stop(self):
        self.stopped = True
        self._stopping.set()

    @property
    def ended(self):
        return not self._waiting and (self.stopped or not self._open_end)


def to_both(heard, listener):
    """Reports the events of a session to two receivers."""

    def report(event):
        heard(event)
        listener.take(event)

    return report


class Echo:
    """A session that says every word again at once, in capitals; captions can be held back."""

    def __init__(self):
        self.report = None
        self.fed = []
        self.words = []
        self.backlog_words = 0
        self.held = None  # a list: captions wait in it
        self._number = 0
        self._open = {}

    def hold(self):
        self.held = []

    def release(self):
        held, self.held = self.held, None
        self.backlog_words = 0
        for event in held or ():
            self.report(event)

    def send(self, command):
        match command:
            case FeedWords(words, lane):
                texts, start = [word.text for word in words], 0
                for sentence in split_sentences(texts, UtteranceLimits(), finished=False):
                    stop = start + len(sentence.words)
                    self.feed_words(words[start:stop], lane)
                    start = stop
                    if sentence.ended:
                        self.end_passage(lane)
            case EndPassage(lane):
                self.end_passage(lane)
            case Flush(number):
                self._tell(Flushed(number=number))

    def feed_words(self, words, lane):
        self.fed += [(lane, word.text) for word in words]
        self.words += words
        self.backlog_words += 0 if self.held is None else len(words)
        if lane not in self._open:
            self._number += 1
            self._open[lane] = (self._number, [])
            self.report(UtteranceOpened(utterance=self._number, lane=lane))
        number, said = self._open[lane]
        before = len(text_of(said).upper())
        said += words
        self.report(SourceChanged(utterance=number, words=tuple(said)))
        text = text_of(said).upper()[before:]
        self._tell(CaptionChanged(utterance=number, kept=before, text=text, n_read=len(said)))

    def end_passage(self, lane):
        found = self._open.pop(lane, None)
        if found:
            self._tell(UtteranceEnded(utterance=found[0]))

    def _tell(self, event):
        if self.held is None:
            self.report(event)
        else:
            self.held.append(event)


class EchoSession(Echo):
    """An echo that is made and started as a session is: before its start words wait."""

    def __init__(self, _model, translation, report, *, log=None):
        super().__init__()
        self.report = report
        self.translation = translation
        self.log = log
        self.stopped = False
        self._lock = threading.Lock()
        self._before_start = []  # None from then on

    def start(self):
        self.report(Ready(model="echo", languages={"de": "German"}, load_s=0.0))
        with self._lock:
            waiting, self._before_start = self._before_start, None
            for command in waiting:
                super().send(command)

    def send(self, command):
        with self._lock:
            if self._before_start is not None:
                self._before_start.append(command)
                return
        super().send(command)

    def stop(self):
        self.stopped = True
