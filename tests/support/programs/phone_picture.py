"""A picture of the page for phones, on two of them; for scripts/screenshots. It needs Chromium.

python tests/support/programs/phone_picture.py FILE.png [--language de] [--ended]
"""

import argparse
import base64
import sys
import tempfile
from pathlib import Path

from PySide6.QtGui import QColor, QImage, QPainter

sys.path.insert(0, str(Path(__file__).parents[3]))

from app.captions.model import UtteranceView
from app.sharing import room as room_module
from app.sharing.access import LOOPBACK
from app.sharing.room import Room
from app.sharing.room_feed import CAPTION, SOURCE
from tests.support.audience.chromium import Chromium

STATE = "document.getElementById('state').textContent"
WIDTH, HEIGHT, GAP = 390, 520, 20
GERMAN = (
    "Guten Morgen und herzlich willkommen zu unserem Vortrag.",
    "Heute sprechen wir über das Wetter und unseren neuen Garten.",
    "Im letzten Jahr hat es hier viel weniger geregnet als früher.",
    "Deshalb fragen wir uns, welche Pflanzen",
)
ARABIC = (
    "صباح الخير وأهلا بكم في محاضرتنا.",
    "نتحدث اليوم عن الطقس وعن حديقتنا الجديدة.",
    "في العام الماضي كان المطر أقل بكثير من ذي قبل.",
    "لذلك نسأل أنفسنا أي النباتات",
)


def views():
    """Return captions of which the last one still grows."""
    return [
        UtteranceView(
            key=key,
            caption=german,
            further=(("ar", arabic),),
            language="de",
            ended=key < len(GERMAN) - 1,
        )
        for key, (german, arabic) in enumerate(zip(GERMAN, ARABIC, strict=True))
    ]


def phone(browser, show, *, dark, language, ended):
    """Return what a phone shows that reads a language."""
    room = Room(LOOPBACK, {SOURCE: "en", CAPTION: "de", "ar": "ar"})
    room.show_ready(("ar",))
    room.show_views(views())
    page = browser.page(size=(WIDTH, HEIGHT), dark=dark, language=language)
    page.open(room.link)
    if show != CAPTION:  # which it shows by itself
        page.wait("document.querySelector('main p')")
        page.get(
            f"(it => {{ it.value = '{show}'; it.onchange(); }})(document.getElementById('show'))"
        )
    page.wait(
        f"document.querySelectorAll('main p[lang={show if show != CAPTION else 'de'}]')"
        f".length === {len(GERMAN)}"
    )
    if ended:
        live = page.get(STATE)
        room.close()
        page.wait(f"{STATE} !== '{live}'")
    picture = QImage.fromData(base64.b64decode(page.picture()))
    page.get("localStorage.clear()")
    page.close()
    room.close()
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--language", default="en", help="of the phones")
    parser.add_argument("--ended", action="store_true", help="sharing has ended")
    arguments = parser.parse_args()
    room_module.PORT = 0
    said = {"language": arguments.language, "ended": arguments.ended}
    with tempfile.TemporaryDirectory() as folder:
        browser = Chromium(folder)
        shown = [
            phone(browser, show, dark=dark, **said)
            for show, dark in ((CAPTION, False), ("ar", True))
        ]
        browser.close()
    both = QImage(2 * WIDTH + GAP, HEIGHT, QImage.Format.Format_RGB32)
    both.fill(QColor("#888"))
    painter = QPainter(both)
    for number, picture in enumerate(shown):
        painter.drawImage(number * (WIDTH + GAP), 0, picture)
    painter.end()
    assert both.save(arguments.file)


if __name__ == "__main__":
    main()
