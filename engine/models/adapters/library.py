"""The library of adapters: those that come with the program, and those the user added.

A new adapter is inspected, copied under a hidden name, inspected again, and renamed in one step: a
crash or a full disk leaves the library unchanged. Nothing outside the library is ever changed.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import AdapterError, message_of
from engine.messages import Code
from engine.models.adapters.adapter import Adapter, check_name, usable_adapter, verify_adapter
from engine.models.adapters.lora import CONFIG_FILE, WEIGHTS_FILE
from engine.models.model_card import FILE_NAME
from engine.untrusted.plain_files import delete_hidden, swap_folder
from engine.untrusted.strict_json import shown

_FILES = (CONFIG_FILE, WEIGHTS_FILE, FILE_NAME)
_DOCUMENTS = ("README.md", "LICENSE", "LICENSE.txt", "NOTICE")
_LONGEST_DOCUMENT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryAdapter:
    """An adapter in the library; a bundled one came with the program and cannot be removed."""

    name: str
    folder: Path
    bundled: bool


class AdapterLibrary:
    """List, find, add and remove adapters; the only owner of their folder."""

    def __init__(self, folder: Path, bundled: Sequence[Path] = ()) -> None:
        """Own the folder of the user's adapters; it is created when one is added."""
        self._folder = folder
        self._bundled = tuple(bundled)

    def adapters(self) -> list[LibraryAdapter]:
        """List the adapters: the bundled ones, then the user's own, by name.

        Raises:
            AdapterError: the folder cannot be read.
        """
        adapters = [LibraryAdapter(name=it.name, folder=it, bundled=True) for it in self._bundled]
        with self._adapter_errors(Code.ADAPTERS_UNREADABLE):
            if self._folder.is_dir():
                self._restore_old()
                names = sorted(it.name for it in os.scandir(self._folder) if _is_adapter(it))
                for name in names:
                    folder = self._folder / name
                    adapters.append(LibraryAdapter(name=name, folder=folder, bundled=False))
        return adapters

    def find(self, name: str) -> LibraryAdapter:
        for adapter in self.adapters():
            if adapter.name == name:
                return adapter
        raise AdapterError(Code.NO_SUCH_ADAPTER(name=name))

    def add(self, source: Path, *, name: str | None = None, replace: bool = False) -> Adapter:
        """Copy an adapter into the library; return the copy, OK or UNKNOWN.

        Args:
            source: its folder, or one of the files in it.
            name: in the library; None for that of its folder, or of its card where no system could
                have such a folder.
            replace: an adapter of the same name.

        Raises:
            AdapterError: it cannot be used, its name is taken, or there is no room.
        """
        folder = source.parent if source.name in _FILES else source
        adapter = usable_adapter(folder)
        name = _checked(name or _own_name(adapter))
        target = self._folder / name
        if any(name == bundled.name for bundled in self._bundled):
            raise AdapterError(Code.ADAPTER_BUNDLED(name=name))
        with self._adapter_errors(Code.ADAPTERS_UNWRITABLE):
            self._restore_old()
            if target.exists() and not replace:
                raise AdapterError(Code.ADAPTER_THERE(name=name))
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._fresh(name) as fresh:
                _copy(folder, fresh)
                copied = usable_adapter(fresh, origin=folder)  # it may have changed since
                verify_adapter(copied, origin=folder)
                swap_folder(fresh, target)
        return usable_adapter(target)

    def remove(self, name: str) -> None:
        """Delete one of the user's own adapters.

        Raises:
            AdapterError: there is none of this name, or it comes with the program.
        """
        adapter = self.find(_checked(name))
        if adapter.bundled:
            raise AdapterError(Code.ADAPTER_STAYS_THERE(name=name))
        with self._adapter_errors(Code.ADAPTERS_UNWRITABLE):
            removed = self._hidden(name, "removed")
            delete_hidden(removed, self._folder)  # of a run that was killed
            adapter.folder.rename(removed)
            delete_hidden(removed, self._folder)

    def _hidden(self, name: str, purpose: str) -> Path:
        return self._folder / f".{name}.{purpose}"

    @contextlib.contextmanager
    def _fresh(self, name: str) -> Iterator[Path]:
        """Make an empty folder, and delete it afterwards unless it was renamed."""
        folder = self._hidden(name, "new")
        delete_hidden(folder, self._folder)  # of a run that was killed
        folder.mkdir()
        try:
            yield folder
        finally:
            with contextlib.suppress(OSError):
                delete_hidden(folder, self._folder)

    def _restore_old(self) -> None:
        """Restore folders that were being replaced when the program was killed."""
        for old in self._folder.glob(".*.old"):
            target = self._folder / old.name.removeprefix(".").removesuffix(".old")
            if not target.exists():
                old.rename(target)

    @contextlib.contextmanager
    def _adapter_errors(self, code: Code) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = code(folder=str(self._folder), reason=message_of(error))
            raise AdapterError(message) from error


def _is_adapter(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")


def _own_name(adapter: Adapter) -> str:
    name = adapter.folder.resolve().name
    with contextlib.suppress(ValueError):
        return check_name(name)
    return name if adapter.card is None else adapter.card.name


def _checked(name: str) -> str:
    try:
        return check_name(name)
    except ValueError as error:
        raise AdapterError(Code.ADAPTER_BAD_NAME(name=shown(name))) from error


def _copy(source: Path, target: Path) -> None:
    """Copy the files of an adapter and nothing else: no checkpoint, no link, no other folder."""
    for name in (*_FILES, *_DOCUMENTS):
        path = source / name
        if path.is_symlink() or not path.is_file():
            continue
        if name in _DOCUMENTS and path.stat().st_size > _LONGEST_DOCUMENT:
            continue
        with path.open("rb") as original, (target / name).open("wb") as copy:
            shutil.copyfileobj(original, copy)
            copy.flush()
            os.fsync(copy.fileno())
