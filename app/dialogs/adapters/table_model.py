"""The table model of adapters: one row each, with a switch and what matters before one is used."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.captions.adapter_details import NOTHING
from app.config.system.translations import worded
from app.dialogs.adapters.service import ListedAdapter
from app.look.widgets.dialog_text import size_text
from app.look.widgets.language_names import language_name
from engine.models.adapters.adapter import Status
from engine.models.adapters.card import AdapterCard

_MARKS = {Status.OK: "●", Status.UNKNOWN: "◐", Status.BLOCKED: "✕"}  # not by colour alone
_MANY = 3  # languages that are named; more are counted

Index = QModelIndex | QPersistentModelIndex


class AdapterTable(QAbstractTableModel):
    """One row for each adapter; the tick before its name says that it translates.

    Signals:
        switched(int, bool): the user set or removed the tick of a row.

    Attributes:
        listed: the adapters, row by row.
    """

    switched = Signal(int, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.listed: Sequence[ListedAdapter] = ()
        self._loaded: tuple[str, ...] = ()
        self._used: str | None = None

    def show_adapters(self, listed: Sequence[ListedAdapter]) -> None:
        """Show these adapters."""
        self.beginResetModel()
        self.listed = listed
        self.endResetModel()

    def show_loaded(self, names: Sequence[str], used: str | None) -> None:
        """Show which adapters are loaded, and which one translates."""
        self._loaded, self._used = tuple(names), used
        if self.listed:
            last = self.index(len(self.listed) - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        """Return the number of adapters."""
        return 0 if parent.isValid() else len(self.listed)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self._titles())

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell and the tick; the tool tip is the reason of the status."""
        listed = self.listed[index.row()]
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == 0:
            is_used = listed.adapter.name == self._used
            return Qt.CheckState.Checked if is_used else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cells(listed)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            reason = listed.adapter.reason
            return None if reason is None else worded(reason)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let the tick of an adapter that can be used be set."""
        flags = super().flags(index)
        is_usable = self.listed[index.row()].adapter.status is not Status.BLOCKED
        if index.column() == 0 and is_usable:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Report a tick; it changes once the session translates so."""
        if role == Qt.ItemDataRole.CheckStateRole:
            self.switched.emit(index.row(), Qt.CheckState(value) is Qt.CheckState.Checked)
        return False

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the title of a column."""
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self._titles()[section]
        return None

    def _titles(self) -> tuple[str, ...]:
        return (
            self.tr("Name"),
            self.tr("With this model"),
            self.tr("Languages"),
            self.tr("Size"),
            self.tr("Licence"),
            self.tr("Now"),
        )

    def _cells(self, listed: ListedAdapter) -> tuple[str, ...]:
        adapter = listed.adapter
        card, weights = adapter.card, adapter.weights
        return (
            listed.shelved.name,
            f"{_MARKS[adapter.status]} {self._status(adapter.status)}",
            self._languages(card) if card else NOTHING,
            size_text(weights.n_bytes) if weights else NOTHING,
            card.licence if card and card.licence else NOTHING,
            self._state(adapter.name),
        )

    def _status(self, status: Status) -> str:
        if status is Status.OK:
            return self.tr("Works")
        return self.tr("May work") if status is Status.UNKNOWN else self.tr("Does not work")

    def _languages(self, card: AdapterCard) -> str:
        named = [
            language_name(code, language.name)
            for code, language in [*card.languages.items()][:_MANY]
        ]
        n_more = len(card.languages) - len(named)
        targets = ", ".join(named) + (f" + {n_more}" if n_more else "")
        return self.tr("{} to {}").format(language_name(card.source_language), targets)

    def _state(self, name: str) -> str:
        if name == self._used:
            return self.tr("translates")
        return self.tr("loaded") if name in self._loaded else ""
