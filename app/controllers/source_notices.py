"""Shows the newest notice about each source in the banner; good news passes by itself."""

from collections.abc import Collection

from app.config.system.translations import worded
from app.main_window.banner import Banner
from engine.audio.devices import AudioNotice, NoticeKind

_GOOD_NEWS = (NoticeKind.HEARD, NoticeKind.RETURNED, NoticeKind.WOKE)
_NAMES_DEVICE = (
    NoticeKind.LISTENING,
    NoticeKind.RETURNED,
    NoticeKind.MOVED,
    NoticeKind.LOST,
)


class SourceNotices:
    """Show notices of sources by lane."""

    def __init__(self, banner: Banner) -> None:
        self._banner = banner
        self._devices: dict[str, str] = {}
        self._noticed = set[str]()  # lanes with a notice

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices in use."""
        return tuple(filter(None, self._devices.values()))

    def take(self, lane: str, notice: AudioNotice) -> None:
        """Show a notice about a source."""
        topic = _topic(lane)
        self._noticed.add(lane)
        if notice.kind in _NAMES_DEVICE:
            self._devices[lane] = notice.device
        if notice.kind is NoticeKind.LISTENING:  # the status shows it; the problem is over
            self._banner.withdraw(topic)
            return
        passes = notice.kind in _GOOD_NEWS
        self._banner.show_offer(worded(notice.message), topic, passes=passes)

    def keep(self, lanes: Collection[str]) -> None:
        """Set the active lanes; notices of other lanes are withdrawn."""
        for lane in [one for one in self._devices if one not in lanes]:
            del self._devices[lane]
        for lane in self._noticed - set(lanes):
            self._banner.withdraw(_topic(lane))
        self._noticed &= set(lanes)


def _topic(lane: str) -> str:
    return f"source {lane}"
