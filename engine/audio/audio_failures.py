"""Which devices gave nothing lately, and when they may be tried again."""

from dataclasses import dataclass

from engine.audio.types import AudioDevice

HEALTHY_S = 5.0
"""A device that gave sound for as long as this is as good as one that never failed."""

_LONGEST_S = 60.0


@dataclass(slots=True)
class _Failure:
    count: int = 0
    until_s: float = 0.0


class Failures:
    """Count the failures of each device in a row.

    After the first it may be tried again at once, after the second in two seconds, then in four,
    eight and so on up to a minute. A device that is plugged in anew is another one.
    """

    def __init__(self) -> None:
        self._failures: dict[tuple[str, int], _Failure] = {}

    def add(self, device: AudioDevice, now_s: float) -> int:
        """Count a failure; return how many there are in a row."""
        failure = self._failures.setdefault((device.name, device.number), _Failure())
        failure.count += 1
        if failure.count > 1:
            failure.until_s = now_s + min(2.0 ** (failure.count - 1), _LONGEST_S)
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
