"""What happened to a source of sound, in the language of the windows."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from engine.audio.types import AudioNotice


def notice_words(notice: "AudioNotice") -> str:
    """Say a notice of the engine in one sentence; rare ones stay as the engine says them."""
    words = _stand_in_words(notice.kind) if notice.missed else _words(notice.kind)
    if not words or ("{0}" in words and not notice.device):
        return notice.message
    return words.format(notice.device, notice.missed)


def _words(kind: str) -> str:
    return {
        "listening": QCoreApplication.translate("SourceWords", "Listening to {0}"),
        "returned": QCoreApplication.translate("SourceWords", "{0} is back: listening to it again"),
        "moved": QCoreApplication.translate("SourceWords", "Listening to {0} from now on"),
        "muted": QCoreApplication.translate("SourceWords", "{0} is muted: please switch it on"),
        "silent": QCoreApplication.translate(
            "SourceWords", "{0} gives nothing but silence: please switch it on"
        ),
        "heard": QCoreApplication.translate("SourceWords", "{0} can be heard again"),
        "stalled": QCoreApplication.translate(
            "SourceWords", "Nothing comes from {0}: trying again"
        ),
        "woke": QCoreApplication.translate(
            "SourceWords", "The computer slept: listening to {0} again"
        ),
        "no server": QCoreApplication.translate(
            "SourceWords", "The sound server does not answer: waiting for it"
        ),
    }.get(kind, "")


def _stand_in_words(kind: str) -> str:
    if kind == "lost":
        return QCoreApplication.translate(
            "SourceWords", "{1} is not there: listening to {0} until it is back"
        )
    return QCoreApplication.translate(
        "SourceWords", "{1} gives no sound: listening to {0} until it does"
    )
