"""Read the sound of an audio or video file, in real time or as fast as it is read.

The timeline is a player's: where the first audio track starts after the picture, or has a gap, the
chunks do as well. Unless a track is named it is the one in the language that is spoken, else the
default one, else the first.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import av
import numpy as np
from av.stream import Disposition

from engine.audio.chunks import AudioChunk, Samples
from engine.audio.devices import SAMPLE_RATE_HZ, AudioNotice, NoticeKind
from engine.errors import AudioError, first_line, message_of
from engine.messages import Code, Message

_LONGEST_CHUNK = 1600  # samples; some codecs have frames of a second and more
_LEAST_GAP_S = 0.1
"""Smaller gaps are ignored: time stamps are rounded, and codecs begin with a little silence."""

_LEAST_JUMP_S = 10.0
"""A larger step of the time stamps is none of the sound, where a format lets them start anew."""

_DISCONTINUOUS = 0x200  # FFmpeg's AVFMT_TS_DISCONT
_STEREO = 2
_FAR_BELOW = 0.01  # 20 dB
_REMEMBERED = 0.9  # of the loudness, from one frame to the next

_TAGS = {
    "ar": "ara", "cs": "cze ces", "da": "dan", "de": "ger deu", "el": "gre ell", "en": "eng",
    "es": "spa", "fi": "fin", "fr": "fre fra", "he": "heb", "hi": "hin", "hu": "hun", "id": "ind",
    "it": "ita", "ja": "jpn", "ko": "kor", "nl": "dut nld", "no": "nor nob nno", "pl": "pol",
    "pt": "por", "ro": "rum ron", "ru": "rus", "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr",
    "vi": "vie", "zh": "chi zho",
}  # fmt: skip
"""Of languages, as files have them (ISO 639-2)."""

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
        track: which of its audio tracks is decoded, from 1.
        language: the tag of the track; empty if it has none.
    """

    def __init__(self, path: Path, *, track: int | None = None, language: str = "") -> None:
        """Open the file; without a ``track`` one is chosen, best in ``language`` (two letters)."""
        self._path = path
        self.n_damaged = self.n_missing = 0
        self._damaged_before = 0
        self._heard_s = 0.0  # expected time of the next decoded frame
        self._end_s = 0.0  # time of the next chunk
        self._resampler: av.AudioResampler | None = None  # of the rate and channels at hand
        self._loudness = np.zeros(3)  # energy of the mean of two channels, and of each
        self._file = _opened(path)
        try:
            self._container = av.open(self._file, "r", options=_OPTIONS)
        except (OSError, av.error.FFmpegError, ValueError) as error:
            self._file.close()
            message = Code.NO_RECORDING(path=str(path), reason=_reason(error))
            raise AudioError(message) from error
        tracks = self._container.streams.audio
        self.n_tracks = len(tracks)
        if not tracks or not 1 <= (track or 1) <= self.n_tracks:
            self.close()
            code = Code.NO_SUCH_TRACK if tracks else Code.NO_SOUND_IN
            raise AudioError(code(path=str(path), track=track or 1, tracks=self.n_tracks))
        self.track = track or 1 + _best(tracks, language)
        self.language = _language(tracks[self.track - 1])
        self._index = tracks[self.track - 1].index
        self._origin_s = (self._container.start_time or 0) / av.time_base
        self.duration_s = max(0.0, (self._container.duration or 0) / av.time_base)
        self.chunks = self._decode()

    def close(self) -> None:
        self.chunks = iter(())
        self._container.close()
        self._file.close()

    def _decode(self) -> Iterator[AudioChunk]:
        for frame in self._frames():
            self._find_gap(frame)
            yield from self._timed(self._resampled(frame))
        yield from self._timed(self._rest())

    def _resampled(self, frame: av.AudioFrame) -> list[av.AudioFrame]:
        n_channels = len(frame.layout.channels)
        try:
            resampler = self._resampler or _resampler(n_channels)
            try:
                resampled = resampler.resample(frame)
            except ValueError:  # the rate or the channels change at this frame
                resampler, rest = _resampler(n_channels), self._rest()
                resampled = rest + resampler.resample(frame)
        except (av.error.FFmpegError, MemoryError) as error:
            message = Code.SOUND_UNUSUAL(
                path=str(self._path), channels=n_channels, rate_hz=frame.sample_rate
            )
            raise AudioError(message) from error
        self._resampler = resampler  # kept once it took a frame: flushed before, it can crash
        return resampled

    def _rest(self) -> list[av.AudioFrame]:
        return self._resampler.resample(None) if self._resampler else []

    def _frames(self) -> Iterator[av.AudioFrame]:
        """Yield what can be decoded of the track."""
        try:
            for packet in self._container.demux(self._container.streams[self._index]):
                try:
                    yield from cast("av.AudioStream", packet.stream).decode(packet)
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
            if abs(gap_s) > _LEAST_JUMP_S and self._container.format.flags & _DISCONTINUOUS:
                self._origin_s += gap_s
                gap_s = 0.0
        if gap_s >= _LEAST_GAP_S:
            self._heard_s += gap_s
            self._end_s += gap_s
            if self.n_damaged > self._damaged_before:
                self.n_missing += round(gap_s * SAMPLE_RATE_HZ)
        self._damaged_before = self.n_damaged
        self._heard_s += frame.samples / frame.sample_rate

    def _timed(self, frames: list[av.AudioFrame]) -> Iterator[AudioChunk]:
        for frame in frames:
            samples = self._mixed(frame.to_ndarray().astype(np.float32, copy=False))
            for start in range(0, len(samples), _LONGEST_CHUNK):
                part = samples[start : start + _LONGEST_CHUNK]
                chunk = AudioChunk(samples=part, start_s=self._end_s)
                self._end_s = chunk.end_s
                yield chunk

    def _mixed(self, channels: Samples) -> Samples:
        """Return the mean of the channels, or the louder one where it cancels both out."""
        mean: Samples = channels[0] if len(channels) == 1 else channels.mean(axis=0)
        if len(channels) == 1:
            return mean
        energies = [float(np.square(one, dtype=np.float64).sum()) for one in (mean, *channels)]
        self._loudness = self._loudness * _REMEMBERED + energies
        louder = 1 + int(self._loudness[1:].argmax())
        cancels = self._loudness[0] < _FAR_BELOW * self._loudness[louder]
        loudest: Samples = channels[louder - 1]
        return loudest if cancels else mean * np.float32(np.sqrt(2))  # as loud as FFmpeg's


def _best(tracks: Sequence[av.AudioStream], language: str) -> int:
    tags = {language, *_TAGS.get(language, "").split()} - {""}
    ranks = [
        (_language(one).lower()[:3] in tags, bool(one.disposition & Disposition.default))
        for one in tracks
    ]
    return ranks.index(max(ranks))


def _language(track: av.AudioStream) -> str:
    tag = track.metadata.get("language") or ""
    return "" if tag == "und" else tag


def _reason(error: Exception) -> Message:
    """Return what FFmpeg says, without its number of the error and the file's name."""
    if isinstance(error, av.error.FFmpegError) and not isinstance(error, OSError):
        return Code.AS_SAID(sentence=error.strerror or first_line(error))
    return message_of(error)


def _resampler(n_channels: int) -> av.AudioResampler:
    """Two channels are mixed here, more by FFmpeg, which knows where each stands."""
    layout = "stereo" if n_channels == _STEREO else "mono"
    return av.AudioResampler(format="fltp", layout=layout, rate=SAMPLE_RATE_HZ)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        message = Code.RECORDING_UNREADABLE(path=str(path), reason=message_of(error))
        raise AudioError(message) from error


class FileSource:
    """A file as a source. It needs no thread: ``read`` decodes, and waits in real time."""

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
            track: which of its audio tracks, from 1; None chooses one, and reports which.
            language: two letters of what is spoken.
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
        """Return the next chunk; None if it is not due in time, paused, or the file has ended."""
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
        self._stopping.set()
        self._going.set()
        with self._lock:
            self._end()

    @property
    def ended(self) -> bool:
        return self._over

    @property
    def duration_s(self) -> float:
        return self._decoder.duration_s if self._decoder else 0.0

    @property
    def n_dropped(self) -> int:
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
