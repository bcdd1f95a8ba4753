"""Adapters as the rows of a table: whether each can be used, and what it is for."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.dialogs.adapters.service import ListedAdapter
from app.library.adapter_details import NOTHING
from engine.adapters.adapter import Status
from engine.files import bytes_text

_MARKS = {Status.OK: "●", Status.UNKNOWN: "◐", Status.BLOCKED: "✕"}  # not told by colour alone
_MANY = 3  # languages and policies that are named; more are counted

Index = QModelIndex | QPersistentModelIndex


class AdapterTable(QAbstractTableModel):
    """One row for each adapter."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._listed: Sequence[ListedAdapter] = ()
        self._loaded: tuple[str, ...] = ()
        self._used: str | None = None

    @property
    def listed(self) -> Sequence[ListedAdapter]:
        """The adapters, row by row."""
        return self._listed

    def show_adapters(self, listed: Sequence[ListedAdapter]) -> None:
        """Show these adapters."""
        self.beginResetModel()
        self._listed = listed
        self.endResetModel()

    def show_loaded(self, names: Sequence[str], used: str | None) -> None:
        """Show which of them are loaded, and which one translates."""
        self._loaded, self._used = tuple(names), used
        if self._listed:
            last = self.index(len(self._listed) - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        """Count adapters."""
        return 0 if parent.isValid() else len(self._listed)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Count columns."""
        return 0 if parent.isValid() else len(self._titles())

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Give the text of a cell, and the reason as its tip."""
        listed = self._listed[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cells(listed)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return listed.adapter.reason
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Name the columns."""
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self._titles()[section]
        return None

    def _titles(self) -> tuple[str, ...]:
        return (
            self.tr("Status"),
            self.tr("Name"),
            self.tr("To"),
            self.tr("Slot"),
            self.tr("Policies"),
            self.tr("Size"),
            self.tr("Now"),
        )

    def _cells(self, listed: ListedAdapter) -> tuple[str, ...]:
        adapter = listed.adapter
        card, weights = adapter.card, adapter.weights
        return (
            f"{_MARKS[adapter.status]} {self._status(adapter.status)}",
            listed.shelved.name,
            _some(card.languages) if card else NOTHING,
            str(card.slot_length) if card else NOTHING,
            _some(card.policies) if card else NOTHING,
            bytes_text(weights.n_bytes) if weights else NOTHING,
            self._state(adapter.name),
        )

    def _status(self, status: Status) -> str:
        names = {
            Status.OK: self.tr("ok"),
            Status.UNKNOWN: self.tr("unknown"),
            Status.BLOCKED: self.tr("blocked"),
        }
        return names[status]

    def _state(self, name: str) -> str:
        if name == self._used:
            return self.tr("translates")
        return self.tr("loaded") if name in self._loaded else ""


def _some(names: Collection[str]) -> str:
    told = ", ".join([*names][:_MANY])
    return f"{told} + {len(names) - _MANY}" if len(names) > _MANY else told
