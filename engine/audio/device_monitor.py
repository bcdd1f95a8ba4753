"""Decide from observations which device is recorded, and report changes as notices.

A plain state machine: time comes in as an argument, nothing is opened or read here.

    observation                       reaction
    chosen device not listed          the one before, else the default, else another; back when it
                                      is listed again
    no more sound                     reopened; if that does not help, as above, and it is retried
                                      at growing intervals
    default changed, none was chosen  the new default
    moved by a person, in a mixer     that device is the chosen one from now on
    only zeros                        a notice, with the reason where the system knows it
    no server                         a notice; recording resumes as soon as there is one
    the computer slept                reopened

A muted microphone is never replaced by another one: its owner does not want to be heard.
"""

from dataclasses import dataclass

from engine.audio.devices import AudioDevice, AudioNotice, DeviceKind, NoticeKind, WantedDevice
from engine.messages import Code, Value

STALL_S = 0.6
"""A device that delivered sound and then nothing for this long has stalled."""

START_S = 2.0
"""Time that an opened device may take to deliver sound; Bluetooth needs it."""

MUTED_S = 0.3
ZEROS_S = 0.6
HUSHED_S = 10.0
"""How long a device must deliver only zeros before that is reported: MUTED_S if the system reports
it muted, ZEROS_S if not, HUSHED_S if it has a noise gate, as some headsets have."""

HEALTHY_S = 5.0
"""Sound for this long clears the failures of a device."""

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
    """The device to record now, or None, with notices for the user.

    ``opening`` changes whenever the device must be opened or reopened.
    """

    device: AudioDevice | None
    opening: int
    notices: tuple[AudioNotice, ...]


@dataclass(slots=True)
class _Failure:
    count: int = 0
    until_s: float = 0.0


class Failures:
    """Count consecutive failures of each device, and block retries that come too early.

    The first retry may come at once, the next after two seconds, then four, eight and so on up to
    a minute. A device that is plugged in again is a new one.
    """

    def __init__(self) -> None:
        self._failures: dict[tuple[str, int], _Failure] = {}

    def add(self, device: AudioDevice, now_s: float) -> int:
        failure = self._failures.setdefault((device.name, device.number), _Failure())
        failure.count += 1
        if failure.count > 1:
            failure.until_s = now_s + min(2.0 ** (failure.count - 1), _LONGEST_PAUSE_S)
        return failure.count

    def is_blocked(self, device: AudioDevice, now_s: float) -> bool:
        failure = self._failures.get((device.name, device.number))
        return failure is not None and now_s < failure.until_s

    def hear(self, device: AudioDevice, *, for_s: float) -> None:
        key = (device.name, device.number)
        if for_s >= HEALTHY_S:
            self._failures.pop(key, None)
        elif key in self._failures:
            self._failures[key].until_s = 0.0


class DeviceMonitor:
    """Take observations by the ``see_`` methods, then ``decide``.

    Invariant: while a working device of the requested kind is listed, ``decide`` returns a listed
    one.
    """

    def __init__(self, wanted: WantedDevice) -> None:
        self._wanted = wanted
        self._devices: tuple[AudioDevice, ...] | None = ()
        self._descriptions: dict[str, str] = {}  # of all devices ever listed, by name
        self._failures = Failures()
        self._current: AudioDevice | None = None
        self.sounding: str | None = None  # name of the device that sound came from last
        self._opening = 0
        self._opened_s = 0.0
        self._heard_s: float | None = None  # the newest sound since it was opened
        self._broken = False  # it ended, or is open and delivers nothing
        self._zeros_since_s: float | None = None
        self._silent_since_s = 0.0  # when silence was reported
        self._patience_s = ZEROS_S
        self._missed: str | None = None  # name of the device that another one replaces for now
        self._trouble: NoticeKind | None = None  # reported, and not over yet
        self._on_sound: AudioNotice | None = None  # to be reported with the first sound
        self._notices: list[AudioNotice] = []

    def see_devices(self, devices: tuple[AudioDevice, ...] | None) -> None:
        """Take the list of devices; None if no server answers."""
        self._devices = devices
        self._descriptions |= {device.name: device.description for device in devices or ()}

    def see_sound(self, now_s: float, *, is_zero: bool) -> None:
        """Note a block of sound; ``is_zero``: all of its samples are exactly 0."""
        if self._current is None:
            return
        self._heard_s = now_s
        self.sounding = self._current.name
        self._broken = False
        self._failures.hear(self._current, for_s=now_s - self._opened_s)
        if self._on_sound is not None:
            self._notices.append(self._on_sound)
            if self._on_sound.kind is NoticeKind.RETURNED:
                self._missed = None
            self._trouble = self._on_sound = None
        elif self._trouble is NoticeKind.STALLED:
            self._notify_heard(self._current)
        if not is_zero:
            self._zeros_since_s = None
        elif self._zeros_since_s is None:
            self._zeros_since_s = now_s

    def see_end(self, now_s: float) -> None:
        """Note that the recording ended, or could not be started."""
        if self._current is not None:
            self._broken = True
            self._failures.add(self._current, now_s)

    def see_move(self, number: int, now_s: float) -> None:
        """Note that the system moved the recording; call ``see_devices`` before this."""
        current = self._listed(self._current)
        moved_to = next((device for device in self._devices or () if device.number == number), None)
        if current is None or moved_to is None or moved_to == current:
            return  # the device was unplugged: no person moved the recording
        before = current.name if self._wanted.name else None  # else the default was wanted
        self._wanted = WantedDevice(kind=moved_to.kind, name=moved_to.name, before=before)
        self._current, self._missed = moved_to, None
        self._opened_s, self._heard_s = now_s, None
        self._notify(NoticeKind.MOVED, moved_to, Code.MOVED_BY_MIXER)

    def see_sleep(self, slept_s: float) -> None:
        device = self._current
        if device is not None:
            self._notify(NoticeKind.WOKE, device, Code.WOKE, seconds=slept_s)
            self._broken = True

    def decide(self, now_s: float) -> Decision:
        if self._devices is None:
            self._wait_for_server()
        else:
            self._current = self._listed(self._current) or self._current  # it may be muted now
            self._check_stall(now_s)
            self._choose(now_s)
            self._check_silence(now_s)
        notices, self._notices = tuple(self._notices), []
        return Decision(device=self._current, opening=self._opening, notices=notices)

    def _listed(self, device: AudioDevice | None) -> AudioDevice | None:
        """Look a device up in the newest list; one that was plugged in again is another one."""
        for listed in self._devices or ():
            if device and (listed.name, listed.number) == (device.name, device.number):
                return listed
        return None

    def _wait_for_server(self) -> None:
        if self._trouble is not NoticeKind.NO_SERVER:
            self._notify(NoticeKind.NO_SERVER, None, Code.NO_SERVER)
        self._current = self._missed = None
        self._failures = Failures()

    def _check_stall(self, now_s: float) -> None:
        device = self._listed(self._current)
        due_s = self._opened_s + START_S if self._heard_s is None else self._heard_s + STALL_S
        if device is None or self._broken or now_s < due_s:
            return
        self._broken = True
        if self._failures.add(device, now_s) == 1:
            self._notify(NoticeKind.STALLED, device, Code.STALLED)

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
        """Try the chosen device first, then the one before, the default, any other."""
        wanted, before = self._wanted.name, self._wanted.before
        usable = [
            device
            for device in self._devices or ()
            if device.kind is self._wanted.kind and not self._failures.is_blocked(device, now_s)
        ]
        usable.sort(key=lambda it: (it.name != wanted, it.name != before, not it.is_default))
        return usable[0] if usable else None

    def _open(self, device: AudioDevice, now_s: float) -> None:
        self._current = device
        self._opening += 1
        self._opened_s, self._heard_s = now_s, None
        self._broken = False
        self._zeros_since_s = None

    def _begin(self, device: AudioDevice) -> None:
        chosen = self._wanted.name
        if chosen in (None, device.name):
            self._on_sound = _notice(NoticeKind.LISTENING, device, Code.LISTENING)
        else:
            self._stand_in(device, NoticeKind.LOST, chosen, Code.NOT_THERE)

    def _replace(self, last: AudioDevice, device: AudioDevice) -> None:
        """Report why another device is recorded; its return is reported with its first sound."""
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
            self._notify(NoticeKind.MOVED, device, _NEW_DEFAULT[device.kind])
            self._trouble = None

    def _stand_in(self, device: AudioDevice, kind: NoticeKind, missed: str, code: Code) -> None:
        """Report once that ``device`` replaces the missed one, however often that is retried."""
        if missed != self._missed:
            self._notify(kind, device, code, missed=self._descriptions.get(missed, missed))
        self._missed = self._missed or missed
        self._trouble = None

    def _wait(self, failing: AudioDevice | None) -> None:
        if failing is not None:
            if self._broken and self._trouble is not NoticeKind.STALLED:
                self._notify(NoticeKind.STALLED, failing, Code.STILL_STALLED)
            return
        if self._trouble is not NoticeKind.LOST:
            codes = _NONE_LEFT if self._current else _NONE_THERE
            self._notify(NoticeKind.LOST, self._current, codes[self._wanted.kind])
        self._current = self._missed = None

    def _check_silence(self, now_s: float) -> None:
        device = self._current
        if device is None or self._heard_s is None:
            return
        quiet: NoticeKind | None = None
        zeros_s = 0.0 if self._zeros_since_s is None else now_s - self._zeros_since_s
        if zeros_s >= MUTED_S and device.is_muted:
            quiet = NoticeKind.MUTED
        elif zeros_s >= self._patience_s and device.kind is DeviceKind.MICROPHONE:
            quiet = NoticeKind.SILENT  # an output may well play silence
        if quiet is None and self._trouble in (NoticeKind.MUTED, NoticeKind.SILENT):
            if self._trouble is NoticeKind.SILENT and now_s - self._silent_since_s < HUSHED_S:
                self._patience_s = HUSHED_S
            self._notify_heard(device)
        elif quiet is not None and quiet is not self._trouble:
            self._silent_since_s = now_s
            self._notify(quiet, device, Code.MUTED if quiet is NoticeKind.MUTED else Code.SILENT)

    def _notify_heard(self, device: AudioDevice) -> None:
        self._notify(NoticeKind.HEARD, device, Code.HEARD)
        self._trouble = None

    def _notify(
        self, kind: NoticeKind, device: AudioDevice | None, code: Code, **values: Value
    ) -> None:
        self._notices.append(_notice(kind, device, code, **values))
        self._trouble = kind


def _notice(
    kind: NoticeKind, device: AudioDevice | None, code: Code, **values: Value
) -> AudioNotice:
    name = device.description if device else ""
    return AudioNotice(kind=kind, device=name, message=code(device=name, **values))
