"""Sound in, captions out: one thread recognises what one or two sources give and feeds a session.

A source records on a thread of its own and the session translates on another, so there are three,
with a bounded queue between each two. The terminal and the window use it alike.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.audio.chunks import AudioChunk, AudioSource
from engine.commands import EndPassage, FeedWords
from engine.errors import SurtitleError
from engine.events import Event, Failed
from engine.messages import Code
from engine.speech.events import (
    Behind,
    CaughtUp,
    Heard,
    ListeningEnded,
    ListeningFailed,
    RecognizerReady,
    SpeechChanged,
    TailChanged,
    WordsCommitted,
)
from engine.speech.hypothesis import RecognizedWord
from engine.speech.normalise import plain_word
from engine.speech.recognizer import Recognized, Recognizer, RecognizerSettings, SpeechModel
from engine.speech.vad import Detector, VadSettings, VoiceActivityDetector
from engine.text.sentences import word_parts
from engine.utterances import FedWord, UtteranceTracker

_log = logging.getLogger(__name__)

_POLL_S = 0.1  # how soon a source that gives nothing is asked again
_TOUCHING_S = 0.002  # chunks that follow each other do so to within rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningSettings:
    """How sound becomes words for the session.

    Attributes:
        recognizer: how often the model runs.
        vad: what counts as speech.
        pause_s: silence after which an utterance has ended, with or without punctuation.
        max_words_waiting: committed words without a caption from which recognising waits.
        behind_s: age of the sound worked on from which it is told.
        smaller_model: what to choose where recognising is too slow; nothing where there is none.
    """

    recognizer: RecognizerSettings = field(default_factory=RecognizerSettings)
    vad: VadSettings = field(default_factory=VadSettings)
    pause_s: float = 1.5
    max_words_waiting: int = 150
    behind_s: float = 5.0
    smaller_model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Somebody who is heard.

    Attributes:
        name: told apart by it; may be empty where there is one lane only.
        source: where the sound comes from.
        live: it comes at its own pace, so that one can be behind.
    """

    name: str
    source: AudioSource
    live: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """What recognises; all of it is called on the recogniser's thread.

    Attributes:
        make_model: loads the model, once; it serves all lanes.
        make_detector: makes a detector of speech, one for each lane.
    """

    make_model: Callable[[], SpeechModel]
    make_detector: Callable[[], Detector]


Feed = Callable[[FeedWords | EndPassage], None]
"""Takes the words for a session; it is called on the recogniser's thread."""


class Listener:
    """Start it, hand it the session's events, stop it, wait for it.

    Its own events are reported on the recogniser's thread, those of the session are not reported
    again. After ``ListeningEnded`` or a session's ``Failed`` nothing more is fed.
    """

    def __init__(
        self,
        lanes: Sequence[Lane],
        feed: Feed,
        recognition: Recognition,
        report: Callable[[Heard], None],
        settings: ListeningSettings | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare.

        Args:
            lanes: with names that differ.
            feed: sends words to the session, which may still be loading.
            recognition: what recognises.
            report: gets the events.
            settings: None takes the usual ones.
            clock: that of the chunks' ``heard_at_s``.
        """
        if len({lane.name for lane in lanes}) != len(lanes) or not lanes:
            msg = f"expected lanes whose names differ, got {[lane.name for lane in lanes]}"
            raise ValueError(msg)
        self._lanes = tuple(lanes)
        self._feed = feed
        self._recognition = recognition
        self._report = report
        self._settings = settings or ListeningSettings()
        self._clock = clock
        self._utterances = UtteranceTracker(n_ended_kept=16)
        self._changed = threading.Condition()  # guards the utterances and the two below
        self._broken = False
        self._leaving = False
        self._thread = threading.Thread(target=self._run, name="surtitle-ears", daemon=True)

    def start(self) -> None:
        """Begin to record, then load the recogniser on its thread; returns at once.

        Raises:
            AudioError: a file cannot be read; then nothing runs.
        """
        with contextlib.ExitStack() as started:
            for lane in self._lanes:
                lane.source.start()
                started.callback(lane.source.stop)
            started.pop_all()
        self._thread.start()

    def take(self, event: Event) -> None:
        """Take an event of the session, on its thread: room for more words, or the end."""
        with self._changed:
            self._utterances.take(event, self._clock())
            self._broken |= isinstance(event, Failed)
            self._changed.notify_all()

    def restart(self) -> None:
        """Say that the session failed and another takes its place, which numbers anew.

        What the one before did not translate to its end must be fed to the new one again, in order
        and before all else, by whom this listener feeds.
        """
        with self._changed:
            self._utterances.restart()

    @property
    def n_dropped(self) -> int:
        """Count the 16 kHz samples that were lost."""
        return sum(lane.source.n_dropped for lane in self._lanes)

    def stop(self) -> None:
        """Record no more. What was recorded is still recognised and translated."""
        for lane in self._lanes:
            lane.source.stop()

    def close(self) -> None:
        """End at once and wait for the thread; what was not translated is left."""
        with self._changed:
            self._leaving = True
            self._changed.notify_all()
        self.stop()
        if self._thread.is_alive():
            self._thread.join()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until everything is translated; tell whether it is."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._listen()
        except SurtitleError as error:
            self._report(ListeningFailed(message=error.message))
        except Exception as error:  # noqa: BLE001  the one place where anything becomes a message
            _log.exception("listening stopped")
            self._report(ListeningFailed(message=Code.LISTENING_STOPPED(reason=str(error))))
        finally:
            self.stop()
            for lane in self._lanes:
                self._feed(EndPassage(lane.name))
            with self._changed:
                self._changed.wait_for(lambda: self._over or self._utterances.all_ended)
                is_over = self._over
            if not is_over:
                self._report(ListeningEnded())

    def _listen(self) -> None:
        started_s = self._clock()
        model = self._recognition.make_model()
        ears = [self._ear(lane, model) for lane in self._lanes]
        self._report(RecognizerReady(load_s=self._clock() - started_s))
        while ears and not self._over:
            for ear in ears:
                for event in ear.listen(_POLL_S / len(ears)):
                    self._take_heard(event)
            ears = [ear for ear in ears if not ear.finished]

    def _ear(self, lane: Lane, model: SpeechModel) -> "_Ear":
        settings = self._settings
        vad = VoiceActivityDetector(self._recognition.make_detector(), settings.vad)
        recognizer = Recognizer(model, vad, settings.recognizer)
        return _Ear(lane, recognizer, settings, self._clock, self._translates_slowly)

    def _take_heard(self, event: Heard | EndPassage) -> None:
        if isinstance(event, EndPassage):
            self._feed(event)
            return
        if isinstance(event, WordsCommitted):
            self._await_room(event)
        self._report(event)
        if isinstance(event, WordsCommitted):
            self._feed(FeedWords(tuple(word.text for word in event.words), event.lane))

    def _await_room(self, event: WordsCommitted) -> None:
        """Wait until the session has room for more words; they are counted from now on."""
        most = self._settings.max_words_waiting
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._utterances.n_uncaptioned < most)
            self._utterances.feed(event.lane, event.words)

    def _translates_slowly(self) -> bool:
        """Tell whether so many words wait for their captions that recognising nearly waits, too."""
        with self._changed:
            return 2 * self._utterances.n_uncaptioned >= self._settings.max_words_waiting

    @property
    def _over(self) -> bool:
        return self._broken or self._leaving


class _Ear:
    """Recognise one lane. The recogniser's thread alone uses it."""

    def __init__(
        self,
        lane: Lane,
        recognizer: Recognizer,
        settings: ListeningSettings,
        clock: Callable[[], float],
        translates_slowly: Callable[[], bool],
    ) -> None:
        self._lane = lane
        self._recognizer = recognizer
        self._settings = settings
        self._clock = clock
        self._translates_slowly = translates_slowly
        self._ended_s: float | None = None  # where speech ended without the end of a sentence
        self._is_behind = False
        self._heard_speech = False
        self.finished = False

    def listen(self, timeout_s: float) -> Iterator[Heard | EndPassage]:
        """Take what the source has, or wait for it; yield events, and ends of passages."""
        source = self._lane.source
        chunk = source.read(timeout_s)
        if chunk is None:
            if source.ended:
                yield from self._take_news(self._recognizer.flush(), None)
                yield from self._take_speech(hears=False)
                self.finished = True
            return
        for sound in self._with_what_waits(chunk):
            yield from self._take_news(self._recognizer.feed(sound), sound)
            yield from self._compare_times(sound)
            yield from self._take_speech(hears=self._recognizer.hears_speech)
            if self._recognizer.hears_speech:
                self._ended_s = None
            elif self._ended_s is not None and sound.end_s > self._ended_s:
                self._ended_s = None
                yield EndPassage(self._lane.name)

    def _with_what_waits(self, chunk: AudioChunk) -> Iterator[AudioChunk]:
        """Join a chunk with those that came meanwhile, so that the model runs less often."""
        most_s = self._settings.recognizer.catch_up_s
        joined = [chunk]
        late_s = self._clock() - chunk.heard_at_s
        while late_s > 0 and joined[-1].end_s - chunk.start_s < min(late_s, most_s):
            following = self._lane.source.read(0) if self._lane.live else None
            if following is None:
                break
            if abs(following.start_s - joined[-1].end_s) > _TOUCHING_S:
                yield _joined(joined)
                joined = []
            joined.append(following)
        yield _joined(joined)

    def _take_news(self, news: Sequence[Recognized], sound: AudioChunk | None) -> Iterator[Heard]:
        for one in news:
            words = tuple(self._committed(one.committed, sound, self._clock()))
            if words:
                yield WordsCommitted(lane=self._lane.name, words=words)
            if one.speech_ended and sound is not None:
                self._ended_s = sound.end_s + self._settings.pause_s
            yield TailChanged(lane=self._lane.name, words=tuple(word.text for word in one.tail))

    def _committed(
        self, words: Sequence[RecognizedWord], sound: AudioChunk | None, now_s: float
    ) -> Iterator[FedWord]:
        for word in words:
            age_s = sound.end_s - word.end_s if sound else 0.0
            heard_at_s = sound.heard_at_s if sound else now_s
            for part in word_parts(plain_word(word.text)):
                if part:
                    yield FedWord(
                        text=part,
                        start_s=word.start_s,
                        end_s=word.end_s,
                        spoken_at_s=heard_at_s - max(0.0, age_s),
                        committed_at_s=now_s,
                    )

    def _take_speech(self, *, hears: bool) -> Iterator[Heard]:
        if hears != self._heard_speech:
            self._heard_speech = hears
            yield SpeechChanged(lane=self._lane.name, speaks=hears)

    def _compare_times(self, sound: AudioChunk) -> Iterator[Heard]:
        """Report when it falls behind, and when it keeps up again."""
        settings = self._settings
        behind_s = self._clock() - sound.heard_at_s
        slow = self._recognizer.advises_smaller_model
        if not self._lane.live:
            return
        if not self._is_behind and (behind_s > settings.behind_s or slow):
            self._is_behind = True
            yield self._behind(behind_s)
        elif self._is_behind and behind_s < settings.recognizer.step_s and not slow:
            self._is_behind = False
            yield CaughtUp(lane=self._lane.name)

    def _behind(self, seconds: float) -> Behind:
        """Say what is slow; a smaller recogniser helps where recognising is."""
        lane = self._lane.name
        if self._translates_slowly():
            return Behind(lane=lane, seconds=seconds, message=Code.TRANSLATION_SLOW())
        smaller = self._settings.smaller_model
        if self._recognizer.advises_smaller_model:
            code = Code.RECOGNITION_SLOW if smaller else Code.RECOGNITION_SLOW_SMALLEST
        else:
            code = Code.CAPTIONS_SLOW if smaller else Code.CAPTIONS_SLOW_SMALLEST
        message = code(factor=self._recognizer.real_time_factor, smaller=smaller)
        return Behind(lane=lane, seconds=seconds, message=message, smaller_model=smaller)


def _joined(chunks: Sequence[AudioChunk]) -> AudioChunk:
    if len(chunks) == 1:
        return chunks[0]
    samples = np.concatenate([chunk.samples for chunk in chunks])
    return replace(chunks[0], samples=samples, heard_at_s=chunks[-1].heard_at_s)
