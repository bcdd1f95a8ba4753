"""The page for phones in a headless Firefox: what another browser could do otherwise."""

import pytest

from app.captions.model import UtteranceView
from app.sharing import room as room_module
from app.sharing.room import Room
from app.sharing.room_feed import CAPTION, SOURCE
from tests.support.audience.firefox import Firefox, needs_firefox

SHOWN = "[...document.querySelectorAll('main p')].map(row => row.textContent)"
STATE = "document.getElementById('state').textContent"
HOSTILE = "<script>hacked = 1</script><img src=x onerror='hacked = 1'>"

pytestmark = [needs_firefox, pytest.mark.slow]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    browser = Firefox(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def room(monkeypatch):
    monkeypatch.setattr(room_module, "PORT", 0)
    room = Room("127.0.0.1", {SOURCE: "en", CAPTION: "de", "ar": "ar"})
    room.show_ready(("ar",))
    yield room
    room.close()


def say(room, *captions):
    room.show_views(
        [
            UtteranceView(
                key=key, caption=text, ended=True, language="de", further=(("ar", "صباح"),)
            )
            for key, text in enumerate(captions, 1)
        ]
    )


def test_words_come_as_they_are_said_and_run_nothing_until_the_end_is_told(page, room):
    say(room, HOSTILE)
    page.open(room.link)
    page.wait(f"{SHOWN}.length === 1")
    said = [HOSTILE, "Guten Morgen.", "Wir fangen an."]
    for number in (2, 3):
        say(room, *said[:number])
        page.wait(f"{SHOWN}.length === {number}")
    assert page.get(SHOWN) == said
    assert page.get("typeof hacked") == "undefined"
    assert page.get("document.querySelectorAll('main script, main img').length") == 0
    room.close()
    page.wait(f"{STATE} === 'Die Freigabe ist beendet'")
    assert page.get(SHOWN) == said


def test_another_language_is_chosen_and_stands_from_the_right(page, room):
    say(room, "Guten Morgen.")
    page.open(room.link)
    page.wait(f"{SHOWN}.length === 1")
    page.get("(it => { it.value = 'ar'; it.onchange(); })(document.getElementById('show'))")
    page.wait("document.querySelector('main p').lang === 'ar'")
    assert page.get("document.querySelector('main p').matches(':dir(rtl)')")
    page.get("localStorage.clear()")


def test_a_reader_whose_connection_broke_gets_what_was_missed_once(page, room):
    say(room, "eins.")
    page.open(room.link)
    page.wait(f"{SHOWN}.length === 1")
    room._server._loop.call_soon_threadsafe(room._server.doorkeeper.end_all)
    say(room, "eins.", "zwei.")
    page.wait(f"{SHOWN}.length === 2")
    say(room, "eins.", "zwei.", "drei.")
    page.wait(f"{SHOWN}.length === 3")
    assert page.get(SHOWN) == ["eins.", "zwei.", "drei."]
