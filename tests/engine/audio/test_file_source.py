import itertools
import threading
import wave

import av
import numpy as np
import pytest

from engine.audio.devices import SAMPLE_RATE_HZ, NoticeKind
from engine.audio.file_source import Decoder, FileSource
from engine.errors import AudioError
from tests.support.hand_clock import HandClock


def tone(seconds, rate_hz, frequency_hz=440.0):
    times = np.arange(round(seconds * rate_hz)) / rate_hz
    return (0.5 * np.sin(2 * np.pi * frequency_hz * times)).astype(np.float32)


def write_wav(path, samples, rate_hz=SAMPLE_RATE_HZ, n_channels=1):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(n_channels)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        numbers = np.round(samples * 32768).clip(-32768, 32767).astype("<i2")
        file.writeframes(np.repeat(numbers, n_channels).tobytes())
    return path


def write_media(path, codec, samples, rate_hz, *, picture=False, gap=(0, 0), delay_s=0.0):
    """Write a file with FFmpeg; ``gap`` leaves out seconds (from, to) of the sound."""
    with av.open(str(path), "w") as container:
        sound = container.add_stream(codec, rate=rate_hz, options={"strict": "experimental"})
        sound.layout = "stereo"
        if picture:
            film = container.add_stream("mpeg4", rate=10)
            film.width = film.height = 64
            for number in range(round(len(samples) / rate_hz * 10)):
                image = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")
                image.pts = number
                container.mux(film.encode(image))
            container.mux(film.encode(None))
        resampler = av.AudioResampler(
            format=sound.codec_context.format, layout="stereo", rate=rate_hz, frame_size=1024
        )
        frame = av.AudioFrame.from_ndarray(samples[None], format="flt", layout="mono")
        frame.sample_rate, frame.pts = rate_hz, 0
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            if not gap[0] <= part.pts / rate_hz < gap[1]:
                part.pts += round(delay_s * rate_hz)
                container.mux(sound.encode(part))
        container.mux(sound.encode(None))
    return path


def read_all(path, **options):
    notices = []
    source = FileSource(path, notices.append, **({"real_time": False} | options))
    source.start()
    chunks = []
    while not source.ended:
        if chunk := source.read(10):
            chunks.append(chunk)
    assert source.read(10) is None
    source.stop()
    return chunks, source, notices


def joined(chunks):
    return np.concatenate([chunk.samples for chunk in chunks])


def test_a_recording_of_16_khz_comes_out_bit_by_bit(tmp_path):
    numbers = np.random.default_rng(0).integers(-32768, 32768, 50_000) / 32768
    chunks, source, notices = read_all(write_wav(tmp_path / "a.wav", numbers))
    assert np.array_equal(joined(chunks), numbers.astype(np.float32))
    assert chunks[0].start_s == 0
    assert max(len(chunk.samples) for chunk in chunks) <= SAMPLE_RATE_HZ / 10
    for before, after in itertools.pairwise(chunks):
        assert after.start_s == pytest.approx(before.end_s)
    assert (source.n_dropped, notices) == (0, [])


@pytest.mark.parametrize(
    ("name", "codec", "picture"),
    [
        ("a.flac", "flac", False),
        ("a.mp3", "mp3", False),
        ("a.ogg", "libopus", False),
        ("a.m4a", "aac", False),
        ("a.mkv", "flac", True),
        ("a.mp4", "aac", True),
    ],
)
def test_any_format_gives_the_same_sound(tmp_path, name, codec, picture):
    path = write_media(tmp_path / name, codec, tone(3, 48_000), 48_000, picture=picture)
    chunks, _, notices = read_all(path)
    samples = joined(chunks)
    assert len(samples) == pytest.approx(3 * SAMPLE_RATE_HZ, abs=0.1 * SAMPLE_RATE_HZ)
    middle = samples[SAMPLE_RATE_HZ : 2 * SAMPLE_RATE_HZ]
    assert np.argmax(np.abs(np.fft.rfft(middle))) == 440
    assert np.abs(middle).max() == pytest.approx(0.5, abs=0.03)
    assert notices == []


def test_sound_that_begins_later_than_the_picture_keeps_its_place(tmp_path):
    path = write_media(
        tmp_path / "a.mkv", "flac", tone(2, 48_000), 48_000, picture=True, delay_s=1.5
    )
    chunks, _, _ = read_all(path)
    assert chunks[0].start_s == pytest.approx(1.5, abs=0.03)
    assert chunks[-1].end_s == pytest.approx(3.5, abs=0.03)


def test_a_gap_in_the_file_is_a_gap_in_time(tmp_path):
    path = write_media(tmp_path / "a.mkv", "flac", tone(4, 48_000), 48_000, gap=(1, 2))
    chunks, source, _ = read_all(path)
    gaps = [
        after.start_s - before.end_s
        for before, after in itertools.pairwise(chunks)
        if after.start_s - before.end_s > 0.01
    ]
    assert gaps == [pytest.approx(1, abs=0.05)]
    assert chunks[-1].end_s == pytest.approx(4, abs=0.05)
    assert source.n_dropped == 0


def test_a_damaged_part_is_left_out_counted_and_told_once(tmp_path):
    path = write_media(tmp_path / "a.mkv", "flac", tone(8, 48_000), 48_000)
    content = bytearray(path.read_bytes())
    third = len(content) // 3
    content[third : third + 6000] = bytes(6000)
    path.write_bytes(content)
    chunks, source, notices = read_all(path)
    assert [notice.kind for notice in notices] == [NoticeKind.DROPPED]
    assert "a.mkv is damaged" in str(notices[0].message)
    assert chunks[-1].end_s == pytest.approx(8, abs=0.1)
    n_samples = sum(len(chunk.samples) for chunk in chunks)
    assert n_samples + source.n_dropped == pytest.approx(8 * SAMPLE_RATE_HZ, abs=1600)


@pytest.mark.slow
def test_whatever_is_broken_ends_without_a_crash(tmp_path):
    rng = np.random.default_rng(0)
    whole = write_media(tmp_path / "whole.mp3", "mp3", tone(2, 44_100), 44_100).read_bytes()
    for number in range(30):
        content = bytearray(whole[: int(rng.integers(1, len(whole)))])
        for place in rng.integers(0, len(content), int(rng.integers(0, 200))):
            content[place] = int(rng.integers(0, 256))
        path = tmp_path / f"{number}.mp3"
        path.write_bytes(content)
        try:
            chunks, _, _ = read_all(path)
        except AudioError:
            continue
        for before, after in itertools.pairwise(chunks):
            assert after.start_s >= before.end_s - 1e-9


def test_at_the_pace_of_real_time_a_chunk_comes_when_it_was_said(tmp_path):
    clock = HandClock(70.0)
    path = write_wav(tmp_path / "a.wav", tone(1, SAMPLE_RATE_HZ))
    source = FileSource(path, print, real_time=True, clock=clock)
    source.start()
    assert source.read(0) is None
    n_chunks = 0
    while not source.ended:
        chunk = source.read(0)
        if chunk is None:
            clock.now_s += 0.001
            continue
        n_chunks += 1
        assert chunk.heard_at_s == pytest.approx(70 + chunk.end_s)
        assert clock.now_s == pytest.approx(chunk.heard_at_s, abs=0.002)
    assert n_chunks >= 10
    source.stop()


def test_a_pause_holds_reading_and_puts_off_what_is_due(tmp_path):
    clock = HandClock(70.0)
    path = write_wav(tmp_path / "a.wav", tone(1, SAMPLE_RATE_HZ))
    source = FileSource(path, print, real_time=True, clock=clock)
    source.start()
    clock.now_s += 0.1
    first = source.read(0)
    for _ in range(2):
        source.pause(paused=True)
    clock.now_s += 60
    assert source.read(0) is None
    assert not source.ended
    for _ in range(2):
        source.pause(paused=False)
    assert source.read(0) is None, "not due before"
    clock.now_s += 0.1
    following = source.read(0)
    assert following.start_s == pytest.approx(first.end_s)
    assert following.heard_at_s == pytest.approx(130 + following.end_s)
    source.stop()


def test_stopping_wakes_who_waits(tmp_path):
    path = write_wav(tmp_path / "a.wav", np.zeros(SAMPLE_RATE_HZ))
    source = FileSource(path, print, real_time=True, clock=lambda: 0.0)
    source.start()
    reader = threading.Thread(target=source.read, args=(60,))
    reader.start()
    source.stop()
    source.stop()
    reader.join(50)  # and not as long as it may wait
    assert not reader.is_alive()
    assert source.ended
    assert source.read(1) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file"),
        (b"", "is none that can be read"),
        (b"This is a letter and no music.\n" * 99, "is none that can be read"),
        (b"ffconcat version 1.0\nfile whole.wav\n", "is none that can be read"),
    ],
)
def test_what_is_no_recording_is_told_in_one_sentence(tmp_path, content, said):
    write_wav(tmp_path / "whole.wav", tone(1, SAMPLE_RATE_HZ))
    path = tmp_path / "a.ffconcat"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AudioError, match=said) as caught:
        FileSource(path, print, real_time=False).start()
    assert "\n" not in str(caught.value)
    assert "Errno" not in str(caught.value)


def test_a_film_without_sound_is_told(tmp_path):
    path = tmp_path / "silent.mp4"
    with av.open(str(path), "w") as container:
        film = container.add_stream("mpeg4", rate=10)
        film.width = film.height = 64
        image = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")
        container.mux(film.encode(image))
        container.mux(film.encode(None))
    with pytest.raises(AudioError, match=r"there is none in .*silent\.mp4"):
        FileSource(path, print, real_time=False).start()


def test_of_two_channels_that_cancel_each_other_out_the_louder_one_is_heard(tmp_path):
    left = tone(2, SAMPLE_RATE_HZ)
    with wave.open(str(tmp_path / "phase.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE_HZ)
        both = np.stack([0.5 * left, -0.45 * left], axis=1)
        file.writeframes((both * 32767).astype("<i2").tobytes())
    samples = joined(read_all(tmp_path / "phase.wav")[0])
    assert np.allclose(samples, 0.5 * left, atol=1e-3)


def write_tracks(path, *languages, default):
    """Write a film whose audio tracks are tones of 300, 600 ... Hz."""
    with av.open(str(path), "w") as container:
        tracks = [container.add_stream("flac", rate=48_000) for _ in languages]
        for number, (track, language) in enumerate(zip(tracks, languages, strict=True)):
            track.layout = "mono"
            track.metadata["language"] = language
            track.disposition = av.stream.Disposition.default if number == default else 0
        for number, track in enumerate(tracks, 1):
            samples = (tone(1, 48_000, 300 * number) * 32767).astype(np.int16)
            frame = av.AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
            frame.sample_rate, frame.pts = 48_000, 0
            container.mux(track.encode(frame))
            container.mux(track.encode(None))
    return path


@pytest.mark.parametrize(
    ("languages", "default", "chosen", "track"),
    [
        (("ger", "eng"), 1, {}, 2),
        (("ger", "eng"), 0, {"language": "en"}, 2),
        (("ger", "eng"), 1, {"language": "de"}, 1),
        (("fra", "eng", "spa"), 1, {"language": "pl"}, 2),
        (("und", "und"), 1, {"language": "en"}, 2),
        (("eng", "eng"), 1, {"language": "en"}, 2),
        (("ger", "eng"), 1, {"track": 1, "language": "en"}, 1),
    ],
)
def test_the_track_of_what_is_spoken_is_heard_else_the_default_one(
    tmp_path, languages, default, chosen, track
):
    path = write_tracks(tmp_path / "film.mkv", *languages, default=default)
    chunks, _, notices = read_all(path, **chosen)
    spectrum = np.abs(np.fft.rfft(joined(chunks)[:SAMPLE_RATE_HZ]))
    assert np.argmax(spectrum) == pytest.approx(300 * track, abs=1)
    told = [str(notice.message) for notice in notices]
    if "track" in chosen:
        assert told == []
    else:
        assert f"has {len(languages)} audio tracks: track {track} is heard" in told[0]


def test_a_track_that_is_not_there_is_one_sentence(tmp_path):
    path = write_tracks(tmp_path / "film.mkv", "ger", "eng", default=0)
    with pytest.raises(AudioError, match=r"no audio track 3 in .*: it has 2"):
        Decoder(path, track=3)


def test_a_jump_of_the_time_stamps_of_a_transport_stream_is_no_gap(tmp_path):
    parts = [
        write_media(tmp_path / f"{n}.ts", "mp2", tone(2, 48_000), 48_000, delay_s=delay_s)
        for n, delay_s in enumerate((0.0, 50_000.0, 20.0))
    ]
    path = tmp_path / "jumps.ts"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    chunks, _, _ = read_all(path)
    assert chunks[-1].end_s == pytest.approx(6, abs=0.3)
