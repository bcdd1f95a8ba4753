"""Record from a sound server by its own ``parec``, which keeps what is not read yet.

Nothing can be lost between the server and us: ``parec`` runs whatever our threads do, and holds any
length of sound (measured: eight seconds unread, none lost). It says on its standard error where it
records from, so a recording that the server moved is seen at once.
"""

import contextlib
import os
import re
import select
import subprocess
import time

import numpy as np

from engine.audio.chunks import Samples
from engine.errors import TapEndedError

_BLOCK_BYTES = 1 << 18
_MOVED = re.compile(rb"Stream moved to device .* \((\d+), ")
_REMEMBERED_BYTES = 1000
_BYTES = np.dtype(np.float32).itemsize


class ParecTap:
    """A running ``parec``.

    Attributes:
        rate_hz: samples a second.
        n_dropped: always 0: nothing is thrown away here.
        moved_to: number of the device the server has moved the recording to, or None.
    """

    def __init__(self, command: list[str], rate_hz: int) -> None:
        """Start recording raw float32 of one channel, in this machine's byte order."""
        self.rate_hz = rate_hz
        self.n_dropped = 0
        self.moved_to: int | None = None
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._bytes = bytearray(_BLOCK_BYTES)  # reused; a sample may be cut in two by a read
        self._n_kept = 0
        self._said = b""  # the last words

    def read(self, timeout_s: float) -> Samples:
        """Return what came, waiting until something has come.

        Raises:
            TapEndedError: ``parec`` ended, because the server did or the device cannot be opened.
        """
        sound, speech = self._process.stdout, self._process.stderr
        if sound is None or speech is None or sound.closed:
            raise self._ended()
        end_s = time.monotonic() + timeout_s
        while True:
            ready = select.select([sound, speech], [], [], max(end_s - time.monotonic(), 0))[0]
            if sound in ready:
                return self._take(sound.fileno())
            if not ready or not self._listen(speech.fileno()):
                return np.zeros(0, np.float32)

    def close(self) -> None:
        """Stop recording."""
        end_process(self._process)

    def _take(self, pipe: int) -> Samples:
        n_came = os.readv(pipe, [memoryview(self._bytes)[self._n_kept :]])
        if not n_came:
            raise self._ended()
        n_there = self._n_kept + n_came
        n_whole = n_there - n_there % _BYTES
        samples = np.frombuffer(self._bytes, np.float32, n_whole // _BYTES).copy()
        self._n_kept = n_there - n_whole
        self._bytes[: self._n_kept] = self._bytes[n_whole:n_there]
        return samples

    def _listen(self, pipe: int) -> bool:
        """Hear what parec says; tell whether it still can."""
        words = os.read(pipe, _BLOCK_BYTES)
        self._said = (self._said + words)[-_REMEMBERED_BYTES:]
        for match in _MOVED.finditer(self._said):
            self.moved_to = int(match[1])
        return bool(words)

    def _ended(self) -> TapEndedError:
        speech = self._process.stderr
        if speech is not None and not speech.closed:
            while self._listen(speech.fileno()):
                pass
        self.close()
        lines = self._said.decode(errors="replace").split("\n")
        reason = next((line for line in lines if "rror" in line or "ailure" in line), "it ended")
        return TapEndedError(f"the recording was ended by the sound server: {reason.strip()}")


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process, wait for it, and close its pipes."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()  # it holds nothing that could be lost
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
