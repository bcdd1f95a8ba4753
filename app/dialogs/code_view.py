"""The QR code on a screen for the room, which says in each language what it is for."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QGuiApplication, QKeyEvent, QScreen
from PySide6.QtWidgets import QDialog, QLabel, QVBoxLayout

from app.look.widgets.qr_code import QrCode

HEADLINES = {
    "en": "Captions on your phone",
    "de": "Untertitel auf Ihrem Handy",
    "fr": "Les sous-titres sur votre téléphone",
    "es": "Subtítulos en su móvil",
    "it": "I sottotitoli sul vostro telefono",
    "pt": "Legendas no seu telemóvel",
    "nl": "Ondertitels op uw telefoon",
    "pl": "Napisy na Twoim telefonie",
    "cs": "Titulky ve vašem telefonu",
    "sk": "Titulky vo vašom telefóne",
    "da": "Undertekster på din telefon",
    "sv": "Undertexter i din telefon",
    "no": "Undertekster på telefonen din",
    "fi": "Tekstitys puhelimeesi",
    "et": "Subtiitrid teie telefonis",
    "hu": "Feliratok a telefonján",
    "ro": "Subtitrări pe telefonul dumneavoastră",
    "el": "Υπότιτλοι στο κινητό σας",
    "ru": "Субтитры на вашем телефоне",
    "uk": "Субтитри на вашому телефоні",
    "bg": "Субтитри на вашия телефон",
    "tr": "Altyazılar telefonunuzda",  # noqa: RUF001  Turkish has this letter
    "ar": "الترجمة على هاتفك",
    "he": "כתוביות בטלפון שלך",
    "fa": "زیرنویس در تلفن شما",
    "hi": "आपके फ़ोन पर उपशीर्षक",
    "zh": "在您的手机上看字幕",
    "ja": "お手元のスマートフォンで字幕を",
    "ko": "휴대전화로 자막 보기",
    "vi": "Phụ đề trên điện thoại của bạn",
}
"""What the code is for, by the languages that read it; another language has that of English."""

_MOST_HEADLINES = 4
_HEADLINE, _TEXT = 0.055, 0.032  # heights of letters, of that of the screen
_MARGIN = 0.05


class CodeView(QDialog):
    """Show the way for phones on one screen, until Escape or until that screen is gone.

    As of any dialog, the overlay keeps off it.
    """

    def __init__(
        self, screen: QScreen, link: str, lines: Sequence[str], languages: Sequence[str]
    ) -> None:
        """Fill a screen.

        Args:
            screen: for the room.
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
        named = dict.fromkeys(HEADLINES.get(one, HEADLINES["en"]) for one in languages)
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
        """Leave by Escape; captions are shared on."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)
