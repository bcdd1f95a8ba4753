"""Models as a list of cards: the recommended one, then the others under a heading.

Their texts are words without numbers that need a textbook.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QPainter,
    QPen,
    QResizeEvent,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.captions.models import Fit, MachineReport, ModelOffer
from app.config.translations import filled
from app.look.palette import Colours, colours_of
from app.look.style_sheet import GAP
from app.look.widgets.dialog_text import size_text
from app.look.widgets.names import language_name
from engine.hub.catalogue import Score
from engine.messages import tr
from engine.models.model_card import allows_any_use

RECOMMENDED = tr("Recommended")

_BEST = 4  # dots
_BOUNDS = {"BLEU": (20.0, 30.0, 40.0), "chrF": (40.0, 50.0, 60.0)}
"""Scores from which a translation has its second, third and fourth dot.

Those of BLEU are Google's (https://cloud.google.com/translate/docs/advanced/automl-evaluate): from
20 the gist is clear, from 30 it is understood well, from 40 it is of high quality.
"""

_WORDS = Qt.ItemDataRole.UserRole
_SMALL = 0.85  # of the font, for details
_BLANK = "\N{NO-BREAK SPACE}"
_UNBROKEN = 40  # letters of a fact in which no line breaks
Index = QModelIndex | QPersistentModelIndex
_PADDING, _RADIUS = 2 * GAP, 6  # pixels


@dataclass(frozen=True, slots=True)
class Fact:
    """A few words about a model; a warning says why it may be of no use here."""

    text: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferWords:
    """The texts of a card.

    Attributes:
        title: the languages, and what kind of model it is.
        facts: quality, size, speed, use.
        detail: name and licence, in small letters.
        tip: where the facts come from.
        spoken: everything, for a screen reader: dots are words.
    """

    title: str
    facts: tuple[Fact, ...]
    detail: str
    tip: str
    spoken: str
    is_best: bool


def words_of(
    offer: ModelOffer,
    report: MachineReport,
    spoken: str,
    language: str,
    *,
    is_best: bool,
    is_in_use: bool = False,
) -> OfferWords:
    """Return the texts about a model for two languages on this computer."""
    score = offer.score(spoken, language)
    title, dots, grade = _title(offer, spoken, language), "", ""
    if score is not None:
        n_dots = n_dots_of(score)
        dots = "●" * n_dots + "○" * (_BEST - n_dots)
        grade = _grade(n_dots)
    used = [Fact(_said(tr("In use now")))] if is_in_use else []
    known = [_size(offer), *_speed(offer, report), _use(offer)]
    quality = _quality(offer, f"{dots} {grade}".strip())
    aloud = _quality(offer, grade)
    words = words_of_card(
        title,
        [*used, quality, *known],
        " · ".join(filter(None, (offer.name, offer.licence))),
        tip="\n".join(filter(None, (_source(score), _load_tip(offer, report)))),
        is_best=is_best,
    )
    return replace(words, spoken=words.spoken.replace(quality.text, aloud.text))


def words_of_card(
    title: str, facts: Sequence[Fact], detail: str, *, tip: str, is_best: bool
) -> OfferWords:
    """Return the texts of a card, of which a screen reader says all but the tip."""
    shown = [fact for fact in facts if fact.text]
    best = [_said(RECOMMENDED)] if is_best else []
    spoken = ", ".join(filter(None, [title, *best, *(fact.text for fact in shown), detail]))
    return OfferWords(
        title=title, facts=tuple(shown), detail=detail, tip=tip, spoken=spoken, is_best=is_best
    )


def n_dots_of(score: Score) -> int:
    """Return a published quality as one to four dots."""
    return 1 + sum(score.value >= bound for bound in _BOUNDS[score.measure])


def quality_of(score: Score) -> str:
    """Return a published quality as a word."""
    return _grade(n_dots_of(score))


def _said(text: str) -> str:
    return QCoreApplication.translate("", text)


def _title(offer: ModelOffer, spoken: str, language: str) -> str:
    if offer.choice is not None and offer.known is None:
        return offer.choice.name
    pair = f"{language_name(spoken)} → {language_name(language)}"
    if offer.choice is None:
        return _said(tr("{}, built in")).format(pair)
    if offer.is_chat:
        return _said(tr("{}, by a chat model")).format(pair)
    if offer.is_of_many:
        return _said(tr("{} and many more")).format(pair)
    return pair


def _grade(n_dots: int) -> str:
    grades = (_said(tr("weak")), _said(tr("fair")), _said(tr("good")), _said(tr("very good")))
    return grades[n_dots - 1]


def _quality(offer: ModelOffer, grade: str) -> Fact:
    if grade:
        return Fact(_said(tr("Quality: {}")).format(grade))
    if offer.choice is None:
        return Fact(_said(tr("For simple, everyday sentences")))
    return Fact(_said(tr("Quality not published")) if offer.known is not None else "")


def _size(offer: ModelOffer) -> Fact:
    size = size_text(offer.n_bytes) if offer.n_bytes else ""
    if not offer.is_here:
        return Fact(_said(tr("{} to download")).format(size))
    here = "" if offer.choice is None else _said(tr("on this computer"))
    return Fact(" ".join(filter(None, (size, here))))


def _speed(offer: ModelOffer, report: MachineReport) -> list[Fact]:
    load, fit = _load(offer, report), report.fits.get(offer.name)
    if offer.choice is None:
        return [Fact(_said(tr("Fast")))]
    if load is not None:
        if report.keeps_up(offer) is None:
            return [Fact(_said(tr("Perhaps too slow: being measured again")))]
        if not report.keeps_up(offer):
            return [Fact(_said(tr("Too slow for this computer")), is_warning=True)]
        fast = _said(tr("Fast enough (uses {:.0f} % of the time)"))
        return [Fact(filled(fast, 100 * load))]
    return [] if fit is None else [_fit(fit)]


def _fit(fit: Fit) -> Fact:
    if not fit.fits:
        needs = _said(tr("Needs {} of memory")).format(size_text(fit.needed_bytes))
        return Fact(needs, is_warning=True)
    is_on_cpu = fit.device == "cpu"
    return Fact(
        _said(tr("Runs (speed not known)") if is_on_cpu else tr("Runs on the graphics card"))
    )


def _use(offer: ModelOffer) -> Fact:
    return Fact(_said(tr("Free for any use")) if allows_any_use(offer.licence) else "")


def _source(score: Score | None) -> str:
    if score is None:
        return ""
    text = _said(tr("{:.1f} {} on {}, published at {}"))
    return filled(text, score.value, score.measure, score.test_set, score.published)


def _load(offer: ModelOffer, report: MachineReport) -> float | None:
    """Return the seconds that a second of speech takes on the processor, if it computes."""
    has_gpu = report.machine is not None and report.machine.gpu
    return None if has_gpu else report.load(offer)


def _load_tip(offer: ModelOffer, report: MachineReport) -> str:
    load = _load(offer, report)
    if load is None:
        return ""
    text = _said(tr("A second of speech takes about {:.1f} s of computing here, by our estimate."))
    return filled(text, load)


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
        items = (self.item(row) for row in range(self.count()))
        return [words for item in items if (words := item.data(_WORDS)) is not None]

    @property
    def chosen(self) -> int:
        """The number of the selected card; -1 if none is."""
        rows = [self.row(item) for item in self.selectedItems()]  # the current one may be none
        row = rows[0] if rows else -1
        return row - 1 if self._has_heading and row > 0 else row

    def choose(self, number: int) -> None:
        if number < 0:
            self.clearSelection()
        else:
            self.setCurrentRow(number + 1 if self._has_heading and number > 0 else number)

    def bring_into_sight(self, area: QScrollArea) -> None:
        """Scroll to the selected card, by the area in which the whole list is."""
        content = area.widget()
        assert content is not None
        self.doItemsLayout()  # cards may just have come, or have got other texts
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        for item in self.selectedItems():
            card = self.visualItemRect(item)
            middle = self.viewport().mapTo(content, card.center())
            area.ensureVisible(0, middle.y(), 0, card.height() // 2 + GAP)

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
        view = option.widget
        width = view.viewport().width() if isinstance(view, QAbstractItemView) else 0
        text = self._text(option, index, width)
        return QSize(width, round(text.size().height()) + 2 * _PADDING + GAP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
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
        document.setHtml(
            _part(str(index.data()), colours, "quiet")
            if words is None
            else _html(words, _SMALL * option.font.pointSizeF(), colours)
        )
        return document


def _html(words: OfferWords, small: float, colours: Colours) -> str:
    """Write title, facts and detail below each other; ``small`` letters have so many points."""
    title = _part(words.title, colours, "text", "font-weight: bold")
    if words.is_best:
        best = 3 * _BLANK + QCoreApplication.translate("", RECOMMENDED)
        title += _part(best, colours, "accent", "font-weight: bold")
    facts = (
        _part(
            fact.text.replace(" ", _BLANK) if len(fact.text) <= _UNBROKEN else fact.text,
            colours,
            "warning" if fact.is_warning else "text",
        )
        for fact in words.facts
    )
    lines = [_part(" · ", colours, "quiet").join(facts)]
    lines += [_part(words.detail, colours, "quiet", f"font-size: {small}pt")] * bool(words.detail)
    below = (f'<p style="margin: {GAP // 2}px 0 0 0">{line}</p>' for line in lines)
    return "".join((f'<p style="margin: 0">{title}</p>', *below))


def _part(text: str, colours: Colours, colour: str, style: str = "") -> str:
    name = colours.colour(colour).name()
    return f'<span style="color: {name}; {style}">{escape(text)}</span>'
