"""What happens to sources, in the banner: the newest sentence about each, good news briefly."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app.banner import Banner

if TYPE_CHECKING:
    from engine.audio import AudioNotice

_GOOD_NEWS_MS = 8000
_GOOD_NEWS = ("heard", "returned", "woke")
_PLACES = ("listening", "returned", "moved", "lost")
"""Of ``engine.audio.NoticeKind``: those that go by themselves, and those that name the device."""


class SourceNotices(QObject):
    """Take notices of sources, lane by lane."""

    def __init__(self, banner: Banner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._banner = banner
        self._good_news = set[str]()
        self._devices: dict[str, str] = {}
        self._forget = QTimer(self)
        self._forget.setSingleShot(True)
        self._forget.setInterval(_GOOD_NEWS_MS)
        self._forget.timeout.connect(self._withdraw_good_news)

    @property
    def devices(self) -> tuple[str, ...]:
        """Names for people of the devices that are heard."""
        return tuple(filter(None, self._devices.values()))

    def take(self, lane: str, notice: "AudioNotice") -> None:
        """Show what happened to a source."""
        topic = f"source {lane}"
        self._good_news.discard(topic)
        if notice.kind in _PLACES:
            self._devices[lane] = notice.device
        if notice.kind == "listening":  # the status tells it; what was wrong is over
            self._banner.withdraw(topic)
            return
        self._banner.show_offer(notice.message, "", topic)
        if notice.kind in _GOOD_NEWS:
            self._good_news.add(topic)
            self._forget.start()

    def forget_devices(self) -> None:
        """Take that nothing is heard any more."""
        self._devices.clear()

    def close(self) -> None:
        """Leave nothing running."""
        self._forget.stop()

    @Slot()
    def _withdraw_good_news(self) -> None:
        for topic in self._good_news:
            self._banner.withdraw(topic)
        self._good_news.clear()
