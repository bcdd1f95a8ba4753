"""The models for a window: lists them on a background thread."""

import logging
import shutil
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.captions.models import ModelOffer, known_offer
from app.config.system.background import BackgroundQueue
from engine.errors import ModelError
from engine.hub.bundled import bundled_models
from engine.hub.catalogue import TRANSLATION_MODELS
from engine.models.model_card import read_card
from engine.untrusted.safe_names import folder_of, model_name

_log = logging.getLogger(__name__)

_HEAD_LINES = 40


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
        offers += [_folder_offer(path) for path in _folders(self.library) if path.name not in known]
        offers += [
            known_offer(model, is_here=find_model(model.name, self.library) is not None)
            for model in TRANSLATION_MODELS
        ]
        self.listed.emit(offers)


def bundled_offers() -> list[ModelOffer]:
    """Return the bundled models."""
    return [
        replace(_folder_offer(folder), choice=None, languages=_targets(folder))
        for folder in bundled_models()
    ]


def _targets(folder: Path) -> tuple[str, ...]:
    """Return the target languages of the bundled model; none if its card cannot be read."""
    try:
        return tuple(read_card(folder).languages)
    except ModelError:  # which the session tells, in the same words
        return ()


def _folder_offer(folder: Path) -> ModelOffer:
    return ModelOffer(
        choice=folder,
        name=model_name(folder),
        n_bytes=_size(folder),
        licence=_licence(folder),
        is_here=True,
    )


def _folders(library: Path) -> list[Path]:
    """List the models of a library; folders of unfinished downloads begin with a dot."""
    folders = (path.parent for path in library.glob("*/config.json"))
    return sorted(folder for folder in folders if not folder.name.startswith("."))


def _size(folder: Path) -> int:
    try:
        return sum(path.stat().st_size for path in folder.glob("*.safetensors")) or sum(
            path.stat().st_size for path in folder.glob("ctranslate2-*/model.bin")
        )
    except OSError as error:
        _log.info("the size of %s is not known: %s", folder.name, error)
        return 0


def _licence(folder: Path) -> str:
    """Return the licence in the head of a model's README, or an empty string."""
    try:
        lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()[:_HEAD_LINES]
    except (OSError, UnicodeDecodeError):
        return ""
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("license:")]
    return names[0].upper() if names else ""
