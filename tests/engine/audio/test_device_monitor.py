import dataclasses
import itertools
import random

import pytest

from engine.audio.device_monitor import (
    HUSHED_S,
    MUTED_S,
    STALL_S,
    START_S,
    ZEROS_S,
    DeviceMonitor,
)
from engine.audio.devices import AudioDevice, DeviceKind, NoticeKind, WantedDevice

MICROPHONE, SYSTEM = DeviceKind.MICROPHONE, DeviceKind.SYSTEM
STEP_S = 0.05
LATE_S = 1.5 * STEP_S


def device(name, *, number=0, kind=MICROPHONE, default=False, muted=False):
    return AudioDevice(
        name=name,
        description=name.upper(),
        kind=kind,
        rate_hz=16_000,
        number=number,
        is_default=default,
        is_muted=muted,
    )


class Room:
    """Devices that give ``sound``, ``zeros`` or ``nothing``, looked at every 50 ms."""

    def __init__(self, *devices, wanted=None, before=None, kind=MICROPHONE):
        self.devices = list(devices)
        self.gives = {}  # by name; who is not named gives sound
        self.monitor = DeviceMonitor(WantedDevice(kind=kind, name=wanted, before=before))
        self.now_s = 100.0
        self.told = []  # (when, kind, message)
        self.opened = []  # (when, name)
        self._opening = 0

    def plug(self, *devices):
        self.devices += devices

    def unplug(self, name):
        self.devices = [device for device in self.devices if device.name != name]

    def change(self, name, **changes):
        self.devices = [
            dataclasses.replace(device, **changes) if device.name == name else device
            for device in self.devices
        ]

    def step(self):
        self.now_s += STEP_S
        self.monitor.see_devices(None if self.devices is None else tuple(self.devices))
        decision = self.monitor.decide(self.now_s)
        self.told += [(self.now_s, notice.kind, str(notice.message)) for notice in decision.notices]
        if decision.device is not None and decision.opening != self._opening:
            self.opened.append((self.now_s, decision.device.name))
        self._opening = decision.opening
        if decision.device is not None:
            assert self.devices is not None
            match self.gives.get(decision.device.name, "sound"):
                case "nothing":
                    pass
                case what:
                    self.monitor.see_sound(self.now_s, is_zero=what == "zeros")
        return decision

    def run(self, seconds):
        """Go on; return the kinds of what was told meanwhile, and what is recorded in the end."""
        n_told = len(self.told)
        for _ in range(round(seconds / STEP_S)):
            decision = self.step()
        return [kind for _, kind, _ in self.told[n_told:]], decision.device and decision.device.name

    @property
    def message(self):
        return self.told[-1][2]


def test_the_default_is_recorded_where_none_was_chosen():
    room = Room(device("a"), device("b", default=True), device("c", kind=SYSTEM, default=True))
    assert room.run(1) == ([NoticeKind.LISTENING], "b")
    assert room.message == "listening to B"


def test_the_chosen_device_is_recorded_whatever_the_default_is():
    room = Room(device("a"), device("b", default=True), wanted="a")
    assert room.run(1) == ([NoticeKind.LISTENING], "a")
    room.plug(device("c", default=True))
    room.change("b", is_default=False)
    assert room.run(1) == ([], "a")
    assert len(room.opened) == 1


def test_a_monitor_stands_in_for_no_microphone():
    room = Room(device("a", kind=SYSTEM, default=True))
    assert room.run(1) == ([NoticeKind.LOST], None)
    assert room.message == "there is no microphone: waiting for one"
    room.plug(device("b"))
    assert room.run(1) == ([NoticeKind.LISTENING], "b")


def test_a_device_that_goes_is_told_at_once_and_told_again_when_it_is_back():
    room = Room(device("a", number=1), device("b", number=2, default=True), wanted="a")
    room.run(1)
    room.unplug("a")
    gone_s = room.now_s
    assert room.run(3) == ([NoticeKind.LOST], "b")
    assert room.told[-1] == (
        pytest.approx(gone_s, abs=LATE_S),
        NoticeKind.LOST,
        "A is gone: listening to B until it is back",
    )
    room.plug(device("a", number=3))
    assert room.run(1) == ([NoticeKind.RETURNED], "a")
    assert room.message == "A is back: listening to it again"


def test_after_a_switch_that_fails_the_one_before_goes_on():
    microphones = device("a", default=True), device("b"), device("c")
    room = Room(*microphones, wanted="b", before="c")
    room.gives["b"] = "nothing"
    told, recorded = room.run(5)
    assert (told[-1], recorded) == (NoticeKind.STALLED, "c")
    assert "listening to C" in room.message
    assert room.monitor.sounding == "c"
    room.gives["c"] = "nothing"
    room.run(10)
    assert room.monitor.sounding == "a"
    absent = Room(*microphones, wanted="gone", before="c")
    assert absent.run(1)[1] == "c"


def test_a_chosen_device_that_is_not_there_is_named():
    room = Room(device("b", default=True), wanted="a")
    assert room.run(1) == ([NoticeKind.LOST], "b")
    assert room.message == "a is not there: listening to B until it is back"
    room.plug(device("a"))
    assert room.run(1) == ([NoticeKind.RETURNED], "a")


def test_a_device_that_was_plugged_in_again_in_no_time_is_opened_anew():
    room = Room(device("a", number=1), device("b", default=True), wanted="a")
    room.run(1)
    room.change("a", number=2)
    assert room.run(1) == ([NoticeKind.LISTENING], "a")
    assert [name for _, name in room.opened] == ["a", "a"]


def test_a_new_default_is_followed():
    room = Room(device("a", default=True), device("b"))
    room.run(1)
    room.change("a", is_default=False)
    room.change("b", is_default=True)
    assert room.run(1) == ([NoticeKind.MOVED], "b")
    assert room.message == "the default microphone is now B: listening to it"


def test_a_device_that_stops_is_noticed_opened_anew_and_then_replaced():
    room = Room(device("a", default=True), device("b"))
    room.run(1)
    room.gives["a"] = "nothing"
    stopped_s = room.now_s
    kinds, name = room.run(3)
    assert kinds == [NoticeKind.STALLED, NoticeKind.STALLED]
    assert room.told[-2][0] == pytest.approx(stopped_s + STALL_S, abs=LATE_S)
    assert room.told[-1][0] == pytest.approx(stopped_s + STALL_S + START_S, abs=2 * LATE_S)
    assert room.told[-1][0] < stopped_s + 3
    assert name == "b"


def test_a_failing_device_is_tried_again_less_and_less_often_and_silently():
    room = Room(device("a", default=True), device("b"))
    room.gives["a"] = "nothing"
    kinds, _ = room.run(600)
    assert kinds == [NoticeKind.STALLED, NoticeKind.STALLED]
    tries = [when_s for when_s, name in room.opened if name == "a"]
    pauses = [later - sooner for sooner, later in itertools.pairwise(tries)]
    assert pauses[1] == pytest.approx(START_S + 2, abs=0.2)
    assert pauses == pytest.approx(sorted(pauses), abs=0.2)
    assert pauses[-1] == pytest.approx(START_S + 60, abs=0.2)
    room.gives["a"] = "sound"
    assert room.run(70) == ([NoticeKind.RETURNED], "a")


def test_a_recording_that_ends_is_opened_anew_at_once_but_not_for_ever():
    room = Room(device("a", default=True))
    room.gives["a"] = "nothing"
    for _ in range(round(100 / STEP_S)):
        room.step()
        if room.opened[-1][0] == room.now_s:
            room.monitor.see_end(room.now_s)
    assert room.opened[1][0] - room.opened[0][0] < 0.2
    assert len(room.opened) < 10
    assert [kind for _, kind, _ in room.told] == [NoticeKind.STALLED]
    room.gives["a"] = "sound"
    assert room.run(70) == ([NoticeKind.LISTENING], "a")


@pytest.mark.parametrize("muted", [True, False])
def test_only_zeros_are_told_with_their_reason_and_the_device_is_kept(muted):
    room = Room(device("a", default=True), device("b"))
    room.run(1)
    room.gives["a"] = "zeros"
    room.change("a", is_muted=muted)
    since_s = room.now_s
    kind, after_s = (NoticeKind.MUTED, MUTED_S) if muted else (NoticeKind.SILENT, ZEROS_S)
    assert room.run(60) == ([kind], "a")
    assert room.told[-1][0] == pytest.approx(since_s + after_s, abs=2 * LATE_S)
    assert room.told[-1][0] < since_s + 1
    room.gives["a"] = "sound"
    assert room.run(1) == ([NoticeKind.HEARD], "a")
    assert len(room.opened) == 1


def test_a_microphone_that_hushes_between_words_is_told_once():
    room = Room(device("a", default=True), device("b"))
    room.run(1)
    for pause in range(20):
        room.gives["a"] = "zeros"
        kinds, _ = room.run(1)
        assert kinds == ([NoticeKind.SILENT] if pause == 0 else [])
        room.gives["a"] = "sound"
        kinds, _ = room.run(1)
        assert kinds == ([NoticeKind.HEARD] if pause == 0 else [])
    room.gives["a"] = "zeros"
    assert room.run(HUSHED_S + 1)[0] == [NoticeKind.SILENT]
    room.unplug("a")
    room.gives["b"] = "zeros"
    assert room.run(ZEROS_S + 3 * STEP_S)[0] == [NoticeKind.LOST, NoticeKind.SILENT]


def test_a_switch_at_the_microphone_is_noticed_every_time():
    room = Room(device("a", default=True))
    room.run(1)
    for _ in range(3):
        room.gives["a"] = "zeros"
        assert room.run(1)[0] == [NoticeKind.SILENT]
        room.run(HUSHED_S)
        room.gives["a"] = "sound"
        assert room.run(1)[0] == [NoticeKind.HEARD]


def test_silence_of_what_is_played_is_told_only_when_it_is_muted():
    room = Room(device("a", kind=SYSTEM, default=True), kind=SYSTEM)
    room.gives["a"] = "zeros"
    assert room.run(60) == ([NoticeKind.LISTENING], "a")
    room.change("a", is_muted=True)
    assert room.run(1) == ([NoticeKind.MUTED], "a")
    room.change("a", is_muted=False)
    assert room.run(1) == ([NoticeKind.HEARD], "a")


def test_a_server_that_is_gone_is_waited_for_however_often_it_goes():
    room = Room(device("a"), device("b", default=True), wanted="a")
    room.run(1)
    for _ in range(3):
        devices, room.devices = room.devices, None
        assert room.run(10) == ([NoticeKind.NO_SERVER], None)
        assert room.message == "the sound server does not answer: waiting for it"
        room.devices = devices
        assert room.run(1) == ([NoticeKind.LISTENING], "a")


def test_a_new_server_is_not_blamed_for_what_failed_under_the_old_one():
    room = Room(device("a", default=True), device("b"))
    room.gives["a"] = "nothing"
    room.run(30)
    devices, room.devices = room.devices, None
    room.run(0.2)
    room.devices, room.gives = devices, {}
    assert room.run(1) == ([NoticeKind.LISTENING], "a")


def test_who_moves_the_recording_in_a_mixer_has_chosen_a_device():
    room = Room(device("a", number=1, default=True), device("b", number=2), device("c", number=3))
    room.run(1)
    room.monitor.see_move(2, room.now_s)
    assert room.run(1) == ([NoticeKind.MOVED], "b")
    assert len(room.opened) == 1, "it runs already"
    room.change("a", is_default=False)
    room.change("c", is_default=True)
    assert room.run(1) == ([], "b")
    room.unplug("b")
    assert room.run(1) == ([NoticeKind.LOST], "c")


def test_a_move_in_a_mixer_to_a_device_that_fails_leads_back_to_the_one_before():
    room = Room(device("a", default=True), device("b", number=2), device("c", number=3), wanted="b")
    room.run(1)
    room.gives["c"] = "nothing"
    room.monitor.see_move(3, room.now_s)
    assert room.run(10)[1] == "b"


def test_a_move_away_from_a_device_that_went_is_nobodys_choice():
    room = Room(device("a", number=1), device("b", number=2, default=True), wanted="a")
    room.run(1)
    room.unplug("a")
    room.monitor.see_devices(tuple(room.devices))
    room.monitor.see_move(2, room.now_s)
    assert room.run(1) == ([NoticeKind.LOST], "b")


def happen(room, rng):
    """Let one thing happen, of all that can."""
    name = rng.choice("abc")
    if room.devices is None:
        room.devices = [device(name)]
        return
    match rng.randrange(8):
        case 0:
            room.devices = None
        case 1:
            room.unplug(name)
        case 2:
            room.unplug(name)
            room.plug(device(name, number=rng.randrange(9)))
        case 3:
            room.monitor.see_sleep(5)
        case 4:
            room.monitor.see_end(room.now_s)
        case 5:
            room.change(name, is_muted=rng.random() < 0.5)
        case _:
            room.gives[name] = rng.choice(["sound", "zeros", "nothing"])


@pytest.mark.slow
def test_whatever_happens_a_good_device_is_recorded_soon():
    rng = random.Random(0)
    for _ in range(40):
        wanted = rng.choice([None, "a", "b"])
        room = Room(*[device(name, default=name == "a") for name in "abc"], wanted=wanted)
        for _ in range(15):
            happen(room, rng)
            room.run(rng.choice([0.05, 0.3, 2, 5]))
        room.gives, room.devices = {}, room.devices or []
        room.run(70)  # the longest a device that failed again and again is left alone
        listed = [device.name for device in room.devices]
        _, name = room.run(1)
        assert (name in listed) == bool(listed)
        assert name == wanted or wanted not in listed
