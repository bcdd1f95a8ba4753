"""Decode the first audio track of a file by FFmpeg into 16 kHz mono with time stamps."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import AudioError, first_line, message_of
from engine.messages import Code, Message

_LONGEST_CHUNK = 1600  # samples; some codecs have frames of a second and more
_LEAST_GAP_S = 0.1
"""Smaller gaps are ignored: time stamps are rounded, and codecs begin with a little silence."""

_OPTIONS = {"protocol_whitelist": "none"}  # a playlist must not open other files, or the network


class Decoder:
    """Decode a file chunk by chunk.

    Invariant: chunks never overlap; damaged packets are left out, and later chunks keep their time.

    Attributes:
        chunks: a tenth of a second or less each, in order, without ``heard_at_s``; taking one may
            raise AudioError.
        n_damaged: packets that could not be decoded.
        n_missing: 16 kHz samples that should have been in them.
        duration_s: length of the file as its head says; 0 if it says nothing.
    """

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            AudioError: the file cannot be read, is no media file, or has no sound.
        """
        self._path = path
        self.n_damaged = self.n_missing = 0
        self._damaged_before = 0
        self._heard_s = 0.0  # expected time of the next decoded frame
        self._end_s = 0.0  # time of the next chunk
        self._resampler = _resampler()
        self._file = _opened(path)
        try:
            self._container = av.open(self._file, "r", options=_OPTIONS)
        except (av.error.FFmpegError, ValueError) as error:
            self._file.close()
            message = Code.NO_RECORDING(path=str(path), reason=_reason(error))
            raise AudioError(message) from error
        if not self._container.streams.audio:
            self.close()
            raise AudioError(Code.NO_SOUND_IN(path=str(path)))
        self._origin_s = (self._container.start_time or 0) / av.time_base
        self.duration_s = max(0.0, (self._container.duration or 0) / av.time_base)
        self.chunks = self._decode()

    def close(self) -> None:
        """Close the file; ``chunks`` is empty from now on."""
        self.chunks = iter(())
        self._container.close()
        self._file.close()

    def _decode(self) -> Iterator[AudioChunk]:
        for frame in self._frames():
            self._find_gap(frame)
            yield from self._timed(self._resampled(frame))
        yield from self._timed(self._resampler.resample(None) if self._heard_s > 0 else [])

    def _resampled(self, frame: av.AudioFrame) -> list[av.AudioFrame]:
        try:
            try:
                return self._resampler.resample(frame)
            except ValueError:  # the rate or the channels change at this frame
                rest = self._resampler.resample(None)
                self._resampler = _resampler()
                return rest + self._resampler.resample(frame)
        except (av.error.FFmpegError, MemoryError) as error:
            message = Code.SOUND_UNUSUAL(
                path=str(self._path),
                channels=len(frame.layout.channels),
                rate_hz=frame.sample_rate,
            )
            raise AudioError(message) from error

    def _frames(self) -> Iterator[av.AudioFrame]:
        try:
            for packet in self._container.demux(self._container.streams.audio[0]):
                try:
                    yield from packet.decode()
                except av.error.InvalidDataError:
                    self.n_damaged += 1
        except av.error.InvalidDataError:
            self.n_damaged += 1  # and FFmpeg finds no later packet
        except (OSError, av.error.FFmpegError) as error:
            message = Code.RECORDING_ENDS(path=str(self._path), reason=_reason(error))
            raise AudioError(message) from error

    def _find_gap(self, frame: av.AudioFrame) -> None:
        """Follow the time stamps, forward only, where they jump by ``_LEAST_GAP_S`` or more."""
        gap_s = 0.0
        if frame.time is not None:
            gap_s = frame.time - self._origin_s - self._heard_s
        if gap_s >= _LEAST_GAP_S:
            self._heard_s += gap_s
            self._end_s += gap_s
            if self.n_damaged > self._damaged_before:
                self.n_missing += round(gap_s * SAMPLE_RATE_HZ)
        self._damaged_before = self.n_damaged
        self._heard_s += frame.samples / frame.sample_rate

    def _timed(self, frames: list[av.AudioFrame]) -> Iterator[AudioChunk]:
        for frame in frames:
            samples = frame.to_ndarray()[0].astype(np.float32, copy=False)
            for start in range(0, len(samples), _LONGEST_CHUNK):
                part = samples[start : start + _LONGEST_CHUNK]
                chunk = AudioChunk(samples=part, start_s=self._end_s)
                self._end_s = chunk.end_s
                yield chunk


def _reason(error: Exception) -> Message:
    """Return what FFmpeg says, without its number of the error and the file's name."""
    if isinstance(error, av.error.FFmpegError) and not isinstance(error, OSError):
        return Code.AS_SAID(sentence=error.strerror or first_line(error))
    return message_of(error)


def _resampler() -> av.AudioResampler:
    return av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE_HZ)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        message = Code.RECORDING_UNREADABLE(path=str(path), reason=message_of(error))
        raise AudioError(message) from error
