"""Recognise the sound of one or two sources on a thread, and feed the words to a session.

Each source records on its own thread and the session translates on another, with bounded queues in
between. The terminal and the window both use it.
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
    SoundCame,
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

_POLL_S = 0.1  # time limit of reading a source that has no sound
_TOUCHING_S = 0.002  # successive chunks touch to within rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningSettings:
    """How sound becomes words for the session.

    Attributes:
        recognizer: how often the model runs.
        vad: what counts as speech.
        pause_s: silence that ends an utterance, with or without punctuation.
        max_words_waiting: recognition pauses while this many committed words have no caption.
        behind_s: age of the recognised sound above which ``Behind`` is reported.
        smaller_model: name of the model to advise if recognition is too slow; empty for none.
    """

    recognizer: RecognizerSettings = field(default_factory=RecognizerSettings)
    vad: VadSettings = field(default_factory=VadSettings)
    pause_s: float = 1.5
    max_words_waiting: int = 150
    behind_s: float = 5.0
    smaller_model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A speaker.

    Attributes:
        name: unique; may be empty if there is only one lane.
        source: of the sound.
        live: the sound comes in real time, so that recognition can fall behind.
    """

    name: str
    source: AudioSource
    live: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """The models of speech; both are made on the recogniser's thread.

    Attributes:
        make_model: loads the model that serves all lanes.
        make_detector: makes the voice activity detector of a lane.
    """

    make_model: Callable[[], SpeechModel]
    make_detector: Callable[[], Detector]


Feed = Callable[[FeedWords | EndPassage], None]
"""Takes the words for a session; called on the recogniser's thread."""


class Listener:
    """Call ``start``, pass each event of the session to ``take``, then ``stop`` and ``join``.

    Its own events are reported on the recogniser's thread; those of the session are not repeated.
    After ``ListeningEnded`` or a session's ``Failed`` nothing more is fed.
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
            lanes: with different names.
            feed: sends words to the session, which may still be loading.
            recognition: the models of speech.
            report: receives the events.
            settings: None for the defaults.
            clock: the clock of the chunks' ``heard_at_s``.
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
        """Start recording, load the recogniser on its thread, and return at once.

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
        """Take an event of the session, on the session's thread."""
        with self._changed:
            self._utterances.take(event, self._clock())
            self._broken |= isinstance(event, Failed)
            self._changed.notify_all()

    def restart(self) -> None:
        """Continue with a new session, which numbers utterances from the start, after a failure.

        The owner of ``feed`` must first feed the new session all words of utterances that the old
        one did not finish, in order.
        """
        with self._changed:
            self._utterances.restart()

    @property
    def lanes(self) -> tuple[str, ...]:
        """The names of the lanes."""
        return tuple(lane.name for lane in self._lanes)

    @property
    def n_dropped(self) -> int:
        """The number of 16 kHz samples that were lost."""
        return sum(lane.source.n_dropped for lane in self._lanes)

    def stop(self) -> None:
        """Stop recording; the recorded sound is still recognised and translated."""
        for lane in self._lanes:
            lane.source.stop()

    def close(self) -> None:
        """Stop at once and wait for the thread; the rest stays untranslated."""
        with self._changed:
            self._leaving = True
            self._changed.notify_all()
        self.stop()
        if self._thread.is_alive():
            self._thread.join()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until everything is translated; return False on a timeout."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._listen()
        except SurtitleError as error:
            self._report(ListeningFailed(message=error.message))
        except Exception as error:  # noqa: BLE001  the top of the thread: any failure is reported
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
        workers = [self._lane_worker(lane, model) for lane in self._lanes]
        self._report(RecognizerReady(load_s=self._clock() - started_s))
        while workers and not self._over:
            for worker in workers:
                for event in worker.listen(_POLL_S / len(workers)):
                    self._pass_on(event)
            workers = [worker for worker in workers if not worker.finished]

    def _lane_worker(self, lane: Lane, model: SpeechModel) -> "_LaneWorker":
        settings = self._settings
        vad = VoiceActivityDetector(self._recognition.make_detector(), settings.vad)
        recognizer = Recognizer(model, vad, settings.recognizer)
        return _LaneWorker(lane, recognizer, settings, self._clock, self._translates_slowly)

    def _pass_on(self, event: Heard | EndPassage) -> None:
        if isinstance(event, EndPassage):
            self._feed(event)
            return
        if isinstance(event, WordsCommitted):
            self._await_room(event)
        self._report(event)
        if isinstance(event, WordsCommitted):
            self._feed(FeedWords(tuple(word.text for word in event.words), event.lane))

    def _await_room(self, event: WordsCommitted) -> None:
        """Wait until the session has room for more words, then count these as waiting."""
        most = self._settings.max_words_waiting
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._utterances.n_uncaptioned < most)
            self._utterances.feed(event.lane, event.words)

    def _translates_slowly(self) -> bool:
        """Return whether the words without a caption reach half of the limit for recognition."""
        with self._changed:
            return 2 * self._utterances.n_uncaptioned >= self._settings.max_words_waiting

    @property
    def _over(self) -> bool:
        return self._broken or self._leaving


class _LaneWorker:
    """Recognise one lane. Only the recogniser's thread uses it."""

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
        self._ended_s: float | None = None  # time at which a pause ends the passage
        self._is_behind = False
        self._heard_speech = False
        self._hears = False  # sound came
        self.finished = False

    def listen(self, timeout_s: float) -> Iterator[Heard | EndPassage]:
        """Read the source, waiting up to ``timeout_s``; yield events, and ends of passages."""
        source = self._lane.source
        chunk = source.read(timeout_s)
        if chunk is None:
            if source.ended:
                yield from self._take_results(self._recognizer.flush(), None)
                yield from self._take_speech(hears=False)
                self.finished = True
            return
        if not self._hears:
            self._hears = True
            yield SoundCame(lane=self._lane.name)
        for sound in self._with_waiting(chunk):
            yield from self._take_results(self._recognizer.feed(sound), sound)
            yield from self._compare_times(sound)
            yield from self._take_speech(hears=self._recognizer.hears_speech)
            if self._recognizer.hears_speech:
                self._ended_s = None
            elif self._ended_s is not None and sound.end_s > self._ended_s:
                self._ended_s = None
                yield EndPassage(self._lane.name)

    def _with_waiting(self, chunk: AudioChunk) -> Iterator[AudioChunk]:
        """Join a late chunk with those that came meanwhile, so that the model runs less often."""
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

    def _take_results(
        self, results: Sequence[Recognized], sound: AudioChunk | None
    ) -> Iterator[Heard]:
        for result in results:
            words = tuple(self._committed(result.committed, sound, self._clock()))
            if words:
                yield WordsCommitted(lane=self._lane.name, words=words)
            if result.speech_ended and sound is not None:
                self._ended_s = sound.end_s + self._settings.pause_s
            yield TailChanged(lane=self._lane.name, words=tuple(word.text for word in result.tail))

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
        """Report when recognition falls behind, and when it keeps up again."""
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
        """Return the event that names the slow stage; recognition can use a smaller model."""
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
