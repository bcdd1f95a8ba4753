"""The sound of an audio or video file, at the pace it was recorded at or as fast as it is read.

The timeline is that of a player: where the first track of sound begins later than the picture, or
has a gap, so do the chunks.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from engine.audio.chunks import AudioChunk
from engine.audio.decoder import Block, Decoder
from engine.audio.devices import AudioNotice, NoticeKind
from engine.messages import Code


class FileSource:
    """Read a file. It needs no thread: reading decodes, and waits where that is due."""

    def __init__(
        self,
        path: Path,
        report: Callable[[AudioNotice], None],
        *,
        real_time: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; the file is opened by ``start``.

        Args:
            path: the file, in any format that FFmpeg knows.
            report: is told when something is damaged, within ``read``.
            real_time: give a chunk when a microphone would have given it; else at once.
            clock: tells the time.
        """
        self._path = path
        self._report = report
        self._real_time = real_time
        self._clock = clock
        self._begun_s = 0.0
        self._lock = threading.Lock()  # between reading and stopping
        self._stopping = threading.Event()
        self._decoder: Decoder | None = None
        self._next: Block | None = None
        self._over = False
        self._was_damaged = False

    def start(self) -> None:
        """Open the file; the timeline starts here.

        Raises:
            AudioError: it cannot be read, or there is no sound in it.
        """
        self._decoder = Decoder(self._path)
        self._begun_s = self._clock()

    def read(self, timeout_s: float) -> AudioChunk | None:
        """Return the next chunk; None where it is not due in time, or the file has ended.

        Raises:
            AudioError: the file cannot be read any further.
        """
        with self._lock:
            if self._next is None:
                self._next = self._decoded()
            block = self._next
        if block is None:
            return None
        heard_at_s = self._clock()
        if self._real_time:
            due_s = self._begun_s + block.end_s
            self._stopping.wait(min(max(due_s - heard_at_s, 0), timeout_s))
            if self._clock() < due_s:
                return None
            heard_at_s = due_s
        with self._lock:
            self._next = None
        return AudioChunk(samples=block.samples, start_s=block.start_s, heard_at_s=heard_at_s)

    def stop(self) -> None:
        """Close the file; nothing more is read of it."""
        self._stopping.set()
        with self._lock:
            self._end()

    @property
    def ended(self) -> bool:
        """Tell whether everything was read."""
        return self._over

    @property
    def n_dropped(self) -> int:
        """Count the 16 kHz samples that are missing because the file is damaged."""
        return self._decoder.n_missing if self._decoder else 0

    def _decoded(self) -> Block | None:
        decoder = self._decoder
        if decoder is None or self._over:
            return None
        block = next(decoder.blocks, None)
        if block is None:
            self._end()
        if decoder.n_damaged and not self._was_damaged:
            self._was_damaged = True
            message = Code.FILE_DAMAGED(file=self._path.name)
            self._report(AudioNotice(kind=NoticeKind.DROPPED, device="", message=message))
        return block

    def _end(self) -> None:
        self._over, self._next = True, None
        if self._decoder is not None:
            self._decoder.close()
