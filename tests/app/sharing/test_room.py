import socket
import threading
import tracemalloc
from collections import Counter
from contextlib import ExitStack
from string import ascii_lowercase
from types import SimpleNamespace

import pytest

from app.captions.model import UtteranceView
from app.sharing import access as access_module
from app.sharing import doorkeeper, streams
from app.sharing import room as room_module
from app.sharing.access import MOST_TRIES, TRIES, Access
from app.sharing.room import MOST_READERS, Room
from app.sharing.room_feed import CAPTION, MOST_LETTERS, MOST_ROWS, SOURCE
from tests.support.audience.page_client import (
    PATIENCE_S,
    Reader,
    ask,
    connected,
    ended,
    heads_of,
    raw,
)
from tests.support.sound_server import wait_until

LANGUAGES = {SOURCE: "en", CAPTION: "de"}


@pytest.fixture
def room(monkeypatch):
    monkeypatch.setattr(room_module, "PORT", 0)
    room = Room("127.0.0.1", LANGUAGES)
    yield room
    room.close()


@pytest.fixture
def room_with_pin(monkeypatch):
    monkeypatch.setattr(room_module, "PORT", 0)
    room = Room("127.0.0.1", LANGUAGES, with_pin=True)
    yield room
    room.close()


def captions_of(room, show=CAPTION, after=""):
    return f"{room.address}captions?key={room.access.key}&show={show}&after={after}"


def say(room, *texts):
    views = [UtteranceView(key=key, caption=text) for key, text in enumerate(texts, 1)]
    room.show_views(views)


def port_of(room):
    return int(room.address.rstrip("/").rpartition(":")[2])


def test_who_has_the_link_reads_each_new_caption(room):
    with Reader(captions_of(room)) as reader:
        assert reader.message()["languages"] == LANGUAGES
        say(room, "Guten Morgen")
        assert [row["text"] for row in reader.message()["rows"]] == ["Guten Morgen"]
    assert room.link == f"{room.address}#{room.access.key}"
    assert len(room.access.key) * 6 >= 128


def test_who_comes_back_gets_what_was_missed_and_no_more(room):
    say(room, "eins")
    with Reader(captions_of(room)) as reader:
        seen = reader.event().position
    say(room, "eins", "zwei", "drei")
    with Reader(captions_of(room, after=seen)) as reader:
        assert [row["text"] for row in reader.message()["rows"]] == ["zwei", "drei"]


@pytest.mark.parametrize("key", ["", "?key=", "?key=guess", "?key=%ff", "?token=x"])
def test_who_has_no_key_reads_nothing(room, key):
    say(room, "geheim")
    status, body, _ = ask(f"{room.address}captions{key}")
    assert status == 403
    assert "geheim" not in body


def test_a_pin_is_exchanged_for_the_key(room_with_pin):
    room = room_with_pin
    assert "#" not in room.link
    assert len(room.access.pin) == 6
    wrong = f"{(int(room.access.pin) + 1) % 1_000_000:06}"
    assert ask(f"{room.address}key", wrong.encode())[0] == 403
    assert ask(f"{room.address}key", b"9" * 100_000)[0] == 403
    status, body, _ = ask(f"{room.address}key", room.access.pin.encode())
    assert status == 200
    assert room.access.key in body
    assert "<body data-pin>" in ask(room.address)[1]


def test_without_a_pin_there_is_none_to_guess(room):
    assert ask(f"{room.address}key", b"")[0] == 404
    assert not Access(with_pin=False).is_pin("", "a")


def test_a_pin_is_tried_so_often_a_minute_from_one_address_and_from_all():
    now_s = [0.0]
    tries = Access(with_pin=True, clock=lambda: now_s[0]).tries

    def wrong(address):
        may = tries.may_try(address)
        if may:
            tries.note_wrong(address)
        return may

    assert [wrong("a") for _ in range(TRIES + 1)] == [True] * TRIES + [False]
    assert [tries.may_try("b") for _ in range(2 * TRIES)] == [True] * 2 * TRIES, "they were right"
    assert wrong("b")
    now_s[0] = access_module.MINUTE_S
    assert all(wrong(f"{number % 20}") for number in range(MOST_TRIES))
    assert [tries.may_try(address) for address in ("a", "b", "19", "new")] == [False] * 3 + [True]


def test_that_somebody_guesses_the_pin_is_told_once(room_with_pin, monkeypatch, caplog):
    monkeypatch.setattr(access_module, "SUSPICIOUS", 3)
    seen = []
    for _ in range(4):
        ask(f"{room_with_pin.address}key", b"x")
        seen.append(room_with_pin.access.is_guessed_at)
    assert seen == [False, False, True, True]
    assert [line.message.partition(":")[0] for line in caplog.records] == [
        "somebody guesses the PIN"
    ]


def test_who_hangs_up_within_a_pin_writes_no_line(room_with_pin, caplog):
    with connected(port_of(room_with_pin)) as phone:
        phone.sendall(b"POST /key HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 6\r\n\r\n12")
        wait_until(lambda: room_with_pin._server._server.server_state.tasks)
    wait_until(lambda: not room_with_pin._server._server.server_state.tasks)
    assert caplog.records == []


def test_too_many_pins_are_refused_even_if_one_of_them_is_right(room_with_pin):
    room = room_with_pin
    claimed = [{"X-Forwarded-For": f"192.0.2.{number}"} for number in range(TRIES)]
    statuses = [ask(f"{room.address}key", b"x", **heads)[0] for heads in claimed]
    assert statuses == [403] * TRIES
    assert ask(f"{room.address}key", room.access.pin.encode())[0] == 429


@pytest.mark.parametrize("host", ["evil.example", "10.0.0.1", "127.0.0.1.evil.example", ""])
def test_under_another_name_the_page_is_not_there(room, host):
    answer = raw(port_of(room), f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
    assert b" 400 " in answer.partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "heads",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ],
)
def test_pages_of_other_origins_may_neither_read_nor_try_a_pin(room_with_pin, heads):
    room = room_with_pin
    assert ask(captions_of(room), **heads)[0] == 403
    assert ask(f"{room.address}key", room.access.pin.encode(), **heads)[0] == 403


def test_there_are_no_other_routes(room):
    for path in ("key", "index.html", "assets/", "..%2f..%2fetc%2fpasswd", "docs", "captions/x"):
        assert ask(f"{room.address}{path}?key={room.access.key}")[0] == 404
    for method in ("PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "x"):
        answer = raw(port_of(room), f"{method} / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b" 405 " in answer.partition(b"\r\n")[0]


def test_the_page_needs_nothing_from_elsewhere_and_no_browser_would_fetch_it(room):
    status, html, heads = ask(room.address)
    assert status == 200
    assert len(html.encode()) < 60_000
    assert "http" not in html.replace("https:", "").partition("<script>")[0]
    assert not any(mark in html for mark in ("src=", "@import", "url(", "cookie", "innerHTML"))
    policy = heads["content-security-policy"]
    for part in ("default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    assert room.access.key not in html
    assert "set-cookie" not in heads


def test_nothing_listens_before_and_after(monkeypatch):
    monkeypatch.setattr(room_module, "PORT", 0)
    room = Room("127.0.0.1", LANGUAGES)
    port = port_of(room)
    with Reader(captions_of(room)) as reader:
        reader.message()
        room.close()
        assert reader.event().kind == "end"
        assert reader.event() is None
    with pytest.raises(OSError, match="refused"):
        connected(port)
    room.close()  # nothing happens


def test_it_listens_at_the_chosen_address_alone(room):
    assert room._server.host == "127.0.0.1"
    with pytest.raises(OSError, match=r"assign|address"):
        Room("192.0.2.1", LANGUAGES)


def test_where_its_port_is_taken_another_one_is_used(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(room_module, "PORT", other.getsockname()[1])
        room = Room("127.0.0.1", LANGUAGES)
        assert port_of(room) != other.getsockname()[1]
        room.close()


@pytest.mark.slow
def test_a_thousand_connections_keep_nobody_from_reading(room, monkeypatch):
    monkeypatch.setattr(doorkeeper, "LONGEST_S", 10_000)
    with Reader(captions_of(room)) as reader, ExitStack() as opened:
        reader.message()
        for _ in range(1_000):
            opened.enter_context(connected(port_of(room)))
        assert ask(room.address)[0] == 200
        assert room._server.doorkeeper.n_open <= doorkeeper.MOST_WAITING + 1
        say(room, "weiter")
        assert reader.message()["rows"][0]["text"] == "weiter"


def test_who_has_sent_nothing_gives_way_first_and_the_oldest_before_others():
    ended, keeper = [], doorkeeper.Doorkeeper(1)

    def come(number):
        connection = SimpleNamespace(end=lambda: ended.append(number), write=bool)
        keeper.open(("phone", number), connection)

    for number in range(doorkeeper.MOST_WAITING):
        come(number)
        if number not in (1, 7):
            keeper.hear(("phone", number))
    for number in range(1000, 1004):
        come(number)
        keeper.hear(("phone", number))
    assert ended == [1, 7, 0, 2]
    assert keeper.n_open == doorkeeper.MOST_WAITING


def test_a_full_room_that_comes_back_at_one_moment_is_let_in_whole(room):
    request = captions_of(room).removeprefix(room.address)
    request = f"GET /{request} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    started, until = [], threading.Event()
    assert ask(room.address)[0] == 200
    room._server._loop.call_soon_threadsafe(lambda: (started.append(1), until.wait(PATIENCE_S)))
    wait_until(lambda: started)  # the server looks nowhere while all of them come
    with ExitStack() as opened:
        phones = [opened.enter_context(connected(port_of(room))) for _ in range(MOST_READERS)]
        for phone in phones:
            phone.sendall(request)
        until.set()
        assert Counter(phone.recv(12) for phone in phones) == {b"HTTP/1.1 200": MOST_READERS}


def asking(room, show=CAPTION):
    """Return a connection that has asked for captions, and takes little at a time."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(PATIENCE_S)
    connection.connect(("127.0.0.1", port_of(room)))
    path = captions_of(room, show).removeprefix(room.address)
    connection.sendall(f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return connection


@pytest.mark.slow
def test_readers_that_take_nothing_and_captions_without_end_take_bounded_memory(room, monkeypatch):
    monkeypatch.setattr(streams, "_QUICKEST_S", 0.0)
    monkeypatch.setattr(streams, "_COST_S", 0.0)
    n_slow = 40
    with Reader(captions_of(room)) as quick, ExitStack() as opened:
        quick.message()
        for _ in range(n_slow):
            opened.enter_context(asking(room))
        wait_until(lambda: room.n_readers == n_slow + 1)
        texts = [letter * 10 * MOST_LETTERS for letter in ascii_lowercase]
        views = []
        tracemalloc.start()
        for key in range(2 * MOST_ROWS):
            views.append(UtteranceView(key=key, caption=texts[key % len(texts)], ended=True))
            room.show_views(views)
            if not key % 20:  # until it has come, so that there are rounds
                while not any(row["key"] == key for row in quick.message()["rows"]):
                    pass
        added, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert added < MOST_ROWS * (MOST_LETTERS + 1_000) + n_slow * 100_000


def test_a_reader_of_an_older_protocol_gets_its_events_without_lengths(room):
    request = f"GET {captions_of(room)} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n"
    with connected(port_of(room)) as connection:
        connection.sendall(request.replace(room.address, "/").encode())
        wait_until(lambda: room.n_readers == 1)
        say(room, "eins")
        answer = b""
        while b"eins" not in answer:
            answer += connection.recv(4096)
        room.close()
        _, _, events = (answer + ended(connection)).partition(b"\r\n\r\n")
    assert b"\r\n" not in events
    assert events.startswith(b"id: ")
    assert events.endswith(b"event: end\ndata:\n\n")


def test_while_nothing_is_said_a_reader_gets_signs_of_life(room, monkeypatch):
    monkeypatch.setattr(streams, "BEAT_S", 0.02)
    with Reader(captions_of(room)) as reader:
        reader.message()
        assert [reader.event().kind for _ in range(3)] == ["beat"] * 3
        say(room, "eins")
        assert reader.message()["rows"][0]["text"] == "eins"


def test_readers_are_counted_and_one_more_than_there_are_places_is_told(monkeypatch):
    monkeypatch.setattr(room_module, "PORT", 0)
    monkeypatch.setattr(room_module, "MOST_READERS", 3)
    counted = threading.Event()
    room = Room("127.0.0.1", LANGUAGES, readers_changed=counted.set)
    with ExitStack() as opened:
        readers = [opened.enter_context(Reader(captions_of(room))) for _ in range(4)]
        assert [reader.status for reader in readers] == [200, 200, 200, 503]
        assert room.n_readers == 3
    assert counted.is_set()
    counted.clear()
    while room.n_readers:
        assert counted.wait(60)
        counted.clear()
    room.close()
    assert MOST_READERS == 500


def test_a_reader_that_takes_nothing_holds_up_no_other_and_is_ended(room, monkeypatch):
    monkeypatch.setattr(streams, "STALLED_S", 0.3)
    monkeypatch.setattr(streams, "_QUICKEST_S", 0.0)
    with asking(room) as slow, Reader(captions_of(room)) as quick:
        quick.message()
        wait_until(lambda: room.n_readers == 2)
        n_said = 0
        while room.n_readers != 1:
            n_said += 1
            text = f"{n_said} " + "ä" * 1_900
            say(room, text)
            row = quick.message()["rows"][-1]
            assert row["text"].startswith(str(n_said))
            assert n_said < 20_000
        ended(slow)


def test_the_further_languages_that_are_read_are_known_while_they_are(room):
    room.show_languages(LANGUAGES | {"fr": "fr", "pl": "pl"})
    with Reader(captions_of(room, "fr")), Reader(captions_of(room)):
        wait_until(lambda: room.n_readers == 2)
        assert room.read == ("fr",)
        room.show_languages(LANGUAGES | {"pl": "pl"})
        assert room.read == ()


def test_answers_may_not_be_kept_or_taken_for_something_else(room):
    for address in (room.address, f"{room.address}captions"):
        heads = ask(address)[2]
        assert heads["cache-control"] == "no-store"
        assert heads["x-content-type-options"] == "nosniff"
        assert heads["referrer-policy"] == "no-referrer"
    with Reader(captions_of(room)) as reader:
        assert heads_of(reader._stream)["cache-control"] == "no-store"
