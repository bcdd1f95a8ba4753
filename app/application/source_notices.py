"""Shows the newest notice about each source in the banner; good news disappears by itself."""

from collections.abc import Collection

from PySide6.QtCore import QObject, QTimer, Slot

from app.main_window.banner import Banner
from app.system.translations import worded
from engine.audio.devices import AudioNotice, NoticeKind

_GOOD_NEWS_MS = 8000
_GOOD_NEWS = (NoticeKind.HEARD, NoticeKind.RETURNED, NoticeKind.WOKE)  # withdrawn after a while
_NAMES_DEVICE = (
    NoticeKind.LISTENING,
    NoticeKind.RETURNED,
    NoticeKind.MOVED,
    NoticeKind.LOST,
)


class SourceNotices(QObject):
    """Show notices of sources by lane."""

    def __init__(self, banner: Banner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._banner = banner
        self._good_news = set[str]()
        self._devices: dict[str, str] = {}
        self._noticed = set[str]()  # lanes with a notice
        self._forget = QTimer(self)
        self._forget.setSingleShot(True)
        self._forget.setInterval(_GOOD_NEWS_MS)
        self._forget.timeout.connect(self._withdraw_good_news)

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices in use."""
        return tuple(filter(None, self._devices.values()))

    def take(self, lane: str, notice: AudioNotice) -> None:
        """Show a notice about a source."""
        topic = _topic(lane)
        self._noticed.add(lane)
        self._good_news.discard(topic)
        if notice.kind in _NAMES_DEVICE:
            self._devices[lane] = notice.device
        if notice.kind is NoticeKind.LISTENING:  # the status shows it; the problem is over
            self._banner.withdraw(topic)
            return
        self._banner.show_offer(worded(notice.message), "", topic)
        if notice.kind in _GOOD_NEWS:
            self._good_news.add(topic)
            self._forget.start()

    def keep(self, lanes: Collection[str]) -> None:
        """Set the active lanes; notices of other lanes are withdrawn."""
        for lane in [one for one in self._devices if one not in lanes]:
            del self._devices[lane]
        for lane in self._noticed - set(lanes):
            self._banner.withdraw(_topic(lane))
        self._noticed &= set(lanes)

    def close(self) -> None:
        """Stop the timer."""
        self._forget.stop()

    @Slot()
    def _withdraw_good_news(self) -> None:
        for topic in self._good_news:
            self._banner.withdraw(topic)
        self._good_news.clear()


def _topic(lane: str) -> str:
    return f"source {lane}"
