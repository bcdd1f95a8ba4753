"""Recorder and thread with devices of our own, whose clock is turned by hand."""

import itertools
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from engine.audio.devices import (
    SAMPLE_RATE_HZ,
    AudioDevice,
    DeviceKind,
    NoticeKind,
    WantedDevice,
)
from engine.audio.live_source import LiveSource
from engine.audio.recorder import Clocks, Recorder
from engine.errors import AudioError, NoSoundError, TapEndedError
from engine.messages import Code

MICROPHONE = WantedDevice(kind=DeviceKind.MICROPHONE)


def device(name="a", *, number=1, rate_hz=SAMPLE_RATE_HZ):
    return AudioDevice(
        name=name,
        description=name.upper(),
        kind=DeviceKind.MICROPHONE,
        rate_hz=rate_hz,
        number=number,
        is_default=name == "a",
    )


class FakeTap:
    """Counts upwards, 20 ms at a time; waiting turns the clock."""

    def __init__(self, system, rate_hz):
        self.rate_hz = rate_hz
        self.n_dropped = 0
        self.moved_to = None
        self.gives = True
        self.gives_zeros = False
        self.backlog = []
        self.ends = self.is_closed = False
        self.n_given = 0
        self._system = system

    def read(self, timeout_s):
        assert not self.is_closed
        if self.backlog:
            return self.backlog.pop(0)
        if self.ends:
            raise TapEndedError
        self._system.now_s += min(timeout_s, 0.02) if self.gives else timeout_s
        n_samples = self.rate_hz // 50 if self.gives and timeout_s >= 0.02 else 0
        self.n_given += n_samples
        if self.gives_zeros:
            return np.zeros(n_samples, np.float32)
        return np.arange(self.n_given - n_samples + 1, self.n_given + 1, dtype=np.float32)

    def close(self):
        self.is_closed = True


class FakeSystem:
    """Devices and a clock, changed by the test."""

    def __init__(self, *devices):
        self.now_s = 500.0
        self.asleep_s = 0.0
        self.listed = devices
        self.news = False
        self.n_listings = 0
        self.taps = []
        self.refuses = False
        self.is_closed = False

    @property
    def clocks(self):
        return Clocks(now_s=lambda: self.now_s, asleep_s=lambda: self.asleep_s)

    def wait(self, seconds):
        self.now_s += seconds

    def devices(self):
        self.n_listings += 1
        if self.listed is None:
            raise NoSoundError
        return self.listed

    def changed(self):
        news, self.news = self.news, False
        return news

    def open(self, device):
        if self.refuses:
            raise AudioError
        self.taps.append(FakeTap(self, device.rate_hz))
        return self.taps[-1]

    def close(self):
        self.is_closed = True


class Desk:
    """A recorder with all it said and gave."""

    def __init__(self, *devices, wanted=MICROPHONE, patience_s=None):
        self.system = FakeSystem(*devices)
        self.notices = []
        self.chunks = []
        self.recorder = Recorder(
            self.system,
            wanted,
            self.notices.append,
            clocks=self.system.clocks,
            wait=self.system.wait,
            patience_s=patience_s,
        )

    def run(self, seconds):
        end_s = self.system.now_s + seconds
        while self.system.now_s < end_s:
            self.chunks += self.recorder.step()

    @property
    def kinds(self):
        return [notice.kind for notice in self.notices]

    @property
    def tap(self):
        return self.system.taps[-1]


def test_everything_a_device_gives_comes_out_in_order_and_in_time():
    desk = Desk(device())
    desk.run(5)
    desk.chunks += desk.recorder.finish()
    samples = np.concatenate([chunk.samples for chunk in desk.chunks])
    assert np.array_equal(samples, np.arange(1, desk.tap.n_given + 1))
    for before, after in itertools.pairwise(desk.chunks):
        assert after.start_s == pytest.approx(before.end_s)
    assert all(chunk.end_s <= chunk.heard_at_s - 500 + 1e-6 for chunk in desk.chunks)
    assert desk.tap.is_closed
    assert desk.system.is_closed


def test_a_device_of_another_rate_is_resampled():
    desk = Desk(device(rate_hz=48_000))
    desk.run(5)
    desk.chunks += desk.recorder.finish()
    n_samples = sum(len(chunk.samples) for chunk in desk.chunks)
    assert n_samples == pytest.approx(desk.tap.n_given / 3, abs=2)


def test_what_waits_in_a_device_is_taken_out_before_it_is_closed():
    desk = Desk(device("b"), wanted=WantedDevice(kind=DeviceKind.MICROPHONE, name="a"))
    desk.run(1)
    tap = desk.tap
    tap.backlog = [np.full(SAMPLE_RATE_HZ, 7, np.float32) for _ in range(3)]
    before = sum(len(chunk.samples) for chunk in desk.chunks)
    desk.system.listed = (device("b"), device("a"))
    desk.system.news = True
    tap.gives = False
    desk.run(0.3)
    assert tap.is_closed
    taken = np.concatenate([chunk.samples for chunk in desk.chunks])[before:]
    assert (taken[: 3 * SAMPLE_RATE_HZ] == 7).all()
    assert taken[3 * SAMPLE_RATE_HZ] == 1


def test_a_gap_between_devices_is_a_gap_in_time():
    desk = Desk(device())
    desk.run(2)
    desk.system.listed = ()
    desk.system.news = True
    desk.run(10)
    desk.system.listed = (device(number=2),)
    desk.system.news = True
    desk.run(2)
    starts = [
        (after.start_s - before.end_s, before.end_s)
        for before, after in itertools.pairwise(desk.chunks)
        if after.start_s - before.end_s > 0.01
    ]
    assert len(starts) == 1
    assert starts[0][0] == pytest.approx(10, abs=0.4)
    assert desk.chunks[-1].end_s == pytest.approx(desk.system.now_s - 500, abs=0.05)
    assert desk.recorder.n_dropped == 0


def test_devices_are_listed_when_something_changed_but_not_all_the_time():
    desk = Desk(device())
    desk.run(1)
    n_before = desk.system.n_listings
    for _ in range(100):
        desk.system.news = True
        desk.run(0.02)
    assert 6 <= desk.system.n_listings - n_before <= 9
    n_before = desk.system.n_listings
    desk.run(100)
    assert desk.system.n_listings - n_before <= 11


def test_a_busy_server_that_gives_sound_is_not_taken_for_gone():
    desk = Desk(device())
    desk.run(1)

    def answer_too_late():
        desk.system.now_s += 3
        desk.tap.backlog.append(np.ones(3 * SAMPLE_RATE_HZ, np.float32))
        raise NoSoundError

    desk.system.devices = answer_too_late
    desk.system.news = True
    desk.run(20)
    assert desk.kinds == [NoticeKind.LISTENING]
    assert len(desk.system.taps) == 1
    desk.system.devices = lambda: desk.system.listed
    desk.system.listed = ()
    desk.run(1)
    assert desk.kinds[1:] == [NoticeKind.LOST]


def test_a_server_that_never_answers_is_waited_for_as_long_as_was_said():
    desk = Desk(patience_s=20)
    desk.system.listed = None
    desk.run(19)
    assert desk.kinds == [NoticeKind.NO_SERVER]
    with pytest.raises(NoSoundError):
        desk.run(3)


def list_anew(desk, *listed):
    desk.system.listed = listed
    desk.system.news = True


def goes(desk):
    list_anew(desk, device("b", number=2))
    desk.tap.ends = True


def is_no_longer_the_default(desk):
    b = replace(device("b", number=2), is_default=True)
    list_anew(desk, replace(device("a"), is_default=False), b)


def loses_its_server(desk):
    desk.system.listed = None
    desk.tap.ends = True


def gives_nothing(desk):
    desk.tap.gives = False


def gives_zeros(desk):
    desk.tap.gives_zeros = True


def is_muted(desk):
    gives_zeros(desk)
    list_anew(desk, replace(device("a"), is_muted=True))


@pytest.mark.parametrize(
    ("happens", "kind"),
    [
        (goes, NoticeKind.LOST),
        (is_no_longer_the_default, NoticeKind.MOVED),
        (loses_its_server, NoticeKind.NO_SERVER),
        (gives_nothing, NoticeKind.STALLED),
        (gives_zeros, NoticeKind.SILENT),
        (is_muted, NoticeKind.MUTED),
    ],
)
def test_whatever_happens_to_a_device_is_told_within_a_second_and_mended_within_three(
    happens, kind
):
    desk = Desk(device("a"), device("b", number=2))
    desk.run(1)
    happens(desk)
    desk.run(1)
    assert desk.kinds[:2] == [NoticeKind.LISTENING, kind]
    mended_s = desk.system.now_s
    desk.tap.gives_zeros = False
    list_anew(desk, device("a", number=3), device("b", number=2))
    desk.run(3)
    assert any(chunk.heard_at_s > mended_s and chunk.samples.any() for chunk in desk.chunks)


def test_after_sleep_the_device_is_opened_anew():
    desk = Desk(device())
    desk.run(1)
    desk.system.asleep_s += 3600
    desk.run(1)
    assert desk.kinds == [NoticeKind.LISTENING, NoticeKind.WOKE]
    assert str(desk.notices[-1].message) == "the computer slept for 3600 s: listening to A again"
    assert len(desk.system.taps) == 2


def test_a_clock_that_is_set_right_is_no_sleep():
    desk = Desk(device())
    for _ in range(100):
        desk.system.asleep_s += 0.5
        desk.run(0.1)
    assert desk.kinds == [NoticeKind.LISTENING]


def test_a_recording_moved_in_a_mixer_goes_on_under_another_name():
    desk = Desk(device("a", number=1), device("b", number=2))
    desk.run(1)
    desk.tap.moved_to = 2
    desk.run(1)
    assert [notice.device for notice in desk.notices] == ["A", "B"]
    assert len(desk.system.taps) == 1


def test_every_lost_sample_is_counted_and_told():
    desk = Desk(device(rate_hz=48_000))
    desk.run(2)
    desk.tap.n_dropped = 4800
    desk.run(2)
    assert desk.recorder.n_dropped == 1600
    assert desk.kinds == [NoticeKind.LISTENING, NoticeKind.DROPPED]
    assert str(desk.notices[-1].message) == "0.10 s of sound were lost on the way from A"
    desk.system.now_s += 0.6  # the driver loses sound and says nothing
    desk.run(5)
    assert desk.recorder.n_dropped == pytest.approx(1600 + 0.6 * SAMPLE_RATE_HZ, rel=0.1)
    desk.tap.ends = True
    desk.run(5)
    assert desk.recorder.n_dropped == pytest.approx(1600 + 0.6 * SAMPLE_RATE_HZ, rel=0.1)


@pytest.mark.parametrize("is_silent", [True, False])
def test_a_loss_amid_silence_is_counted_and_not_told(is_silent):
    desk = Desk(device())
    desk.run(2)
    desk.tap.gives_zeros = is_silent
    desk.run(60)
    desk.system.now_s += 30.0  # the program was stopped
    desk.run(10)
    assert desk.recorder.n_dropped == pytest.approx(30 * SAMPLE_RATE_HZ, rel=0.1)
    assert (NoticeKind.DROPPED in desk.kinds) is not is_silent


class PacedSystem(FakeSystem):
    """The same at ten times the pace of real time, for the thread, as long as ``may_give``."""

    may_give = staticmethod(lambda: True)

    def open(self, device):
        tap = super().open(device)
        read = tap.read

        def paced(timeout_s):
            time.sleep(min(timeout_s, 0.002))
            return read(timeout_s) if self.may_give() else np.zeros(0, np.float32)

        tap.read = paced
        return tap


@pytest.fixture
def live():
    """A source that records at ten times the pace of real time, and what it said."""
    notices = []
    system = PacedSystem(device())
    source = LiveSource(system, MICROPHONE, notices.append, capacity_s=1)
    yield source, system, notices
    source.stop()


def unread_s(source):
    """Seconds of sound that wait to be read."""
    return source._n_waiting / SAMPLE_RATE_HZ


def read_all(source):
    chunks = []
    while not source.ended:
        if chunk := source.read(0.1):
            chunks.append(chunk)
    return chunks


def test_what_was_recorded_can_be_read_after_the_end(live):
    source, system, _ = live
    system.may_give = lambda: unread_s(source) < 0.8  # or a busy machine would drop some
    source.start()
    first = source.read(5)
    while unread_s(source) < 0.5:
        time.sleep(0.01)
    source.stop()
    source.stop()
    samples = np.concatenate([chunk.samples for chunk in [first, *read_all(source)]])
    assert np.array_equal(samples, np.arange(1, system.taps[0].n_given + 1))
    assert source.read(5) is None
    assert system.is_closed


def test_what_nobody_reads_is_dropped_counted_and_told_once(live):
    source, system, notices = live
    source.start()
    while source.n_dropped < SAMPLE_RATE_HZ // 2:
        time.sleep(0.01)
    source.stop()
    n_read = sum(len(chunk.samples) for chunk in read_all(source))
    assert n_read == SAMPLE_RATE_HZ
    assert n_read + source.n_dropped == system.taps[0].n_given
    dropped = [notice for notice in notices if notice.kind is NoticeKind.DROPPED]
    assert len(dropped) == 1
    assert str(dropped[0].message).startswith("1 s of sound wait to be recognised")


def test_stopping_wakes_who_reads(live):
    source, system, _ = live
    system.listed = ()
    source.start()
    read = []
    reader = threading.Thread(target=lambda: read.append(source.read(60)))
    reader.start()
    source.stop()
    reader.join(50)  # and not as long as it may wait
    assert read == [None]
    assert source.ended


def begun_after(before, system, notices):
    """Let both record, the second in the place of the first; return it."""
    after = LiveSource(system, MICROPHONE, notices.append)
    after.follow(before)
    before.start()
    after.start()
    return after


def test_a_source_records_until_sound_comes_from_the_one_in_its_place(live):
    before, _, notices = live
    other = PacedSystem(device())
    other.may_give = lambda: False
    after = begun_after(before, other, notices)
    for _ in range(20):
        assert before.read(5)
    other.may_give = lambda: True
    assert read_all(before)
    assert after.read(5)
    after.stop()


def test_a_source_does_not_wait_without_end_for_the_one_in_its_place(live, monkeypatch):
    monkeypatch.setattr("engine.audio.live_source.HANDOVER_S", 0.0)
    before, _, notices = live
    after = begun_after(before, FakeSystem(), notices)
    read_all(before)
    assert before.ended
    after.stop()


def test_a_server_that_never_answers_ends_the_source_with_its_own_sentence(caplog):
    notices, system = [], FakeSystem()
    system.devices = refused(NoSoundError(Code.NO_SERVER_RUNS()))
    source = LiveSource(system, MICROPHONE, notices.append, patience_s=0)
    source.start()
    assert read_all(source) == []
    assert [(one.kind, one.message) for one in notices] == [
        (NoticeKind.FAILED, Code.NO_SERVER_RUNS())
    ]
    assert "Traceback" not in caplog.text


def refused(error):
    def refuse():
        raise error

    return refuse


def test_whatever_goes_wrong_becomes_one_sentence(live, caplog):
    source, system, notices = live
    system.listed = 42
    source.start()
    assert read_all(source) == []
    assert [notice.kind for notice in notices] == [NoticeKind.FAILED]
    assert str(notices[0].message).startswith("the recording stopped unexpectedly: ")
    assert "Traceback" in caplog.text
