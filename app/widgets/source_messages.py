"""What happened to a source of sound, in the language of the windows."""

from PySide6.QtCore import QCoreApplication

from engine.audio.devices import AudioNotice, NoticeKind


def notice_words(notice: AudioNotice) -> str:
    """Say a notice of the engine in one sentence; rare ones stay as the engine says them."""
    words = _stand_in_words(notice.kind) if notice.missed else _words(notice.kind)
    if not words or ("{0}" in words and not notice.device):
        return notice.message
    return words.format(notice.device, notice.missed)


def _words(kind: NoticeKind) -> str:
    return {
        NoticeKind.LISTENING: QCoreApplication.translate("SourceWords", "Listening to {0}"),
        NoticeKind.RETURNED: QCoreApplication.translate(
            "SourceWords", "{0} is back: listening to it again"
        ),
        NoticeKind.MOVED: QCoreApplication.translate("SourceWords", "Listening to {0} from now on"),
        NoticeKind.MUTED: QCoreApplication.translate(
            "SourceWords", "{0} is muted: please switch it on"
        ),
        NoticeKind.SILENT: QCoreApplication.translate(
            "SourceWords", "{0} gives nothing but silence: please switch it on"
        ),
        NoticeKind.HEARD: QCoreApplication.translate("SourceWords", "{0} can be heard again"),
        NoticeKind.STALLED: QCoreApplication.translate(
            "SourceWords", "Nothing comes from {0}: trying again"
        ),
        NoticeKind.WOKE: QCoreApplication.translate(
            "SourceWords", "The computer slept: listening to {0} again"
        ),
        NoticeKind.NO_SERVER: QCoreApplication.translate(
            "SourceWords", "The sound server does not answer: waiting for it"
        ),
    }.get(kind, "")


def _stand_in_words(kind: NoticeKind) -> str:
    if kind is NoticeKind.LOST:
        return QCoreApplication.translate(
            "SourceWords", "{1} is not there: listening to {0} until it is back"
        )
    return QCoreApplication.translate(
        "SourceWords", "{1} gives no sound: listening to {0} until it does"
    )
