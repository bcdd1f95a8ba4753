"""The models for a window: lists them on a background thread."""

import shutil
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.captions.models import bundled_offers, folder_offer, known_offer
from app.config.system.background import BackgroundQueue
from engine.hub.catalogue import TRANSLATION_MODELS
from engine.untrusted.safe_names import folder_of


class ModelService(QObject):
    """List the available models.

    Signals:
        listed(list of ModelOffer): the bundled one, those of the library, and those of the hub.
        failed(str): one sentence.
    """

    listed = Signal(list)
    failed = Signal(str)

    def __init__(self, library: Path, parent: QObject | None = None) -> None:
        """Use the models in ``library``, where downloads are."""
        super().__init__(parent)
        self.library = library
        self._background = BackgroundQueue(self.failed.emit)

    @property
    def free_bytes(self) -> int | None:
        """Free bytes on the disk of the library, or None if unknown."""
        try:
            folder = next(path for path in (self.library, *self.library.parents) if path.exists())
            return shutil.disk_usage(folder).free
        except (OSError, StopIteration):
            return None

    def refresh(self) -> None:
        """List the models; ``listed`` is emitted."""
        self._background.run(self._list)

    def close(self) -> None:
        """Wait for the thread."""
        self._background.close()

    # The methods below run on the background thread and only emit signals.

    def _list(self) -> None:
        from engine.hub.download import find_model  # noqa: PLC0415  the hub's library is slow to import

        offers = bundled_offers()
        known = {folder_of(model.name) for model in TRANSLATION_MODELS}
        offers += [folder_offer(path) for path in _folders(self.library) if path.name not in known]
        offers += [
            known_offer(model, is_here=find_model(model.name, self.library) is not None)
            for model in TRANSLATION_MODELS
        ]
        self.listed.emit(offers)


def _folders(library: Path) -> list[Path]:
    """List the models of a library; folders of unfinished downloads begin with a dot."""
    folders = (path.parent for path in library.glob("*/config.json"))
    return sorted(folder for folder in folders if not folder.name.startswith("."))
