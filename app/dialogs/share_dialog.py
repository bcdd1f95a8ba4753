"""The window that shares captions with the phones in a room, and shows them the way.

Its QR code can fill a screen for the room, and says there in each language what it is for.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import urlsplit

import segno
from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QFont,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QScreen,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QLabel,
    QMenu,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.captions.models import MOST_READ
from app.dialogs.networks import Network
from app.dialogs.setup.pages import scrolled
from app.look.style_sheet import make_primary
from app.look.widgets.dialog_text import add_action, add_row, close_button, paragraph, quiet
from app.look.widgets.fit_to_screen import frame_of
from app.look.widgets.names import language_name
from app.sharing.access import LOOPBACK
from app.sharing.room_feed import CAPTION, SOURCE
from engine.files import ASSETS

FURTHER = "further"
"""Offers every further language that this computer can caption."""

_LARGE = 1.8  # letters of the address and the PIN, in those of the window
_MOST_HEADLINES = 4

_MARGIN = 0.05
_HEADLINE, _TEXT = 0.055, 0.032  # heights of letters, of that of the screen
_BORDER = 4  # light squares around it, as the standard wants
_LEAST, _USUAL = 140, 280  # pixels


class QrCode(QWidget):
    """Paint a text as a QR code, dark on light whatever the colours of the windows are."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(_LEAST, _LEAST)
        self._squares = QImage()  # a pixel each

    def sizeHint(self) -> QSize:
        """Return a size that is read from a few steps away."""
        return QSize(_USUAL, _USUAL)

    def show_text(self, text: str) -> None:
        picture = BytesIO()
        segno.make(text, error="m", micro=False).save(picture, kind="png", border=_BORDER)
        self._squares = QImage.fromData(picture.getvalue())
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        n_wide = max(1, self._squares.width())
        side = max(1, min(self.width(), self.height()) // n_wide) * n_wide
        corner = (self.width() - side) // 2, (self.height() - side) // 2
        painter = QPainter(self)
        painter.drawImage(QRect(*corner, side, side), self._squares)
        painter.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareChoice:
    """The choices before sharing.

    Attributes:
        address: of this computer in the chosen network.
        with_pin: a PIN is typed on each phone.
        keeps_code: the code is the same the next time.
        offered: of ``SOURCE``, ``CAPTION`` and ``FURTHER``.
    """

    address: str
    with_pin: bool
    keeps_code: bool
    offered: tuple[str, ...]


class ShareDialog(QDialog):
    """Choices first; while captions are shared, the QR code, the address and the PIN.

    Signals:
        start_wanted(ShareChoice): share captions.
        stop_wanted(): share them no longer.
    """

    start_wanted = Signal(object)
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Share captions"))
        self.network = QComboBox()
        self.by_link = QRadioButton(self.tr("Everybody with the &QR code or the link"))
        self.by_pin = QRadioButton(self.tr("Only people who also type a &PIN that you show them"))
        self.by_link.setChecked(True)
        ways = QButtonGroup(self)
        for way in (self.by_link, self.by_pin):
            ways.addButton(way)
        self.keep_code = QCheckBox(self.tr("The same co&de next time"))
        self.keep_code.setToolTip(
            self.tr("Who has the code today can read along the next time, too")
        )
        self.by_link.toggled.connect(self.keep_code.setEnabled)
        # a blank is as high as the text that comes
        self.offers = {name: QCheckBox(" ") for name in (SOURCE, CAPTION, FURTHER)}
        self.warning = paragraph()
        self.code = QrCode()
        self.code.setAccessibleName(self.tr("QR code of the address"))
        self.address, self.pin, self.readers = self._large(), self._large(), QLabel()
        self.readers.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.readers.setWordWrap(True)
        choices = scrolled(self._choices())
        choices.setSizeAdjustPolicy(choices.SizeAdjustPolicy.AdjustToContents)
        choices.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._pages = choices, self._shared()
        self._shared_at = self._link = ""  # the address at which captions are shared, the link
        self._languages: Sequence[str] = ()  # that can be read
        self.wall: CodeView | None = None  # the code on a screen for the room
        buttons = self._buttons = close_button()
        self.start = add_action(buttons, self.tr("&Start sharing"), self._start)
        make_primary(self.start)  # and yet no default: the key Enter shares nothing
        self.stop = add_action(buttons, self.tr("S&top sharing"), self.stop_wanted)
        self.copy = add_action(buttons, self.tr("Copy &link"), self._copy)
        self.fill = add_action(buttons, self.tr("Show on the &wall…"), self._fill)
        self.fill.setToolTip(self.tr("Fill a screen with the code, for the room to see"))
        buttons.rejected.connect(self.close)
        column = self._column = QVBoxLayout(self)
        for page in self._pages:
            column.addWidget(page, 1)
        column.addWidget(self.warning)
        column.addWidget(buttons)
        for offer in self.offers.values():
            offer.toggled.connect(self._check)
        self.network.currentIndexChanged.connect(self._check)
        self.show_stopped()

    def _choices(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        form = QFormLayout()
        intro = self.tr(
            "People in the room read the captions in the browser of their phone, without the "
            "internet, from now on."
        )
        column.addWidget(paragraph(intro))
        column.addLayout(form)
        add_row(form, self.tr("&Network:"), self.network, self.network)
        ways = QVBoxLayout()
        ways.addWidget(self.by_link)
        ways.addWidget(self.keep_code)
        ways.addWidget(self.by_pin)
        add_row(form, self.tr("Readers:"), ways, self.by_link)
        offers = QVBoxLayout()
        for offer in self.offers.values():
            offers.addWidget(offer)
        add_row(form, self.tr("Languages:"), offers, self.offers[SOURCE])
        note = self.tr("Not encrypted: others in the same network who record it can read along.")
        column.addWidget(quiet(note))
        column.addStretch(1)
        return page

    def _shared(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.addWidget(self.code, 1)
        for line in (self.address, self.pin, self.readers):
            column.addWidget(line)
        return page

    def _large(self) -> QLabel:
        label = QLabel()
        font = QFont(label.font())
        font.setPointSizeF(font.pointSizeF() * _LARGE)
        label.setFont(font)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setTextFormat(Qt.TextFormat.PlainText)
        return label

    def offer(
        self, networks: Sequence[Network], languages: Mapping[str, str], further: Sequence[str] = ()
    ) -> None:
        """Offer networks and languages; those that were chosen stay chosen.

        Args:
            languages: codes by ``SOURCE`` and ``CAPTION``, or by one of them.
            further: codes of further languages.
        """
        chosen = self.network.currentData()
        self.network.clear()
        for one in networks:
            self.network.addItem(self._name_of(one), one.address)
        self.network.addItem(self.tr("This computer only, to try it"), LOOPBACK)
        self.network.setCurrentIndex(max(0, self.network.findData(chosen)))
        texts = {SOURCE: self.tr("{} (as it is said)"), CAPTION: self.tr("{} (translated)")}
        named = {name: texts[name].format(language_name(code)) for name, code in languages.items()}
        if further:
            count = len(further)
            named[FURTHER] = self.tr("%Ln further languages, if a reader chooses one", "", count)
        for name, offer in self.offers.items():
            is_new = offer.isHidden() or not offer.text().strip()
            offer.setVisible(name in named)
            offer.setText(named.get(name, ""))
            offer.setChecked(name in named and (is_new or offer.isChecked()))
        cost = self.tr(
            "{}. Each is computed only while it is read, {} at most at once; the captions never "
            "wait for it."
        )
        names = sorted(map(language_name, further), key=str.casefold)
        self.offers[FURTHER].setToolTip(cost.format(", ".join(names), MOST_READ))
        self._check()

    def showEvent(self, event: QShowEvent) -> None:
        """Take the room that the choices need: before this their letters are not known."""
        super().showEvent(event)
        if not event.spontaneous() and not self._pages[0].isHidden():
            self._make_room()

    def _make_room(self) -> None:
        """Make the window as large as the choices, which scroll on a screen that is smaller."""
        area = self._pages[0]
        assert isinstance(area, QScrollArea)
        choices = area.widget()
        assert choices is not None
        bar = area.verticalScrollBar().sizeHint().width()
        area.setMinimumWidth(choices.minimumSizeHint().width() + bar)
        width = max(self.minimumSizeHint().width(), choices.sizeHint().width() + 2 * bar)
        around = self._column.contentsMargins()
        rest = around.top() + around.bottom() + 2 * self._column.spacing()
        inside = choices.heightForWidth(width - around.left() - around.right())
        height = inside + rest + self._buttons.sizeHint().height()
        if not self.warning.isHidden():
            height += self.warning.heightForWidth(width - around.left() - around.right())
            height += self._column.spacing()
        most = self.screen().availableGeometry().size() - frame_of(self)
        self.resize(QSize(width, height).boundedTo(most))

    def _name_of(self, network: Network) -> str:
        kind = self.tr("Wi-Fi") if network.is_wireless else self.tr("Network")
        named = f"{kind} {network.name}".strip()
        return f"{named}, {network.address}"

    @Slot()
    def _check(self) -> None:
        """Disable a start that nobody could read; warn of an address for too many or too few."""
        self.start.setEnabled(any(offer.isChecked() for offer in self.offers.values()))
        address = self._shared_at or self.network.currentData()
        text = ""
        if address == LOOPBACK:
            text = self._for_no_phone()
        elif address is not None and not Network(address).is_private:
            text = self.tr(
                "This network is the internet itself: anybody in the world could connect."
            )
        self.warning.setText(text)
        self.warning.setVisible(bool(text))

    def _for_no_phone(self) -> str:
        text = self.tr("Only the browser of this computer can open this address, no phone.")
        if self._shared_at:
            return text
        help_ = self.tr("Choose the network that the phones are in.")
        if self.network.count() == 1:
            help_ = self.tr(
                "This computer is in no network: connect it to the one that the phones are in, "
                "then open this window again."
            )
        return f"{text} {help_}"

    @Slot()
    def _start(self) -> None:
        offered = tuple(name for name, offer in self.offers.items() if offer.isChecked())
        address = str(self.network.currentData())
        with_pin = self.by_pin.isChecked()
        keeps_code = self.keep_code.isChecked() and not with_pin
        choice = ShareChoice(
            address=address, with_pin=with_pin, keeps_code=keeps_code, offered=offered
        )
        self.start_wanted.emit(choice)

    def show_failure(self, text: str) -> None:
        self.warning.setText(text)
        self.warning.show()

    def show_shared(self, link: str, address: str, pin: str, languages: Sequence[str] = ()) -> None:
        """Show the way for phones.

        Args:
            link: for the code.
            address: without a key.
            pin: empty where none is typed.
            languages: codes of those that can be read, the most important first.
        """
        self._link, self._languages = link, languages
        self.copy.setText(self.tr("Copy &link"))
        self.code.show_text(link)
        self.address.setText(address if pin else link)
        self.pin.setText(self.tr("PIN: {}").format(pin))
        self.pin.setVisible(bool(pin))
        self._shared_at = urlsplit(address).hostname or ""
        for way in (self.code, self.readers):  # of phones
            way.setVisible(self._shared_at != LOOPBACK)
        self.show_readers(0)
        self._show_page(1)

    def show_readers(self, n_readers: int) -> None:
        some = self.tr("%Ln phones read along", "", n_readers)
        none = self.tr(
            "No phone reads along yet: it must be in this network, and the firewall of this "
            "computer must let it in"
        )
        self.readers.setText(some if n_readers else none)

    @Slot()
    def show_stopped(self) -> None:
        self._shared_at = ""
        self._show_page(0)
        self.leave_wall()

    def _show_page(self, number: int) -> None:
        for own, page in enumerate(self._pages):
            page.setVisible(own == number)
        was_started = number == 1 and self.start.isVisible()
        self.start.setVisible(number == 0)
        self.stop.setVisible(number == 1)
        self.copy.setVisible(number == 1)
        self.fill.setVisible(number == 1 and self._shared_at != LOOPBACK)
        if was_started:
            self.copy.setFocus()  # else Stop may have it, and a second Enter would stop it all
        self._check()

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._link)
        self.copy.setText(self.tr("Copied"))

    @Slot()
    def _fill(self) -> None:
        screens = QGuiApplication.screens()
        if len(screens) == 1:
            self.show_on(screens[0])
            return
        menu = QMenu(self.fill)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for number, screen in enumerate(screens, 1):
            action = menu.addAction(self.tr("Screen &{}: {}").format(number, screen.name()))
            action.triggered.connect(lambda _on=False, screen=screen: self.show_on(screen))
        menu.popup(self.fill.mapToGlobal(self.fill.rect().bottomLeft()))

    def show_on(self, screen: QScreen) -> None:
        self.leave_wall()
        lines = [self.address.text(), self.pin.text()][: 1 + (not self.pin.isHidden())]
        self.wall = CodeView(screen, self._link, lines, self._languages)
        self.wall.destroyed.connect(self._forget_wall)

    @Slot()
    def _forget_wall(self) -> None:
        self.wall = None

    def leave_wall(self) -> None:
        """Show the code on no screen any more."""
        if self.wall is not None:
            self.wall.close()
            self.wall = None


class CodeView(QDialog):
    """Show the way for phones on one screen, until Escape or until that screen is gone.

    As of any dialog, the overlay keeps off it.
    """

    def __init__(
        self, screen: QScreen, link: str, lines: Sequence[str], languages: Sequence[str]
    ) -> None:
        """Fill a screen.

        Args:
            link: in the code.
            lines: below it: the address, and a PIN where one is typed.
            languages: codes of those that can be read, the most important first.
        """
        super().__init__(None, Qt.WindowType.Window | Qt.WindowType.FramelessWindowHint)
        self.setWindowTitle(self.tr("Code for the phones in the room"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._screen = screen
        area = screen.geometry()
        column = QVBoxLayout(self)
        margin = round(_MARGIN * min(area.width(), area.height()))
        column.setContentsMargins(margin, margin, margin, margin)
        known = tomllib.loads((ASSETS / "headlines.toml").read_text(encoding="utf-8"))
        named = dict.fromkeys(known.get(one, known["en"]) for one in languages)
        for text in list(named)[:_MOST_HEADLINES]:
            column.addWidget(self._line(text, _HEADLINE))
        code = QrCode()
        code.show_text(link)
        code.setAccessibleName(self.tr("QR code of the address"))
        column.addWidget(code, 1)
        for text in lines:
            column.addWidget(self._line(text, _TEXT))
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self._leave)
        self.setScreen(screen)
        self.setGeometry(area)
        self.showFullScreen()

    def _line(self, text: str, share: float) -> QLabel:
        label = QLabel(text)
        font = QFont(label.font())
        font.setPixelSize(round(share * self._screen.geometry().height()))
        label.setFont(font)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        return label

    def _leave(self, screen: QScreen) -> None:
        if screen is self._screen:
            self.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)
