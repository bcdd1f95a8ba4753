"""The dialog of adapters: what each is for, and whether it works with the model in use."""

from pathlib import Path

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QMenu,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.captions.adapter_details import NOTHING
from app.config.translations import worded
from app.dialogs.adapter_service import AdapterService, ListedAdapter
from app.look.widgets.buttons import open_with
from app.look.widgets.desktop import ask_folder
from app.look.widgets.dialog_text import (
    add_action,
    as_sentence,
    bring_up,
    close_button,
    dress_table,
    paragraph,
    push_button,
    size_text,
)
from app.look.widgets.names import language_name
from engine.models.adapters.adapter import AdapterCard, Status
from engine.policy import family

_MARKS = {Status.OK: "●", Status.UNKNOWN: "◐", Status.BLOCKED: "✕"}  # not by colour alone
_MANY = 3  # languages that are named; more are counted
_CHECKED = Qt.CheckState.Checked


class AdapterDialog(QDialog):
    """A table of adapters, each with a switch, and what the selected one is for.

    The details that its makers need are in ``surtitle adapters``.

    Signals:
        load_wanted(Path): load the adapter in this folder and translate with it.
        use_wanted(str): translate with this loaded adapter; an empty name is the bare model.
        unload_wanted(str): unload this adapter.
    """

    load_wanted = Signal(object)
    use_wanted = Signal(str)
    unload_wanted = Signal(str)

    def __init__(self, service: AdapterService, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Adapters"))
        self.setAcceptDrops(True)
        self._service = service
        self._loaded: tuple[str, ...] = ()
        self._used: str | None = None
        self._awaited = ""  # name of the one that the session was asked to load
        self._policy = ""
        self.listed: list[ListedAdapter] = []  # row by row
        self.table = QTableWidget(0, len(self._titles()))
        self.more = push_button(self.tr("&More"))
        self.purpose, self.reason, self.message = paragraph(), paragraph(), paragraph()
        self._dress()
        self._lay_out()
        self.table.selectionModel().currentRowChanged.connect(self._show_row)
        self.table.itemChanged.connect(self._switch)
        service.listed.connect(self._show_list)
        service.added.connect(self._select)
        service.reported.connect(self.show_message)
        self._show_details(None)

    def open_list(self) -> None:
        self._service.refresh()
        bring_up(self)

    def show_loaded(self, names: tuple[str, ...], used: str | None) -> None:
        self._loaded, self._used = names, used
        if self._awaited in names:
            self.show_message(self.tr("The adapter {} translates now").format(self._awaited))
        self._fill()
        self._show_details(self._chosen())

    def show_policy(self, policy: str) -> None:
        self._policy = policy
        self._show_details(self._chosen())

    def add(self, path: Path) -> None:
        self.show_message(self.tr("Working…"))
        self._service.add(path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls():
            if url.isLocalFile():
                self.add(Path(url.toLocalFile()))
        event.acceptProposedAction()

    def _dress(self) -> None:
        self.table.setHorizontalHeaderLabels(self._titles())
        self.table.setAccessibleName(self.tr("Adapters"))
        dress_table(self.table)
        for label in (self.purpose, self.reason, self.message):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def _lay_out(self) -> None:
        menu = QMenu(self.more)
        self.unload = menu.addAction(self.tr("&Unload"), self._unload)
        self.remove = menu.addAction(self.tr("&Remove"), self._remove)
        self.bare = menu.addAction(self.tr("&Translate without an adapter"), self._use_none)
        self.more.setMenu(menu)
        open_with(menu, self.more)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.table.addActions(menu.actions())
        last = close_button()
        self.add_folder = add_action(last, self.tr("&Add…"), self._ask_folder)
        last.addButton(self.more, QDialogButtonBox.ButtonRole.ActionRole)
        last.rejected.connect(self.close)
        column = QVBoxLayout(self)
        hint = self.tr(
            "An adapter tunes the translator for a purpose, such as talks. Tick the one that is to "
            "translate; drop a folder here to add one."
        )
        column.addWidget(paragraph(hint))
        column.addWidget(self.table, 1)
        for widget in (self.purpose, self.reason, self.message):
            column.addWidget(widget)
        column.addWidget(last)
        self.resize(820, 560)

    def _chosen(self) -> ListedAdapter | None:
        row = self.table.currentIndex().row()
        return self.listed[row] if 0 <= row < len(self.listed) else None

    @Slot(list)
    def _show_list(self, listed: list[ListedAdapter]) -> None:
        chosen = self._chosen()
        self.listed = listed
        self.table.setRowCount(len(listed))
        self._fill()
        self._select("" if chosen is None else chosen.shelved.name)
        self._show_details(self._chosen())
        if not listed:
            self.reason.setText(self.tr("There is no adapter yet."))
            self.reason.show()

    @Slot(str)
    def _select(self, name: str) -> None:
        names = [it.shelved.name for it in self.listed]
        if names:
            self.table.selectRow(names.index(name) if name in names else 0)

    @Slot(QModelIndex, QModelIndex)
    def _show_row(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._show_details(self._chosen())

    def _show_details(self, listed: ListedAdapter | None) -> None:
        self.reason.setText("")
        card = None if listed is None else listed.adapter.card
        self.purpose.setText("" if card is None else card.description)
        self.purpose.setVisible(bool(self.purpose.text()))
        if listed is not None:
            if listed.adapter.reason is not None:
                self.reason.setText(as_sentence(worded(listed.adapter.reason)))
            elif self._is_for_others(listed):
                text = self.tr(
                    "Trained for another timing than the one in use, so captions may be worse; the "
                    "button at the lower right of the window changes the timing."
                )
                self.reason.setText(text)
        self.reason.setVisible(bool(self.reason.text()))
        self._offer(listed)

    def _is_for_others(self, listed: ListedAdapter) -> bool:
        policies = listed.adapter.card.policies if listed.adapter.card else ()
        families = set(map(family, policies))
        return bool(families and self._policy) and family(self._policy) not in families

    def _offer(self, listed: ListedAdapter | None) -> None:
        name = listed.adapter.name if listed else ""
        is_used = name == self._used
        self.bare.setEnabled(self._used is not None)
        self.unload.setEnabled(name in self._loaded and not is_used)
        is_own = listed is not None and not listed.shelved.bundled
        self.remove.setEnabled(is_own and not is_used)

    @Slot(str)
    def show_message(self, message: str) -> None:
        """Show a result, or why the session refused a request; captions go on."""
        self._awaited = ""
        self.message.setText(as_sentence(message))

    def _fill(self) -> None:
        """Write the rows; the tick before a name says that it translates."""
        with QSignalBlocker(self.table):
            for row, listed in enumerate(self.listed):
                self._fill_row(row, listed)

    def _fill_row(self, row: int, listed: ListedAdapter) -> None:
        adapter, reason = listed.adapter, listed.adapter.reason
        for column, text in enumerate(self._cells(listed)):
            item = QTableWidgetItem(text)
            item.setToolTip("" if reason is None else worded(reason))
            item.setFlags(Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled)
            if column == 0 and adapter.status is not Status.BLOCKED:
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            if column == 0:
                is_used = adapter.name == self._used
                item.setCheckState(_CHECKED if is_used else Qt.CheckState.Unchecked)
            self.table.setItem(row, column, item)

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

    @Slot(QTableWidgetItem)
    def _switch(self, item: QTableWidgetItem) -> None:
        """Ask for what was ticked; the tick changes once the session translates so."""
        adapter, on = self.listed[item.row()].adapter, item.checkState() is _CHECKED
        with QSignalBlocker(self.table):
            item.setCheckState(Qt.CheckState.Unchecked if on else _CHECKED)
        if not on:
            self._use_none()
        elif adapter.name in self._loaded:
            self.use_wanted.emit(adapter.name)
        else:
            text = self.tr("The adapter {} is being loaded; captions go on").format(adapter.name)
            self.show_message(text)
            self._awaited = adapter.name
            self.load_wanted.emit(adapter.folder)

    @Slot()
    def _use_none(self) -> None:
        self.use_wanted.emit("")

    @Slot()
    def _unload(self) -> None:
        listed = self._chosen()
        if listed is not None:
            self.unload_wanted.emit(listed.adapter.name)

    @Slot()
    def _remove(self) -> None:
        listed = self._chosen()
        if listed is not None:
            self._service.remove(listed.shelved.name)

    @Slot()
    def _ask_folder(self) -> None:
        path = ask_folder(self, self.tr("Folder of an adapter"))
        if path:
            self.add(path)
