"""Decide which device is recorded, from what is seen of it, and say in words what happened.

A plain state machine: time comes in as an argument, nothing is opened or read here.

    what is seen                      what follows
    chosen device not listed          the default, else another; back when it is listed again
    nothing comes any more            opened anew; if that does not help, as above, and it is tried
                                      again at growing intervals
    default changed, none was chosen  the new default
    moved by a person, in a mixer     that device is the chosen one from now on
    only zeros                        told by name, with the reason where the system knows it
    no server                         told; recorded again as soon as there is one
    the computer slept                opened anew

A muted microphone is never replaced by another one: who mutes it does not want to be heard.
"""

from dataclasses import dataclass

from engine.audio.devices import AudioDevice, AudioNotice, DeviceKind, NoticeKind, WantedDevice
from engine.messages import Code, Value

STALL_S = 0.6
"""A device that gave sound and then nothing for so long has stopped."""

START_S = 2.0
"""A device that was opened may take so long to begin; Bluetooth does."""

MUTED_S = 0.3
ZEROS_S = 0.6
HUSHED_S = 10.0
"""Zeros are told after so long: where the system says that it is muted; where it does not; and
where the device was found to hush between words, as some headsets and noise filters do."""

HEALTHY_S = 5.0
"""A device that gave sound for as long as this is as good as one that never failed."""

_LONGEST_PAUSE_S = 60.0

_NEW_DEFAULT = {
    DeviceKind.MICROPHONE: Code.DEFAULT_MICROPHONE,
    DeviceKind.SYSTEM: Code.DEFAULT_OUTPUT,
}
_NONE_THERE = {DeviceKind.MICROPHONE: Code.NO_MICROPHONE, DeviceKind.SYSTEM: Code.NO_OUTPUT}
_NONE_LEFT = {
    DeviceKind.MICROPHONE: Code.GONE_NO_MICROPHONE,
    DeviceKind.SYSTEM: Code.GONE_NO_OUTPUT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is to be recorded now.

    Attributes:
        device: the device, or None where there is none to record.
        opening: a number that changes whenever the device must be opened, anew or at all.
        notices: what a person should be told, in order.
    """

    device: AudioDevice | None
    opening: int
    notices: tuple[AudioNotice, ...]


@dataclass(slots=True)
class _Failure:
    count: int = 0
    until_s: float = 0.0


class Failures:
    """Count the failures of each device in a row, and know when it may be tried again.

    After the first it may be tried again at once, after the second in two seconds, then in four,
    eight and so on up to a minute. A device that is plugged in again is a new one.
    """

    def __init__(self) -> None:
        self._failures: dict[tuple[str, int], _Failure] = {}

    def add(self, device: AudioDevice, now_s: float) -> int:
        """Count a failure; return how many there are in a row."""
        failure = self._failures.setdefault((device.name, device.number), _Failure())
        failure.count += 1
        if failure.count > 1:
            failure.until_s = now_s + min(2.0 ** (failure.count - 1), _LONGEST_PAUSE_S)
        return failure.count

    def is_blocked(self, device: AudioDevice, now_s: float) -> bool:
        """Tell whether it is too early to try the device again."""
        failure = self._failures.get((device.name, device.number))
        return failure is not None and now_s < failure.until_s

    def hear(self, device: AudioDevice, *, for_s: float) -> None:
        """Take that the device gives sound, for so many seconds now."""
        key = (device.name, device.number)
        if for_s >= HEALTHY_S:
            self._failures.pop(key, None)
        elif key in self._failures:
            self._failures[key].until_s = 0.0


class DeviceMonitor:
    """See, and decide.

    Invariant: as long as a device of the wanted kind is listed that does not fail, ``decide`` names
    one that is listed.
    """

    def __init__(self, wanted: WantedDevice) -> None:
        """Look after the device somebody wants."""
        self._wanted = wanted
        self._devices: tuple[AudioDevice, ...] | None = ()
        self._descriptions: dict[str, str] = {}  # of all that ever were listed, by name
        self._failures = Failures()
        self._current: AudioDevice | None = None
        self._opening = 0
        self._opened_s = 0.0
        self._heard_s: float | None = None  # the newest sound since it was opened
        self._broken = False  # it ended, or is open and gives nothing
        self._zeros_since_s: float | None = None
        self._silent_since_s = 0.0  # when that was told
        self._patience_s = ZEROS_S
        self._missed: str | None = None  # name of the device that another one stands in for
        self._told: NoticeKind | None = None  # the trouble that is not over yet
        self._on_sound: AudioNotice | None = None  # what will be true when sound comes
        self._notices: list[AudioNotice] = []

    def see_devices(self, devices: tuple[AudioDevice, ...] | None) -> None:
        """Take what is listed now; None where no server answers."""
        self._devices = devices
        self._descriptions |= {device.name: device.description for device in devices or ()}

    def see_sound(self, now_s: float, *, is_zero: bool) -> None:
        """Take that a block came; ``is_zero``: every sample of it is exactly 0."""
        if self._current is None:
            return
        self._heard_s = now_s
        self._broken = False
        self._failures.hear(self._current, for_s=now_s - self._opened_s)
        if self._on_sound is not None:
            self._notices.append(self._on_sound)
            if self._on_sound.kind is NoticeKind.RETURNED:
                self._missed = None
            self._told = self._on_sound = None
        elif self._told is NoticeKind.STALLED:
            self._tell_heard(self._current)
        if not is_zero:
            self._zeros_since_s = None
        elif self._zeros_since_s is None:
            self._zeros_since_s = now_s

    def see_end(self, now_s: float) -> None:
        """Take that the recording ended, or could not be begun."""
        if self._current is not None:
            self._broken = True
            self._failures.add(self._current, now_s)

    def see_move(self, number: int, now_s: float) -> None:
        """Take that the system moved the recording; list the devices anew before this."""
        current = self._listed(self._current)
        moved_to = next((device for device in self._devices or () if device.number == number), None)
        if current is None or moved_to is None or moved_to == current:
            return  # the device was taken away, and not by a person
        self._wanted = WantedDevice(kind=moved_to.kind, name=moved_to.name)
        self._current, self._missed = moved_to, None
        self._opened_s, self._heard_s = now_s, None
        self._tell(NoticeKind.MOVED, moved_to, Code.MOVED_BY_MIXER)

    def see_sleep(self, slept_s: float) -> None:
        """Take that the computer slept."""
        device = self._current
        if device is not None:
            self._tell(NoticeKind.WOKE, device, Code.WOKE, seconds=slept_s)
            self._broken = True

    def decide(self, now_s: float) -> Decision:
        """Say what is to be recorded from now on."""
        if self._devices is None:
            self._wait_for_server()
        else:
            self._current = self._listed(self._current) or self._current  # it may be muted now
            self._find_stall(now_s)
            self._choose(now_s)
            self._find_quiet(now_s)
        notices, self._notices = tuple(self._notices), []
        return Decision(device=self._current, opening=self._opening, notices=notices)

    def _listed(self, device: AudioDevice | None) -> AudioDevice | None:
        """Look a device up in the newest list; plugged in anew, it is another one."""
        for other in self._devices or ():
            if device and (other.name, other.number) == (device.name, device.number):
                return other
        return None

    def _wait_for_server(self) -> None:
        if self._told is not NoticeKind.NO_SERVER:
            self._tell(NoticeKind.NO_SERVER, None, Code.NO_SERVER)
        self._current = self._missed = None
        self._failures = Failures()

    def _find_stall(self, now_s: float) -> None:
        device = self._listed(self._current)
        due_s = self._opened_s + START_S if self._heard_s is None else self._heard_s + STALL_S
        if device is None or self._broken or now_s < due_s:
            return
        self._broken = True
        if self._failures.add(device, now_s) == 1:
            self._tell(NoticeKind.STALLED, device, Code.STALLED)

    def _choose(self, now_s: float) -> None:
        best, current = self._best(now_s), self._current
        if best is None:
            self._wait(self._listed(current))
        elif current is None:
            self._begin(best)
            self._open(best, now_s)
        elif best != current:
            self._replace(current, best)
            self._patience_s = ZEROS_S
            self._open(best, now_s)
        elif self._broken:
            self._open(best, now_s)

    def _best(self, now_s: float) -> AudioDevice | None:
        """Find the device to record, among those that do not fail just now."""
        good = [
            device
            for device in self._devices or ()
            if device.kind is self._wanted.kind and not self._failures.is_blocked(device, now_s)
        ]
        good.sort(key=lambda device: (device.name != self._wanted.name, not device.is_default))
        return good[0] if good else None

    def _open(self, device: AudioDevice, now_s: float) -> None:
        self._current = device
        self._opening += 1
        self._opened_s, self._heard_s = now_s, None
        self._broken = False
        self._zeros_since_s = None

    def _begin(self, device: AudioDevice) -> None:
        """Say what is recorded where nothing was."""
        chosen = self._wanted.name
        if chosen in (None, device.name):
            self._on_sound = _notice(NoticeKind.LISTENING, device, Code.LISTENING)
        else:
            self._stand_in(device, NoticeKind.LOST, chosen, Code.NOT_THERE)

    def _replace(self, last: AudioDevice, device: AudioDevice) -> None:
        """Say why another device is recorded; that one is back is only true when it is heard."""
        self._on_sound = None
        if device.name == last.name:
            self._on_sound = _notice(NoticeKind.LISTENING, device, Code.PLUGGED_IN_AGAIN)
        elif device.name == self._missed:
            self._on_sound = _notice(NoticeKind.RETURNED, device, Code.BACK)
        elif self._listed(last) is None:
            self._stand_in(device, NoticeKind.LOST, last.name, Code.GONE)
        elif self._broken:
            self._stand_in(device, NoticeKind.STALLED, last.name, Code.NO_SOUND_FROM)
        else:
            self._tell(NoticeKind.MOVED, device, _NEW_DEFAULT[device.kind])
            self._told = None

    def _stand_in(self, device: AudioDevice, kind: NoticeKind, missed: str, code: Code) -> None:
        """Say that another device is recorded for now: once, however often that one is tried."""
        if missed != self._missed:
            self._tell(kind, device, code, missed=self._descriptions.get(missed, missed))
        self._missed = self._missed or missed
        self._told = None

    def _wait(self, failing: AudioDevice | None) -> None:
        """Say once that nothing can be recorded for now."""
        if failing is not None:
            if self._broken and self._told is not NoticeKind.STALLED:
                self._tell(NoticeKind.STALLED, failing, Code.STILL_STALLED)
            return
        if self._told is not NoticeKind.LOST:
            codes = _NONE_LEFT if self._current else _NONE_THERE
            self._tell(NoticeKind.LOST, self._current, codes[self._wanted.kind])
        self._current = self._missed = None

    def _find_quiet(self, now_s: float) -> None:
        device = self._current
        if device is None or self._heard_s is None:
            return
        quiet: NoticeKind | None = None
        zeros_s = 0.0 if self._zeros_since_s is None else now_s - self._zeros_since_s
        if zeros_s >= MUTED_S and device.is_muted:
            quiet = NoticeKind.MUTED
        elif zeros_s >= self._patience_s and device.kind is DeviceKind.MICROPHONE:
            quiet = NoticeKind.SILENT  # while what is played may well be silence
        if quiet is None and self._told in (NoticeKind.MUTED, NoticeKind.SILENT):
            if self._told is NoticeKind.SILENT and now_s - self._silent_since_s < HUSHED_S:
                self._patience_s = HUSHED_S
            self._tell_heard(device)
        elif quiet is not None and quiet is not self._told:
            self._silent_since_s = now_s
            self._tell(quiet, device, Code.MUTED if quiet is NoticeKind.MUTED else Code.SILENT)

    def _tell_heard(self, device: AudioDevice) -> None:
        self._tell(NoticeKind.HEARD, device, Code.HEARD)
        self._told = None

    def _tell(
        self, kind: NoticeKind, device: AudioDevice | None, code: Code, **values: Value
    ) -> None:
        self._notices.append(_notice(kind, device, code, **values))
        self._told = kind


def _notice(
    kind: NoticeKind, device: AudioDevice | None, code: Code, **values: Value
) -> AudioNotice:
    name = device.description if device else ""
    return AudioNotice(kind=kind, device=name, message=code(device=name, **values))
