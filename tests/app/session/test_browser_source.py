import json
import socket
import threading
import urllib.error
import urllib.request

import pytest

from app.captions.line_breaking import Line
from app.config.preferences import PrivacyPreferences
from app.session.browser_source import BrowserSource, PageLook, page_token
from app.session.caption_server import MOST_CONNECTIONS


@pytest.fixture
def page(qapp, tmp_path):  # noqa: ARG001  it serves from the event loop
    page = BrowserSource(tmp_path / "page.token")
    assert page.open_at(0) is None
    yield page
    page.close()


@pytest.fixture
def ask(qtbot):
    """Ask as a browser does, from a thread, while the event loop answers."""

    def get(address, **headers):
        answers = []

        def work():
            request = urllib.request.Request(address, headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    answers.append((answer.status, answer.read().decode(), dict(answer.headers)))
            except urllib.error.HTTPError as error:
                with error:
                    answers.append((error.code, error.read().decode(), dict(error.headers)))

        thread = threading.Thread(target=work)
        thread.start()
        qtbot.waitUntil(lambda: bool(answers))
        thread.join()
        return answers[0]

    return get


def lines_of(*texts):
    return [Line(text=text) for text in texts]


def captions_address(page):
    return page.address.replace("/?", "/captions?")


def test_the_last_captions_are_told_to_who_knows_the_secret(page, ask):
    page.show_lines(lines_of("eins", *["zwei"] * 7, 'drei <b> "🙂"'))
    status, body, headers = ask(captions_address(page))
    assert status == 200
    assert [line["text"] for line in json.loads(body)["lines"]] == [*["zwei"] * 7, 'drei <b> "🙂"']
    assert headers["Cache-Control"] == "no-store"


def test_speakers_tentative_words_and_the_source_are_told_apart(page, ask):
    heard = Line(text="Me: Good mor…", lane="me", n_label=3, n_tail=5)
    page.show_lines([heard], [Line(text="صباح", right_to_left=True)])
    first, second = json.loads(ask(captions_address(page))[1])["lines"]
    assert (first["kind"], first["rightToLeft"]) == ("source", True)
    assert (second["kind"], second["lane"], second["rightToLeft"]) == ("caption", "me", False)
    assert (second["label"], second["text"], second["tail"]) == ("Me:", " Good", " mor…")


def test_the_page_has_the_look_of_the_captions(page, ask):
    page.show_look(PageLook(colours={"text": "rgb(1 2 3 / 1)"}, font="Noto Sans", outline=False))
    style = json.loads(ask(captions_address(page))[1])["style"]
    assert style["colours"] == {"text": "rgb(1 2 3 / 1)"}
    assert (style["font"], style["outline"]) == ("Noto Sans", False)


def test_the_page_is_empty_after_silence_until_the_next_word(page, ask):
    now_s = [100.0]
    page._clock = lambda: now_s[0]

    def shown():
        return [line["text"] for line in json.loads(ask(captions_address(page))[1])["lines"]]

    page.show_look(PageLook(hide_after_s=10))
    page.show_lines(lines_of("eins"))
    now_s[0] = 109.0
    page.show_lines(lines_of("eins"))  # no new word
    assert shown() == ["eins"]
    now_s[0] = 110.0
    assert shown() == []
    page.show_lines(lines_of("eins", "zwei"))
    assert shown() == ["eins", "zwei"]
    now_s[0] = 999.0
    page.show_look(PageLook(hide_after_s=0))
    assert shown() == ["eins", "zwei"]


def test_the_page_asks_for_captions_with_its_secret(page, ask):
    status, body, _ = ask(page.address)
    assert status == 200
    assert f'/captions?token={page.token}"' in body


@pytest.mark.parametrize("token", ["", "?token=", "?token=guess", "?token=%C3%A4"])
@pytest.mark.parametrize("path", ["/", "/captions"])
def test_who_does_not_know_the_secret_learns_nothing(page, ask, token, path):
    page.show_lines(lines_of("geheim"))
    root = page.address.partition("/?")[0]
    status, body, _ = ask(root + path + token)
    assert status == 403
    assert "geheim" not in body


def test_a_browser_that_was_led_here_under_another_name_learns_nothing(page, ask):
    status, _, _ = ask(captions_address(page), Host="evil.example:8765")
    assert status == 403
    assert ask(captions_address(page), Host="localhost:1")[0] == 200


def test_other_paths_and_methods_are_refused(page, ask):
    root, _, token = page.address.partition("/?")
    assert ask(f"{root}/etc/passwd?{token}")[0] == 404
    path = captions_address(page).removeprefix(root)
    for method in ("POST", "PUT", "OPTIONS", "HEAD", "x"):
        answer = raw(page, f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 501 " in answer.partition(b"\r\n")[0]


def test_only_this_computer_can_reach_it(page):
    assert page._server.socket.getsockname()[0] == "127.0.0.1"


def connected(page):
    return socket.create_connection(("127.0.0.1", page._server.port), timeout=60)


def raw(page, request):
    """Send bytes as they are; give all that comes until the other side ends."""
    with connected(page) as connection:
        connection.sendall(request if isinstance(request, bytes) else request.encode())
        return ended(connection)


def ended(connection):
    answer = b""
    try:
        while part := connection.recv(4096):
            answer += part
    except ConnectionResetError:
        pass
    return answer


@pytest.mark.parametrize(
    "target", ["//[x", "/?token=%ff", "http://[::1", "/captions?" + "&" * 9_000, "*"]
)
def test_no_target_of_a_request_is_more_than_refused(page, target, capfd):
    page.show_lines(lines_of("geheim"))
    answer = raw(page, f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n")
    assert b" 403 " in answer.partition(b"\r\n")[0]
    assert b"geheim" not in answer
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "request_bytes", [b"\xff\x00\r\n\r\n", b"GET\r\n\r\n", b"x" * 70_000, b"GET / HTTP/9.9\r\n\r\n",
                      b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n"]
)  # fmt: skip
def test_what_is_no_request_is_ended_without_a_word_in_the_terminal(page, request_bytes, capfd):
    page.show_lines(lines_of("geheim"))
    answer = raw(page, request_bytes)
    assert b"geheim" not in answer
    assert b" 200 " not in answer.partition(b"\r\n")[0]
    assert capfd.readouterr().err == ""


def test_so_many_connections_are_open_at_once_and_the_oldest_gives_way(page, ask, monkeypatch):
    for name in ("LONGEST_S", "_Request.timeout"):
        monkeypatch.setattr(f"app.session.caption_server.{name}", 10_000)
    idle = [connected(page) for _ in range(MOST_CONNECTIONS + 3)]
    assert [ended(oldest) for oldest in idle[:3]] == [b""] * 3
    assert ask(captions_address(page))[0] == 200
    assert ended(idle[3]) == b""
    assert len(page._server._open) <= MOST_CONNECTIONS
    for one in idle:
        one.close()


def test_who_takes_too_long_is_ended_however_slowly_he_goes_on(page, ask, monkeypatch):
    monkeypatch.setattr("app.session.caption_server.LONGEST_S", 0.0)
    monkeypatch.setattr("app.session.caption_server._Request.timeout", 10_000)  # between two bytes
    with connected(page) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost:")
        assert ended(slow) == b""
    monkeypatch.undo()
    assert ask(captions_address(page))[0] == 200


def test_closing_ends_every_connection(page, monkeypatch, qtbot):
    for name in ("LONGEST_S", "_Request.timeout"):
        monkeypatch.setattr(f"app.session.caption_server.{name}", 10_000)
    idle = [connected(page) for _ in range(3)]
    qtbot.waitUntil(lambda: len(page._server._open) == 3)
    page.close()
    for one in idle:
        assert ended(one) == b""
        one.close()
    assert page.address == ""


def test_a_port_that_is_taken_is_told(page, tmp_path):
    other = BrowserSource(tmp_path / "page.token")
    failure = other.open_at(page._server.port)
    assert "could not be opened at port" in failure
    assert other.address == ""


def test_it_is_off_until_it_is_wanted(tmp_path):
    page = BrowserSource(tmp_path / "page.token")
    assert page.use(PrivacyPreferences()) is None
    assert page.address == ""
    assert list(tmp_path.iterdir()) == []


def test_the_secret_stays_the_same_and_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "deep" / "page.token"
    token = page_token(path)
    assert len(token) >= 20
    assert page_token(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    assert page_token(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("ä" * 30)
    assert page_token(path).isascii()
    path.write_text("short")
    assert page_token(path) not in {"short", token}
    (tmp_path / "file").write_text("")
    assert len(page_token(tmp_path / "file" / "page.token")) >= 20
