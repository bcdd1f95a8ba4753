"""Translation models as a list of cards: the recommended one, then the others under a heading."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QCoreApplication,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QPen,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.dialogs.setup.offer_words import RECOMMENDED, OfferWords
from app.look.palette import Colours, colours_of
from app.look.style_sheet import GAP

_WORDS = Qt.ItemDataRole.UserRole
_SMALL = 0.85  # of the font, for details
_PADDING, _RADIUS = 2 * GAP, 6  # pixels

Index = QModelIndex | QPersistentModelIndex


class OfferList(QListWidget):
    """A card for each model, one of which is selected, by mouse or arrow keys.

    It is as high as its cards: what it stands in scrolls.

    Signals:
        picked(): the user selected another card.
    """

    picked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Models"))
        self.setItemDelegate(_CardPainter(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.itemSelectionChanged.connect(self.picked)

    @property
    def words(self) -> list[OfferWords]:
        """The texts of the cards, in their order."""
        items = (self.item(row) for row in range(self.count()))
        return [words for item in items if (words := item.data(_WORDS)) is not None]

    @property
    def chosen(self) -> int:
        """The number of the selected card; -1 if none is."""
        row = self.currentRow()
        return row - 1 if self._has_heading and row > 0 else row

    def choose(self, number: int) -> None:
        """Select a card by its number."""
        self.setCurrentRow(number + 1 if self._has_heading and number > 0 else number)

    def show_cards(self, cards: Sequence[OfferWords], chosen: int) -> None:
        """Show cards, of which only the first may be recommended, and select one silently."""
        rows: list[OfferWords | None] = list(cards)
        if cards and cards[0].is_best and len(cards) > 1:
            rows.insert(1, None)
        self.blockSignals(True)  # noqa: FBT003  Qt's own
        while self.count() > len(rows):
            self.takeItem(self.count() - 1)
        while self.count() < len(rows):
            self.addItem(QListWidgetItem())
        for row, words in enumerate(rows):
            self._fill(self.item(row), words)
        self.choose(chosen)
        self.blockSignals(False)  # noqa: FBT003
        self.scheduleDelayedItemsLayout()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the lines of the cards again."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()

    def updateGeometries(self) -> None:
        """Become as high as the cards, which were laid out."""
        super().updateGeometries()
        height = self.contentsSize().height() + 2 * self.frameWidth() + 2
        if height != self.minimumHeight():
            self.setFixedHeight(height)

    @property
    def _has_heading(self) -> bool:
        return self.count() > 1 and self.item(1).data(_WORDS) is None

    def _fill(self, item: QListWidgetItem, words: OfferWords | None) -> None:
        item.setData(_WORDS, words)
        if words is None:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            item.setText(self.tr("More models"))
            item.setToolTip("")
            item.setData(Qt.ItemDataRole.AccessibleTextRole, None)
            return
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
        item.setText(words.title)
        item.setToolTip(words.tip)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, words.spoken)


class _CardPainter(QStyledItemDelegate):
    """Paints a card: title, facts and details below each other; the heading is plain."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height that the texts need in the width of the list."""
        view = option.widget
        width = view.viewport().width() if isinstance(view, QAbstractItemView) else 0
        text = self._text(option, index, width)
        return QSize(width, round(text.size().height()) + 2 * _PADDING + GAP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the frame, which tells what is selected, and the texts."""
        text = self._text(option, index, option.rect.width())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.data(_WORDS) is not None:
            self._paint_frame(painter, option)
        painter.translate(option.rect.topLeft() + QPoint(_PADDING, _PADDING))
        text.drawContents(painter)
        painter.restore()

    def _paint_frame(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        colours = colours_of(option.palette)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        has_focus = bool(option.state & QStyle.StateFlag.State_HasFocus)
        colour = ("text" if has_focus else "accent") if is_chosen else "line"
        painter.setPen(QPen(colours.colour(colour), 2 if colour == "text" else 1))
        painter.setBrush(colours.colour("tint" if is_chosen else "surface"))
        frame = QRectF(option.rect).adjusted(1, 1, -1, -1 - GAP)
        painter.drawRoundedRect(frame, _RADIUS, _RADIUS)

    def _text(self, option: QStyleOptionViewItem, index: Index, width: int) -> QTextDocument:
        """Lay out the texts of a card, plain as they come."""
        colours, words = colours_of(option.palette), index.data(_WORDS)
        document = QTextDocument()
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        document.setDefaultFont(option.font)
        wrapped = QTextOption(Qt.AlignmentFlag.AlignLeading)
        wrapped.setTextDirection(option.direction)
        wrapped.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(wrapped)
        document.setTextWidth(max(width - 2 * _PADDING, 1))
        cursor = QTextCursor(document)
        if words is None:
            cursor.insertText(str(index.data()), _letters(option.font, colours.colour("quiet")))
            return document
        _write(cursor, words, option.font, colours)
        return document


def _write(cursor: QTextCursor, words: OfferWords, font: QFont, colours: Colours) -> None:
    text, quiet = colours.colour("text"), colours.colour("quiet")
    bold, small = QFont(font), QFont(font)
    bold.setBold(True)
    small.setPointSizeF(_SMALL * font.pointSizeF())
    cursor.insertText(words.title, _letters(bold, text))
    if words.is_best:
        recommended = QCoreApplication.translate("", RECOMMENDED)
        cursor.insertText(f"   {recommended}", _letters(bold, colours.colour("accent")))
    below = QTextBlockFormat()
    below.setTopMargin(GAP / 2)
    cursor.insertBlock(below)
    for number, fact in enumerate(words.facts):
        if number:
            cursor.insertText(" · ", _letters(font, quiet))
        colour = colours.colour("warning") if fact.is_warning else text
        cursor.insertText(fact.text.replace(" ", "\N{NO-BREAK SPACE}"), _letters(font, colour))
    cursor.insertBlock(below)
    cursor.insertText(words.detail, _letters(small, quiet))


def _letters(font: QFont, colour: QColor) -> QTextCharFormat:
    letters = QTextCharFormat()
    letters.setFont(font)
    letters.setForeground(colour)
    return letters
