"""Recognise the sound of one or two sources on a thread, and feed the words to a session.

Each source records on its own thread and the session translates on another, with bounded queues in
between. The terminal and the window both use it.
"""

import contextlib
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from engine.audio.chunks import AudioChunk, AudioSource
from engine.audio.devices import SAMPLE_RATE_HZ, AudioNotice, NoticeKind, WantedDevice
from engine.errors import AudioError, SurtitleError
from engine.events import (
    EndPassage,
    Event,
    Failed,
    FedWord,
    FeedWords,
    Flush,
    Flushed,
    HeardCommand,
    Skip,
)
from engine.hub.catalogue import quicker_speech_model
from engine.messages import Code
from engine.speech import vad
from engine.speech.events import (
    Behind,
    CaughtUp,
    Heard,
    LeftOut,
    ListeningEnded,
    ListeningFailed,
    Noticed,
    RecognizerReady,
    SoundCame,
    TailChanged,
)
from engine.speech.hallucinations import said_word
from engine.speech.hypothesis import RecognizedWord
from engine.speech.recognizer import CATCH_UP_S, LiveRecognizer, Recognized
from engine.speech.speech_models import AnySpeechModel, make_recognizer

_log = logging.getLogger(__name__)

_POLL_S = 0.1  # time limit of reading a source that has no sound
_TOUCHING_S = 0.002  # successive chunks touch to within rounding
_NOW_S = 1.0  # younger sound is never left out
_SETTLING_S = 60.0
"""So long after the start nothing is left out, unless it has kept up before: models load late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningSettings:
    """How sound becomes words for the session.

    Attributes:
        pause_s: silence that ends an utterance, with or without punctuation.
        end_s: the same where the recogniser writes none, so that only pauses end sentences.
        max_words_waiting: recognition pauses while this many committed words are not read.
        behind_s: age of the recognised sound above which ``Behind`` is reported.
        most_behind_s: age of live sound, and of heard words without a caption, above which what
            waits is left out: a caption of a minute ago helps nobody.
        smaller_model: name of a quicker model, to advise where captions fall behind; empty for
            none.
    """

    pause_s: float = 1.5
    end_s: float = 0.3
    max_words_waiting: int = 150
    behind_s: float = 5.0
    most_behind_s: float = 10.0
    smaller_model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A speaker.

    Attributes:
        name: unique; may be empty if there is only one lane.
        live: the sound comes in real time, so that recognition can fall behind.
        whole: nobody waits for the words: each piece of the sound is heard once, as a whole.
        title: of a recording, for the notice that no speech is found in it.
    """

    name: str
    source: AudioSource
    live: bool = True
    whole: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """The models of speech; both are made on the recogniser's thread.

    Attributes:
        make_model: loads the model that serves all lanes.
        make_detector: makes the voice activity detector of a lane; None for Silero's.
        n_words: counts the words of each lane, from one listener to the next.
    """

    make_model: Callable[[], AnySpeechModel]
    make_detector: Callable[[], vad.Detector] | None = None
    n_words: Counter[str] = field(default_factory=Counter)


class Feed(Protocol):
    """The receiver of words: a session, or its owner. It is used on the recogniser's thread."""

    def send(self, command: HeardCommand | Skip) -> None:
        """Take a command."""

    @property
    def backlog_words(self) -> int:
        """Committed words that are not read yet."""


class Listener:
    """Call ``start``, pass each event of the session to ``take``, then ``stop`` and ``join``.

    Events are reported on the recogniser's thread. After ``ListeningEnded`` or a session's
    ``Failed`` nothing more is fed; a ``feed`` that survives failures keeps these to itself.
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
            feed: takes the words; its session may still be loading.
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
        self._flush = Flush(time.monotonic_ns())  # no other listener's
        self._translated = threading.Event()
        self._over = threading.Event()
        self._workers: Sequence[_LaneWorker] = ()
        self._unread = _UnreadWords(self._settings.most_behind_s)
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
        """Take an event of the session, on any thread."""
        if event == Flushed(number=self._flush.number):
            self._translated.set()
        elif isinstance(event, Failed):
            self._end()

    @property
    def lanes(self) -> tuple[str, ...]:
        return tuple(lane.name for lane in self._lanes)

    @property
    def n_dropped(self) -> int:
        return sum(lane.source.n_dropped for lane in self._lanes)

    @property
    def heard_s(self) -> float:
        """End of the sound that was heard, by the timeline of its source; of lanes the latest."""
        return max((one.heard_s for one in self._workers), default=0.0)

    @property
    def waiting_since_s(self) -> float | None:
        """When the oldest live sound began that waits for the recogniser; None if none waits."""
        return min((one.since_s for one in self._workers if one.since_s is not None), default=None)

    def stop(self) -> None:
        """Stop recording; the recorded sound is still recognised and translated."""
        for lane in self._lanes:
            lane.source.stop()

    def close(self) -> None:
        """Stop at once and wait for the thread; the rest stays untranslated."""
        self._end()
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
                self._feed.send(EndPassage(lane.name))
            self._feed.send(self._flush)
            self._translated.wait()
            if not self._over.is_set():
                self._report(ListeningEnded())

    def _end(self) -> None:
        self._over.set()
        self._translated.set()

    def _listen(self) -> None:
        started_s = self._clock()
        model = self._recognition.make_model()
        workers = self._workers = [self._lane_worker(lane, model) for lane in self._lanes]
        load_s, streams = self._clock() - started_s, workers[0].streams
        self._report(RecognizerReady(load_s=load_s, streams=streams))
        while workers and not self._over.is_set():
            for worker in workers:
                for event in worker.listen(_POLL_S / len(workers)):
                    self._pass_on(event)
                self._keep_up()
            workers = [worker for worker in workers if not worker.finished]

    def _lane_worker(self, lane: Lane, model: AnySpeechModel) -> "_LaneWorker":
        settings = self._settings
        detector = (self._recognition.make_detector or vad.SileroDetector)()
        whole_after_s = settings.pause_s if lane.whole else None
        recognizer = make_recognizer(model, detector, whole_after_s=whole_after_s)
        n_words = self._recognition.n_words
        return _LaneWorker(
            lane, recognizer, settings, self._clock, self._translates_slowly, n_words
        )

    def _pass_on(self, event: Heard | FeedWords | EndPassage) -> None:
        if isinstance(event, FeedWords):
            most = self._settings.max_words_waiting
            while self._feed.backlog_words >= most and not self._over.wait(_POLL_S):
                self._keep_up()
            if any(lane.live for lane in self._lanes):
                self._unread.feed(event.words)
        if not isinstance(event, FeedWords | EndPassage):
            self._report(event)
        elif not self._over.is_set():
            self._feed.send(event)

    def _keep_up(self) -> None:
        """Leave sentences that wait too long for a caption without one."""
        if self._unread.are_too_old(self._feed.backlog_words, self._clock()):
            self._feed.send(Skip(typed=False))

    def _translates_slowly(self) -> bool:
        """Return whether the words that wait reach half of the limit for recognition."""
        return 2 * self._feed.backlog_words >= self._settings.max_words_waiting


class _UnreadWords:
    """The words that were fed and may not be read yet; too old after ``most_s``. No clock."""

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._waiting = deque[float]()  # when each was said
        self._first_read_s: float | None = None
        self._has_kept_up = False

    def feed(self, words: Sequence[FedWord]) -> None:
        self._waiting += (one.spoken_at_s for one in words if one.spoken_at_s is not None)

    def are_too_old(self, n_unread: int, now_s: float) -> bool:
        """Return, once for the same words, whether the oldest of the unread is too old."""
        if n_unread < len(self._waiting):
            self._first_read_s = now_s if self._first_read_s is None else self._first_read_s
            self._has_kept_up |= n_unread == 0
        while len(self._waiting) > n_unread:
            self._waiting.popleft()
        has_settled = self._first_read_s is not None and (
            self._has_kept_up or now_s - self._first_read_s > _SETTLING_S
        )
        is_old = bool(self._waiting) and now_s - self._waiting[0] > self._most_s
        if has_settled and is_old:
            self._waiting.clear()
            return True
        return False


class _LaneWorker:
    """Recognise one lane. Only the recogniser's thread uses it.

    Attributes:
        since_s: when the oldest sound began that is not recognised, as far as it was read; None
            while none waits, and where the sound does not come in real time. Any thread may look.
        streams: see ``LiveRecognizer``.
    """

    def __init__(
        self,
        lane: Lane,
        recognizer: LiveRecognizer,
        settings: ListeningSettings,
        clock: Callable[[], float],
        translates_slowly: Callable[[], bool],
        n_words: Counter[str],
    ) -> None:
        self._lane = lane
        self._recognizer = recognizer
        self._settings = settings
        self._clock = clock
        self._translates_slowly = translates_slowly
        self._n_words = n_words
        self._n_words_before = n_words[lane.name]
        self._pause_s = settings.pause_s if recognizer.marks_sentences else settings.end_s
        self._ended_s: float | None = None  # time at which a pause ends the passage
        self._is_behind = False
        self._hears = False  # sound came
        self._newest: AudioChunk | None = None  # that was recognised
        self._began_s = clock()
        self._has_kept_up = False
        self.since_s: float | None = None
        self.streams, self.finished = recognizer.streams, False

    @property
    def heard_s(self) -> float:
        return 0.0 if self._newest is None else self._newest.end_s

    def listen(self, timeout_s: float) -> Iterator[Heard | FeedWords | EndPassage]:
        """Read the source, waiting up to ``timeout_s``; yield events, words and ends."""
        source = self._lane.source
        try:
            chunk = source.read(timeout_s)
        except AudioError:
            yield from self._take_results(self._recognizer.flush(), None)  # what was heard before
            raise
        if chunk is None:
            self.since_s = None
            if source.ended:
                yield from self._finish()
            return
        if not self._hears:
            self._hears = True
            yield SoundCame(lane=self._lane.name)
        chunk = yield from self._kept_up(chunk)
        for sound in self._with_waiting(chunk):
            yield from self._take_results(self._recognizer.feed(sound), sound)
            self._newest = sound
            yield from self._compare_times(sound)
            if self._recognizer.hears_speech:
                self._ended_s = None
            elif self._ended_s is not None and sound.end_s > self._ended_s:
                self._ended_s = None
                yield EndPassage(self._lane.name)

    def _finish(self) -> Iterator[Heard | FeedWords | EndPassage]:
        yield from self._take_results(self._recognizer.flush(), None)
        self.finished = True
        if self._lane.title and self._n_words[self._lane.name] == self._n_words_before:
            message = Code.NO_SPEECH_IN(file=self._lane.title)
            notice = AudioNotice(kind=NoticeKind.SILENT, device="", message=message)
            yield Noticed(lane=self._lane.name, notice=notice)

    def _kept_up(
        self, chunk: AudioChunk
    ) -> Generator[Heard | FeedWords | EndPassage, None, AudioChunk]:
        if self._lane.live:
            self.since_s = _begun_s(chunk)
            if self._is_too_old(chunk):
                chunk = yield from self._leave_out(chunk)
                self.since_s = _begun_s(chunk)
        return chunk

    def _is_too_old(self, chunk: AudioChunk) -> bool:
        now_s = self._clock()
        age_s = now_s - chunk.heard_at_s
        self._has_kept_up |= age_s < _NOW_S
        has_settled = self._has_kept_up or now_s - self._began_s > _SETTLING_S
        return has_settled and age_s > self._settings.most_behind_s

    def _leave_out(
        self, chunk: AudioChunk
    ) -> Generator[Heard | FeedWords | EndPassage, None, AudioChunk]:
        """End what was said, and return the newest sound; report the speech before it."""
        yield from self._take_results(self._recognizer.flush(), self._newest)
        yield EndPassage(self._lane.name)
        begun_s = _begun_s(chunk) - chunk.start_s
        skipped = list[AudioChunk]()
        while self._clock() - chunk.heard_at_s > _NOW_S:
            following = self._lane.source.read(0)
            if following is None:
                break
            skipped.append(chunk)
            chunk = following
        if speech := self._recognizer.skip(skipped):
            start_s, last = speech[0].start_s, speech[-1]
            yield LeftOut(
                lane=self._lane.name,
                seconds=last.start_s + len(last.samples) / SAMPLE_RATE_HZ - start_s,
                start_s=start_s,
                since_s=begun_s + start_s,
                after=self._n_words[self._lane.name],
            )
        return chunk

    def _with_waiting(self, chunk: AudioChunk) -> Iterator[AudioChunk]:
        """Join a late chunk with those that came meanwhile, so that the model runs less often."""
        joined = [chunk]
        late_s = self._clock() - chunk.heard_at_s
        while late_s > 0 and joined[-1].end_s - chunk.start_s < min(late_s, CATCH_UP_S):
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
    ) -> Iterator[Heard | FeedWords | EndPassage]:
        lane = self._lane.name
        for result in results:
            words = tuple(self._committed(result.committed, sound, self._clock()))
            if words:
                yield FeedWords(words, lane)
            if result.speech_ended and self._recognizer.ends_passages:
                yield EndPassage(lane)
            elif result.speech_ended and sound is not None:
                self._ended_s = sound.end_s + self._pause_s
            tail = tuple(word.text for word in result.tail)
            yield TailChanged(lane=lane, words=tail, after=self._n_words[lane])

    def _committed(
        self, words: Sequence[RecognizedWord], sound: AudioChunk | None, now_s: float
    ) -> Iterator[FedWord]:
        for word in words:
            age_s = sound.end_s - word.end_s if sound else 0.0
            heard_at_s = sound.heard_at_s if sound else now_s
            text = said_word(word.text)
            if text or word.vectors is not None:
                self._n_words[self._lane.name] += 1
                yield FedWord(
                    text,
                    number=self._n_words[self._lane.name],
                    start_s=word.start_s,
                    end_s=word.end_s,
                    spoken_at_s=heard_at_s - max(0.0, age_s),
                    committed_at_s=now_s,
                    vectors=word.vectors,
                )

    def _compare_times(self, sound: AudioChunk) -> Iterator[Heard]:
        """Report when recognition falls behind, and when it keeps up again."""
        settings = self._settings
        behind_s = self._clock() - sound.heard_at_s
        if not self._lane.live:
            return
        if not self._is_behind and behind_s > settings.behind_s:
            self._is_behind = True
            yield self._behind(behind_s)
        elif self._is_behind and behind_s < _NOW_S:
            self._is_behind = False
            yield CaughtUp(lane=self._lane.name)

    def _behind(self, seconds: float) -> Behind:
        """Return the event that names the slow stage; recognition can use a quicker model."""
        lane = self._lane.name
        if self._translates_slowly():
            return Behind(lane=lane, seconds=seconds, message=Code.TRANSLATION_SLOW())
        smaller = self._settings.smaller_model
        code = Code.CAPTIONS_SLOW if smaller else Code.CAPTIONS_SLOW_SMALLEST
        message = code(smaller=smaller)
        return Behind(lane=lane, seconds=seconds, message=message, smaller_model=smaller)


def _begun_s(chunk: AudioChunk) -> float:
    return chunk.heard_at_s - len(chunk.samples) / SAMPLE_RATE_HZ


def _joined(chunks: Sequence[AudioChunk]) -> AudioChunk:
    if len(chunks) == 1:
        return chunks[0]
    samples = np.concatenate([chunk.samples for chunk in chunks])
    return replace(chunks[0], samples=samples, heard_at_s=chunks[-1].heard_at_s)


# Make listeners, alike for the terminal and the window.


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """An audio or video file to listen to, at its own pace or as fast as possible."""

    path: Path
    real_time: bool = False


Wanted = WantedDevice | WantedFile
"""A source of sound."""


def noticed(lane: str, report: Callable[[Heard], None]) -> Callable[[AudioNotice], None]:
    return lambda notice: report(Noticed(lane=lane, notice=notice))


def make_listening(
    lanes: Sequence[Lane],
    feed: Feed,
    load: Callable[[], AnySpeechModel],
    report: Callable[[Heard], None],
    *,
    recognizer: str,
    n_words: Counter[str] | None = None,
) -> Listener:
    """Return a listener, which is not started; ``load`` runs on the recogniser's thread.

    ``n_words`` counts the words of each lane, from one listener to the next.
    """
    recognition = Recognition(make_model=load, n_words=Counter() if n_words is None else n_words)
    settings = ListeningSettings(smaller_model=quicker_speech_model(recognizer))
    return Listener(lanes, feed, recognition, report, settings)
