"""Record from a sound server by its own ``parec``, which buffers unread sound.

Nothing is lost between the server and this program: ``parec`` runs independently of our threads
and holds any length of sound (measured: eight seconds unread, none lost). It logs its device to
standard error, so a recording that the server moved is noticed at once.
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
    """A running ``parec``; ``n_dropped`` is always 0, as nothing is discarded here."""

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
        self._log = b""  # the end of its standard error

    def read(self, timeout_s: float) -> Samples:
        """Return the new samples, waiting up to ``timeout_s`` for the first.

        Raises:
            TapEndedError: ``parec`` ended, because the server did or the device cannot be opened.
        """
        sound, log = self._process.stdout, self._process.stderr
        if sound is None or log is None or sound.closed:
            raise self._ended()
        end_s = time.monotonic() + timeout_s
        while True:
            ready = select.select([sound, log], [], [], max(end_s - time.monotonic(), 0))[0]
            if sound in ready:
                return self._take(sound.fileno())
            if not ready or not self._read_log(log.fileno()):
                return np.zeros(0, np.float32)

    def close(self) -> None:
        """Stop recording."""
        end_process(self._process)

    def _take(self, pipe: int) -> Samples:
        n_came = os.readv(pipe, [memoryview(self._bytes)[self._n_kept :]])
        if not n_came:
            raise self._ended()
        n_held = self._n_kept + n_came
        n_whole = n_held - n_held % _BYTES
        samples = np.frombuffer(self._bytes, np.float32, n_whole // _BYTES).copy()
        self._n_kept = n_held - n_whole
        self._bytes[: self._n_kept] = self._bytes[n_whole:n_held]
        return samples

    def _read_log(self, pipe: int) -> bool:
        """Read what parec logs; return whether its standard error is still open."""
        added = os.read(pipe, _BLOCK_BYTES)
        self._log = (self._log + added)[-_REMEMBERED_BYTES:]
        for match in _MOVED.finditer(self._log):
            self.moved_to = int(match[1])
        return bool(added)

    def _ended(self) -> TapEndedError:
        log = self._process.stderr
        if log is not None and not log.closed:
            while self._read_log(log.fileno()):
                pass
        self.close()
        lines = self._log.decode(errors="replace").split("\n")
        reason = next((line for line in lines if "rror" in line or "ailure" in line), "it ended")
        return TapEndedError(f"the recording was ended by the sound server: {reason.strip()}")


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process, wait for it, and close its pipes."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()  # it has nothing to save
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
