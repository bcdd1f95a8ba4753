from contextlib import ExitStack

import pytest

from app.captions.line_breaking import Line
from app.config.preferences import PrivacyPreferences
from app.session.browser_source import BrowserSource, PageLook, page_token
from app.sharing import doorkeeper
from app.sharing.pages import MOST_OVERLAYS
from tests.support.audience.page_client import Reader, ask, connected, ended, raw


@pytest.fixture
def page(qapp, tmp_path):  # noqa: ARG001  it is a QObject
    page = BrowserSource(tmp_path / "page.token")
    assert page.open_at(0) is None
    yield page
    page.close()


def port_of(page):
    return page._server.port


def told(page):
    """Return what a page that opens now is told."""
    with Reader(captions_address(page)) as reader:
        return reader.message()


def lines_of(*texts):
    return [Line(text=text) for text in texts]


def captions_address(page):
    return page.address.replace("/?", "/captions?")


def test_the_last_captions_are_told_to_who_knows_the_secret(page):
    page.show_lines(lines_of("eins", *["zwei"] * 11, 'drei <b> "🙂"'))
    texts = [line["text"] for line in told(page)["lines"]]
    assert texts == [*["zwei"] * 11, 'drei <b> "🙂"']


def test_an_open_page_is_told_what_changes_and_one_that_comes_back_only_what_it_lacks(page):
    page.show_lines(lines_of("eins"))
    with Reader(captions_address(page)) as reader:
        first = reader.event()
        page.show_lines(lines_of("eins", "zwei"))
        second = reader.event()
    assert [line["text"] for line in second.content["lines"]] == ["eins", "zwei"]
    with Reader(f"{captions_address(page)}&after={first.position}") as reader:
        assert reader.event() == second


def test_speakers_tentative_words_and_the_source_are_told_apart(page):
    heard = Line(text="Me: Good mor…", lane="me", n_label=3, n_tail=5)
    page.show_lines([heard], [Line(text="صباح", right_to_left=True)])
    first, second = told(page)["lines"]
    assert (first["kind"], first["rightToLeft"]) == ("source", True)
    assert (second["kind"], second["lane"], second["rightToLeft"]) == ("caption", "me", False)
    assert (second["label"], second["text"], second["tail"]) == ("Me:", " Good", " mor…")


def test_the_page_has_the_look_of_the_captions(page):
    page.show_look(PageLook(colours={"text": "rgb(1 2 3 / 1)"}, font="Noto Sans", outline=False))
    style = told(page)["style"]
    assert style["colours"] == {"text": "rgb(1 2 3 / 1)"}
    assert (style["font"], style["outline"]) == ("Noto Sans", False)


def test_the_page_is_empty_after_silence_until_the_next_word(page):
    now_s = [100.0]
    page._clock = lambda: now_s[0]

    def shown():
        return [line["text"] for line in told(page)["lines"]]

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


def test_the_page_may_run_its_own_script_and_ask_nobody_else(page):
    status, body, headers = ask(page.address)
    assert status == 200
    assert page.token not in body
    policy = headers["content-security-policy"]
    assert "default-src 'none'; connect-src 'self'" in policy
    assert "script-src 'sha256-" in policy
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("token", ["", "?token=", "?token=guess", "?token=%C3%A4"])
@pytest.mark.parametrize("path", ["/", "/captions"])
def test_who_does_not_know_the_secret_learns_nothing(page, token, path):
    page.show_lines(lines_of("geheim"))
    root = page.address.partition("/?")[0]
    status, body, _ = ask(root + path + token)
    assert status == 403
    assert "geheim" not in body


def test_a_browser_that_was_led_here_under_another_name_learns_nothing(page):
    status, _, _ = ask(captions_address(page), Host="evil.example:8765")
    assert status == 400
    assert ask(page.address, Host="localhost:1")[0] == 200


def test_only_this_computer_can_reach_it(page):
    assert page._server.host == "127.0.0.1"


@pytest.mark.parametrize(
    "target", ["//[x", "/?token=%ff", "http://[::1", "/captions?" + "&" * 9_000, "*"]
)
def test_no_target_of_a_request_is_more_than_refused(page, target, capfd):
    page.show_lines(lines_of("geheim"))
    answer = raw(
        port_of(page), f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n"
    )
    assert answer.partition(b"\r\n")[0].split()[1] in {b"400", b"403", b"404"}
    assert b"geheim" not in answer
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "request_bytes", [b"\xff\x00\r\n\r\n", b"GET\r\n\r\n", b"x" * 70_000,
                      b"GET / HTTP/9.9\r\nConnection: close\r\n\r\n",
                      b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n"]
)  # fmt: skip
def test_what_is_no_request_is_ended_without_a_word_in_the_terminal(page, request_bytes, capfd):
    page.show_lines(lines_of("geheim"))
    answer = raw(port_of(page), request_bytes)
    assert b"geheim" not in answer
    assert b" 200 " not in answer.partition(b"\r\n")[0]
    assert capfd.readouterr().err == ""


def test_no_more_than_so_many_pages_read_at_once(page):
    with ExitStack() as opened:
        readers = [
            opened.enter_context(Reader(captions_address(page))) for _ in range(MOST_OVERLAYS + 1)
        ]
        assert [reader.status for reader in readers] == [200] * MOST_OVERLAYS + [503]


def test_who_takes_too_long_is_ended_however_slowly_he_goes_on(page, monkeypatch):
    monkeypatch.setattr(doorkeeper, "LONGEST_S", 0.0)
    with connected(port_of(page)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost:")
        assert ended(slow) == b""
    monkeypatch.undo()
    assert ask(page.address)[0] == 200


def test_closing_ends_every_connection(page, monkeypatch, qtbot):
    monkeypatch.setattr(doorkeeper, "LONGEST_S", 10_000)
    idle = [connected(port_of(page)) for _ in range(3)]
    keeper = page._server.doorkeeper
    with Reader(captions_address(page)) as reader:
        reader.message()
        qtbot.waitUntil(lambda: keeper.n_open == 4)
        page.close()
        assert reader.event().kind == "end"
        assert reader.event() is None
    for one in idle:
        assert ended(one) == b""
        one.close()
    assert page.address == ""


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
