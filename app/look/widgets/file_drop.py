"""Takes files that are dropped on widgets."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

_STEPS = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)


class FileDrop(QObject):
    """Accept one file of this computer on any of the widgets; other drops stay theirs.

    Signals:
        dropped(Path): this file was dropped.
    """

    dropped = Signal(Path)

    def __init__(self, widgets: Sequence[QWidget], parent: QObject) -> None:
        super().__init__(parent)
        for widget in widgets:
            widget.setAcceptDrops(True)
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take drags that carry a file."""
        if event.type() in _STEPS and isinstance(event, QDropEvent):
            path = _file_in(event)
            if path is not None:
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self.dropped.emit(path)
                return True
        return super().eventFilter(watched, event)


def _file_in(event: QDropEvent) -> Path | None:
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return paths[0] if len(paths) == 1 and paths[0].is_file() else None
