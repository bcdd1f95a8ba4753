"""Looks after models for a window, on another thread: which are here, and fetching one."""

import logging
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.library.models import ModelOffer, known_offer
from app.system.background import BackgroundQueue
from app.system.translations import error_text
from engine.errors import FetchCancelledError, SurtitleError
from engine.hub.bundled import bundled_models
from engine.hub.catalogue import KNOWN_MODELS

if TYPE_CHECKING:
    from engine.hub.transfer import HubSettings  # the hub's library is slow to import

_log = logging.getLogger(__name__)

_HEAD_LINES = 40


class ModelService(QObject):
    """List the models that can be chosen, and fetch one.

    Signals:
        listed(list of ModelOffer): the bundled one, those of the library, and those of the hub.
        progressed(str, int, int): of this model so many bytes of so many are here.
        fetched(str): this model is here now.
        failed(str): something could not be done; one sentence. Empty where it was cancelled.
    """

    listed = Signal(list)
    progressed = Signal(str, object, object)  # bytes do not fit into Qt's int
    fetched = Signal(str)
    failed = Signal(str)

    def __init__(
        self, library: Path, hub: "HubSettings | None" = None, parent: QObject | None = None
    ) -> None:
        """Look for models in ``library``; they are fetched into it."""
        super().__init__(parent)
        self.library = library
        self._hub = hub
        self._cancelled = threading.Event()
        self._background = BackgroundQueue(self.failed.emit)

    @property
    def free_bytes(self) -> int | None:
        """Bytes that are free where models are fetched to; None where nobody knows."""
        try:
            there = next(path for path in (self.library, *self.library.parents) if path.exists())
            return shutil.disk_usage(there).free
        except (OSError, StopIteration):
            return None

    def refresh(self) -> None:
        """Look which models are here; ``listed`` tells."""
        self._background.run(self._list)

    def fetch(self, name: str) -> None:
        """Fetch a model of the hub; what was begun before is gone on with."""
        self._cancelled.clear()
        self._background.run(partial(self._fetch, name))

    def cancel(self) -> None:
        """Stop fetching; what is here is kept for the next time."""
        self._cancelled.set()

    def close(self) -> None:
        """Stop fetching and wait for it."""
        self.cancel()
        self._background.close()

    # Below here all but the slot runs on the thread, and speaks by signals alone.

    def _list(self) -> None:
        offers = bundled_offers()
        known = {model.name.replace("/", "--") for model in KNOWN_MODELS}
        offers += [_folder_offer(path) for path in _folders(self.library) if path.name not in known]
        find = self._finder()
        offers += [known_offer(model, is_here=find(model.name)) for model in KNOWN_MODELS]
        self.listed.emit(offers)

    def _finder(self) -> Callable[[str], bool]:
        from engine.hub.download import find_model  # noqa: PLC0415  the hub's library is slow to import

        return lambda name: find_model(name, self.library) is not None

    def _fetch(self, name: str) -> None:
        from engine.hub.download import fetch_model  # noqa: PLC0415  as above

        tell = partial(self.progressed.emit, name)
        try:
            fetch_model(
                name, self.library, self._hub, progress=tell, cancelled=self._cancelled.is_set
            )
        except FetchCancelledError:
            self.failed.emit("")
            return
        except SurtitleError as error:
            self.failed.emit(error_text(error))
            return
        self.fetched.emit(name)
        self._list()


def bundled_offers() -> list[ModelOffer]:
    """Offer the model that comes with the program, if one does."""
    return [replace(_folder_offer(folder), choice=None) for folder in bundled_models()[:1]]


def _folder_offer(folder: Path) -> ModelOffer:
    return ModelOffer(
        choice=folder,
        name=folder.name,
        n_bytes=_size(folder),
        licence=_licence(folder),
        is_here=True,
    )


def _folders(library: Path) -> list[Path]:
    """List the models of a library; what a fetch has not finished is hidden."""
    found = library.glob("*/config.json")
    return sorted(path.parent for path in found if not path.parent.name.startswith("."))


def _size(folder: Path) -> int:
    try:
        return sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    except OSError as error:
        _log.info("the size of %s is not known: %s", folder.name, error)
        return 0


def _licence(folder: Path) -> str:
    """Read the licence off the head of a model's README, as the hub writes it; nothing if none."""
    try:
        lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()[:_HEAD_LINES]
    except (OSError, UnicodeDecodeError):
        return ""
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("license:")]
    return found[0].upper() if found else ""
