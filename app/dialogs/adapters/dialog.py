"""The dialog of adapters: what each is for, and whether it works with the model in use."""

from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QDialog,
    QPushButton,
    QTableView,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.captions.adapter_details import Detail, rows
from app.config.system.translations import worded
from app.dialogs.adapters.service import AdapterService, ListedAdapter
from app.dialogs.adapters.table_model import AdapterTable
from app.look.widgets.dialog_text import (
    as_sentence,
    bring_up,
    close_button,
    dress_table,
    paragraph,
)
from app.look.widgets.file_dialogs import ask_folder, ask_open
from app.look.widgets.flow_layout import FlowLayout
from engine.models.adapters.adapter import Status
from engine.policy import family


class AdapterDialog(QDialog):
    """A table of adapters, what the selected one is for, and buttons that act on it.

    The rest, which its makers need, stands behind *Details*.

    Signals:
        load_wanted(Path): load the adapter in this folder and translate with it.
        use_wanted(str): translate with this loaded adapter; an empty name is the bare model.
        unload_wanted(str): unload this adapter.
    """

    load_wanted = Signal(object)
    use_wanted = Signal(str)
    unload_wanted = Signal(str)

    def __init__(self, desk: AdapterService, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Adapters"))
        self.setAcceptDrops(True)
        self._desk = desk
        self._loaded: tuple[str, ...] = ()
        self._used: str | None = None
        self._compared: str | None = None
        self._policy = ""
        self._says_working = False
        self.rows = AdapterTable(self)
        self.table, self.details = QTableView(), QTreeWidget()
        self.unfold = QToolButton()
        self.purpose, self.reason, self.message = paragraph(), paragraph(), paragraph()
        self._dress()
        self._lay_out()
        self.table.selectionModel().currentRowChanged.connect(self._show_row)
        desk.listed.connect(self._show_list)
        desk.reported.connect(self.show_message)
        desk.busy_changed.connect(self._show_busy)
        self._show_details(None)

    def open_list(self) -> None:
        """Refresh the library and show the dialog."""
        self._desk.refresh()
        bring_up(self)

    def show_loaded(self, names: tuple[str, ...], used: str | None) -> None:
        """Show which adapters the session has loaded, and which one it translates with."""
        self._loaded, self._used = names, used
        self.rows.show_loaded(names, used)
        self._show_details(self._chosen())

    def show_policy(self, policy: str) -> None:
        """Warn of adapters that were trained for other policies than this one."""
        self._policy = policy
        self._show_details(self._chosen())

    def add(self, path: Path) -> None:
        """Copy an adapter into the library."""
        self._desk.add(path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept local files and folders."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Add the dropped files and folders."""
        for url in event.mimeData().urls():
            if url.isLocalFile():
                self.add(Path(url.toLocalFile()))
        event.acceptProposedAction()

    def _dress(self) -> None:
        self.table.setModel(self.rows)
        self.table.setAccessibleName(self.tr("Adapters"))
        dress_table(self.table)
        self.unfold.setText(self.tr("&Details"))
        self.unfold.setCheckable(True)
        self.unfold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.unfold.toggled.connect(self._unfold)
        self._unfold(False)  # noqa: FBT003  what the signal carries
        self.details.setHeaderHidden(True)
        self.details.setColumnCount(2)
        self.details.setRootIsDecorated(False)
        self.details.setWordWrap(True)
        self.details.setAccessibleName(self.tr("Details of the adapter"))
        for label in (self.purpose, self.reason, self.message):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def _lay_out(self) -> None:
        buttons = QWidget()
        self._row = FlowLayout(buttons)
        self.load = self._add_button(self.tr("&Load"), self._load)
        self.compare = self._add_button(self.tr("&Turn off"), self._compare)
        self.unload = self._add_button(self.tr("&Unload"), self._unload)
        self.verify = self._add_button(self.tr("&Verify"), self._verify)
        self.add_folder = self._add_button(self.tr("Add &folder…"), self._ask_folder)
        self.add_file = self._add_button(self.tr("Add f&ile…"), self._ask_file)
        self.remove = self._add_button(self.tr("&Remove"), self._remove)
        close = close_button()
        close.rejected.connect(self.close)
        last = QWidget()
        ends = FlowLayout(last)
        ends.addWidget(self.unfold)
        ends.add_gap()
        ends.addWidget(close)
        column = QVBoxLayout(self)
        hint = self.tr(
            "An adapter tunes the translator for a purpose, such as talks. Drop a folder here to "
            "add one."
        )
        column.addWidget(paragraph(hint))
        column.addWidget(self.table, 1)
        for widget in (self.purpose, self.reason, self.message, buttons, last):
            column.addWidget(widget)
        column.addWidget(self.details, 1)
        self.resize(820, 560)

    def _add_button(self, text: str, act: object) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(act)
        button.setAutoDefault(False)
        self._row.addWidget(button)
        return button

    def _chosen(self) -> ListedAdapter | None:
        row = self.table.currentIndex().row()
        return self.rows.listed[row] if 0 <= row < len(self.rows.listed) else None

    @Slot(bool)
    def _unfold(self, on: bool) -> None:  # noqa: FBT001  what the signal carries
        self.details.setVisible(on)
        self.unfold.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)

    @Slot(list)
    def _show_list(self, listed: list[ListedAdapter]) -> None:
        chosen = self._chosen()
        self.rows.show_adapters(listed)
        names = [it.shelved.name for it in listed]
        row = names.index(chosen.shelved.name) if chosen and chosen.shelved.name in names else 0
        if listed:
            self.table.selectRow(row)
        self._show_details(self._chosen())
        if not listed:
            self.reason.setText(self.tr("There is no adapter yet."))
            self.reason.show()

    @Slot(QModelIndex, QModelIndex)
    def _show_row(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._show_details(self._chosen())

    def _show_details(self, listed: ListedAdapter | None) -> None:
        self.details.clear()
        self.reason.setText("")
        card = None if listed is None else listed.adapter.card
        self.purpose.setText("" if card is None else card.description)
        self.purpose.setVisible(bool(self.purpose.text()))
        if listed is not None:
            items = [
                QTreeWidgetItem([worded(name), worded(value)])
                for name, value in rows(listed.adapter)
                if name.code is not Detail.DESCRIPTION
            ]
            self.details.addTopLevelItems(items)
            self.details.resizeColumnToContents(0)
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
        """Return whether an adapter knows no policy of the family in use."""
        policies = listed.adapter.card.policies if listed.adapter.card else ()
        families = set(map(family, policies))
        return bool(families and self._policy) and family(self._policy) not in families

    def _offer(self, listed: ListedAdapter | None) -> None:
        """Enable the buttons that apply to an adapter."""
        status = listed.adapter.status if listed else Status.BLOCKED
        name = listed.adapter.name if listed else ""
        is_loaded, is_used = name in self._loaded, name == self._used
        self.load.setEnabled(status is not Status.BLOCKED and not is_used)
        anyway = self.tr("&Load anyway")
        self.load.setText(anyway if status is Status.UNKNOWN else self.tr("&Load"))
        self.unload.setEnabled(is_loaded and not is_used)
        self.verify.setEnabled(listed is not None and listed.adapter.weights is not None)
        is_own = listed is not None and not listed.shelved.bundled
        self.remove.setEnabled(is_own and not is_used)
        self.compare.setEnabled(self._used is not None or self._compared in self._loaded)
        back = self.tr("&Back to the adapter")
        self.compare.setText(self.tr("&Turn off") if self._used is not None else back)

    @Slot(str)
    def show_message(self, message: str) -> None:
        """Show a result, or why the session refused a request; captions go on."""
        self._says_working = False
        self.message.setText(as_sentence(message))

    @Slot(bool)
    def _show_busy(self, busy: bool) -> None:  # noqa: FBT001  what the signal carries
        if busy:
            self.message.setText(self.tr("Working…"))
        elif self._says_working:
            self.message.setText("")
        self._says_working = busy

    @Slot()
    def _load(self) -> None:
        listed = self._chosen()
        if listed is None:
            return
        if listed.adapter.name in self._loaded:
            self.use_wanted.emit(listed.adapter.name)
        else:
            self.show_message(
                self.tr("{} is being loaded; captions go on").format(listed.shelved.name)
            )
            self.load_wanted.emit(listed.shelved.folder)

    @Slot()
    def _compare(self) -> None:
        """Switch between the adapter and the bare model, from the next utterance on."""
        if self._used is not None:
            self._compared = self._used
            self.use_wanted.emit("")
        elif self._compared is not None:
            self.use_wanted.emit(self._compared)

    @Slot()
    def _unload(self) -> None:
        listed = self._chosen()
        if listed is not None:
            self.unload_wanted.emit(listed.adapter.name)

    @Slot()
    def _verify(self) -> None:
        listed = self._chosen()
        if listed is not None:
            self._desk.verify(listed)

    @Slot()
    def _remove(self) -> None:
        listed = self._chosen()
        if listed is not None:
            self._desk.remove(listed.shelved.name)

    @Slot()
    def _ask_folder(self) -> None:
        path = ask_folder(self, self.tr("Folder of an adapter"))
        if path:
            self.add(path)

    @Slot()
    def _ask_file(self) -> None:
        names = "adapter_config.json adapter_model.safetensors surtitle.json"
        path = ask_open(self, self.tr("A file of an adapter"), f"({names})")
        if path:
            self.add(path)
