"""Read the sound of an audio or video file, in real time or as fast as it is read.

The timeline is a player's: where the first audio track starts after the picture, or has a gap, the
chunks do as well.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.audio.chunks import AudioChunk
from engine.audio.decoder import Decoder
from engine.audio.devices import AudioNotice, NoticeKind
from engine.messages import Code, Message


class FileSource:
    """A file as a source. It needs no thread: ``read`` decodes, and waits in real time.

    Attributes:
        position_s: how much of it was read.
    """

    def __init__(
        self,
        path: Path,
        report: Callable[[AudioNotice], None],
        *,
        real_time: bool,
        track: int | None = None,
        language: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; ``start`` opens the file.

        Args:
            path: the file, in any format that FFmpeg knows.
            report: called during ``start`` and ``read``, when the file is damaged.
            real_time: return each chunk when a microphone would have; else at once.
            track: which of its audio tracks, from 1; None takes one, and tells which of several.
            language: two letters of what is spoken.
            clock: the time in seconds.
        """
        self._path = path
        self._report = report
        self._real_time = real_time
        self._track, self._language = track, language
        self._clock = clock
        self._begun_s = 0.0
        self._lock = threading.Lock()  # between reading and stopping
        self._stopping = threading.Event()
        self._going = threading.Event()  # not paused
        self._going.set()
        self._paused_s = 0.0  # by the clock, when the pause began
        self._decoder: Decoder | None = None
        self._next: AudioChunk | None = None
        self._over = False
        self._was_damaged = False
        self.position_s = 0.0

    def start(self) -> None:
        """Open the file and start the timeline.

        Raises:
            AudioError: the file cannot be read, or has no sound.
        """
        decoder = self._decoder = Decoder(self._path, track=self._track, language=self._language)
        if self._track is None and decoder.n_tracks > 1:
            code = Code.TRACK_TAKEN_IN if decoder.language else Code.TRACK_TAKEN
            self._tell(
                code(
                    file=self._path.name,
                    track=decoder.track,
                    tracks=decoder.n_tracks,
                    language=decoder.language,
                ),
                NoticeKind.LISTENING,
            )
        self._begun_s = self._clock()

    def read(self, timeout_s: float) -> AudioChunk | None:
        """Return the next chunk; None if it is not due in time, paused, or the file has ended.

        Raises:
            AudioError: the file cannot be read any further.
        """
        if not self._going.wait(timeout_s):
            return None
        with self._lock:
            if self._next is None:
                self._next = self._decoded()
            chunk = self._next
        if chunk is None:
            return None
        heard_at_s = self._clock()
        if self._real_time:
            due_s = self._begun_s + chunk.end_s
            self._stopping.wait(min(max(due_s - heard_at_s, 0), timeout_s))
            if self._clock() < due_s:
                return None
            heard_at_s = due_s
        with self._lock:
            self._next = None
        self.position_s = chunk.end_s
        return replace(chunk, heard_at_s=heard_at_s)

    def pause(self, *, paused: bool) -> None:
        """Hold reading, or go on; in real time the rest is due later by the length of the pause."""
        with self._lock:
            if paused == self._going.is_set():
                now_s = self._clock()
                if paused:
                    self._paused_s = now_s
                    self._going.clear()
                else:
                    self._begun_s += now_s - self._paused_s
                    self._going.set()

    def stop(self) -> None:
        """Close the file, also during a pause."""
        self._stopping.set()
        self._going.set()
        with self._lock:
            self._end()

    @property
    def ended(self) -> bool:
        """Whether the whole file was read, or the source was stopped."""
        return self._over

    @property
    def duration_s(self) -> float:
        """Length of the file in seconds as its head says; 0 if it says nothing."""
        return self._decoder.duration_s if self._decoder else 0.0

    @property
    def n_dropped(self) -> int:
        """The number of 16 kHz samples missing because the file is damaged."""
        return self._decoder.n_missing if self._decoder else 0

    def _decoded(self) -> AudioChunk | None:
        decoder = self._decoder
        if decoder is None or self._over:
            return None
        chunk = next(decoder.chunks, None)
        if chunk is None:
            self._end()
        if decoder.n_damaged and not self._was_damaged:
            self._was_damaged = True
            self._tell(Code.FILE_DAMAGED(file=self._path.name), NoticeKind.DROPPED)
        return chunk

    def _tell(self, message: Message, kind: NoticeKind) -> None:
        self._report(AudioNotice(kind=kind, device="", message=message))

    def _end(self) -> None:
        self._over, self._next = True, None
        if self._decoder is not None:
            self._decoder.close()
