"""Who may ask a computer that translates, and what a stranger costs it. Requests go by sockets."""

import json
import queue
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from app.sharing.server import TlsFiles
from engine.errors import ServerError
from engine.remote.service import Service
from engine.remote.wire import MOST_REQUEST_BYTES, Asked, Settled, opening, write
from engine.session.conversations import Conversations
from engine.session.loaded_model import LoadedModel
from engine.settings import ServerSettings, TranslationSettings
from tests.support.network.house_server import TOKEN, house_server
from tests.support.sound_server import wait_until

SESSION = "s" * 22
OPENING = opening(SESSION, TranslationSettings())
CAPTION = (
    "/v1/captions",
    json.dumps(
        {"version": 1, "session": SESSION, "number": 1, "words": ["a"], "ended": False}
    ).encode(),
)
TLS = Path(__file__).parents[2] / "assets" / "tls"


@pytest.fixture(scope="module")
def served(far_model):
    with house_server(far_model) as (_, server):
        yield server


def place(server):
    return "127.0.0.1", int(server.address.rpartition(":")[2])


def asked(server, path="/metrics", method="GET", body=b"", token=TOKEN, **heads):
    """Send a request; return the status, and the answer whole."""
    lines = [f"{method} {path} HTTP/1.1", f"content-length: {len(body)}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in heads.items()]
    lines += [f"authorization: Bearer {token}"] if token else []
    lines += [] if "host" in heads else ["host: localhost"]
    with socket.create_connection(place(server), timeout=300) as sock:
        sock.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        answer = b"".join(iter(lambda: sock.recv(65536), b""))
    return int(answer.split()[1]), answer.partition(b"\r\n\r\n")[2].decode()


def told(**values):
    return json.dumps(json.loads(write(OPENING)) | values).encode()


def test_who_does_not_know_the_token_gets_nothing_but_the_health(served):
    for token in ("", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper()):
        for path in ("/metrics", "/v1/captions", "/nowhere"):
            status, answer = asked(served, path, token=token)
            assert status in (401, 429)
            assert "tiny" not in answer
    assert asked(served, "/health", token="") == (200, "ok\n")
    assert asked(served)[0] == 200, "wrong tokens of others keep nobody out"


def test_wrong_tokens_are_answered_ten_times_a_minute(far_model):
    with house_server(far_model) as (_, server):
        found = [asked(server, token="wrong")[0] for _ in range(12)]
        assert found == [401] * 10 + [429] * 2
        assert asked(server)[0] == 200


def test_pages_in_browsers_get_nothing(served, far_model):
    assert asked(served, origin="https://evil.example")[0] == 403
    assert asked(served, sec_fetch_site="cross-site")[0] == 403
    with house_server(far_model, tokens=()) as (_, server):
        assert asked(server, token="")[0] == 200
        assert asked(server, token="", host="evil.example")[0] == 403, "a name that points here"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/sessions", b"", 400),
        ("/v1/sessions", b"[" * 5000, 400),
        ("/v1/sessions", told(version=2), 400),
        ("/v1/sessions", told(session="../../x"), 400),
        ("/v1/sessions", told(target="../x"), 400),
        ("/v1/sessions", told(target="xx"), 422),
        ("/v1/sessions", told(policy="read:0"), 422),
        ("/v1/sessions", told(glossary=[{"term": "a", "translation": "b"}] * 1001), 400),
        ("/v1/sessions", b"x" * (MOST_REQUEST_BYTES + 1), 413),
        ("/v1/captions", b"{}", 400),
        (CAPTION[0], CAPTION[1].replace(b"s" * 22, b"u" * 22), 409),
        ("/v1/leave", b"{}", 400),
        ("/v2/captions", b"{}", 404),
    ],
)
def test_a_wrong_request_gets_one_sentence(served, path, body, status):
    found, answer = asked(served, path, "POST", body)
    assert found == status
    assert len(json.loads(answer)["message"]["values"]) > 0
    assert "Traceback" not in answer


def test_nobody_asks_in_the_session_of_another(far_model):
    tokens = (TOKEN, "another token, as long as it")
    with house_server(far_model, tokens=tokens) as (_, server):
        assert asked(server, "/v1/sessions", "POST", told())[0] == 200
        body = json.dumps(
            {"version": 1, "session": SESSION, "number": 1, "words": ["a"], "ended": False}
        ).encode()
        assert asked(server, "/v1/captions", "POST", body)[0] == 200
        assert asked(server, "/v1/captions", "POST", body, token=tokens[1])[0] == 409


def test_a_full_server_refuses_a_further_session_plainly(far_model):
    with house_server(far_model, n_most=1) as (_, server):
        assert asked(server, "/v1/sessions", "POST", told())[0] == 200
        status, answer = asked(server, "/v1/sessions", "POST", told(session="t" * 22))
        assert status == 503
        assert "SERVER_FULL" in answer
        leave = json.dumps({"version": 1, "session": SESSION}).encode()
        assert asked(server, "/v1/leave", "POST", leave)[0] == 200
        assert asked(server, "/v1/sessions", "POST", told(session="t" * 22))[0] == 200


def test_figures_tell_how_much_was_done_and_nothing_of_what_was_said(far_model):
    with house_server(far_model) as (_, server):
        service = Service(server)
        service.open(OPENING)
        words = ("abacus", "dada")
        *_, last = service.ask(Asked(session=SESSION, number=1, words=words, ended=True))
        service.close()
        _, text = asked(server, "/metrics")
    assert isinstance(last, Settled)
    assert "surtitle_sessions 1\n" in text
    assert "surtitle_words_total 2\n" in text
    assert "abacus" not in text
    assert SESSION not in text


def test_words_are_sent_by_tls_to_whom_the_certificate_names(far_model):
    tls = TlsFiles(TLS / "certificate.pem", TLS / "key.pem")
    with house_server(far_model, tls=tls) as (_, server):
        service = Service(server)
        assert service.open(OPENING).model == "tiny"
        service.close()
        stranger = ServerSettings(address=server.address, token=TOKEN)  # trusts the system's
        with pytest.raises(ServerError, match="is not safe"):
            Service(stranger).open(OPENING)
        with socket.create_connection(place(server), timeout=300) as sock:
            sock.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            assert b"200" not in sock.recv(100)


@pytest.mark.parametrize(
    "address",
    ["http://example.org", "ftp://localhost", "https://", "https://a:b@c", "https://a/b", "a", ""],
)
def test_nothing_is_sent_in_the_clear_to_another_computer(address):
    with pytest.raises(ServerError, match="https://NAME:PORT"):
        Service(ServerSettings(address=address, token=TOKEN))


def test_an_end_gives_the_answers_that_are_under_way(far_model):
    with house_server(far_model) as (running, server):
        service, answers = Service(server), queue.Queue()
        service.open(replace(OPENING, policy="read:1"))
        words = tuple("abcdefgh" * 3)
        stream = service.ask(Asked(session=SESSION, number=1, words=words, ended=True))
        answers.put(next(stream))
        closing = threading.Thread(target=running.close)
        closing.start()
        for answer in stream:
            answers.put(answer)
        closing.join()
        assert isinstance(list(answers.queue)[-1], Settled)
        service.close()


def test_a_server_that_has_stopped_refuses_at_once_instead_of_letting_anybody_wait(far_model):
    with house_server(far_model) as (running, server):
        assert asked(server, "/v1/sessions", "POST", told())[0] == 200
        running._conversations.stop(30)
        for path, body in (("/v1/sessions", told(session="t" * 22)), CAPTION):
            status, answer = asked(server, path, "POST", body)
            assert status == 503
            assert "SERVER_STOPPING" in answer


def test_an_answer_ends_without_its_last_line_where_the_server_stops_before_it(
    far_model, monkeypatch
):
    monkeypatch.setattr("app.serving.server._BEAT_S", 0.05)
    monkeypatch.setattr(Conversations, "ask", lambda self, *_order: self.stop(30))
    with house_server(far_model) as (_, server):
        assert asked(server, "/v1/sessions", "POST", told())[0] == 200
        status, answer = asked(server, CAPTION[0], "POST", CAPTION[1])
        assert status == 200
        assert "settled" not in answer


def test_a_request_lives_as_long_as_its_connection(far_model, monkeypatch):
    taken = queue.Queue()
    monkeypatch.setattr(Conversations, "ask", lambda _, *order: taken.put(order[-1]))
    with house_server(far_model) as (_, server):
        assert asked(server, "/v1/sessions", "POST", told())[0] == 200
        with socket.create_connection(place(server), timeout=300) as sock:
            head = f"POST {CAPTION[0]} HTTP/1.1\r\nhost: localhost\r\n"
            head += f"authorization: Bearer {TOKEN}\r\ncontent-length: {len(CAPTION[1])}\r\n\r\n"
            sock.sendall(head.encode() + CAPTION[1])
            lives = taken.get(timeout=300)
            assert lives()
        wait_until(lambda: not lives())


@pytest.mark.parametrize(
    ("stops", "status", "why"), [(True, 503, "SERVER_STOPPING"), (False, 429, "SERVER_BUSY")]
)
def test_a_session_that_is_not_opened_in_time_is_refused(
    far_model, monkeypatch, stops, status, why
):
    monkeypatch.setattr("app.serving.server._BEAT_S", 0.05)
    monkeypatch.setattr(Conversations, "open", lambda self, *_order: stops and self.stop(30))
    with house_server(far_model) as (_, server):
        answer = asked(server, "/v1/sessions", "POST", told())
        assert (answer[0], why in answer[1]) == (status, True)


def test_a_session_that_was_quiet_for_long_is_not_counted_as_in_use(far_model):
    now_s = [0.0]
    loaded, clock = LoadedModel(far_model, lambda _: None), lambda: now_s[0]
    conversations = Conversations(loaded, 2, clock=clock, idle_s=5.0)
    opened = queue.Queue()
    conversations.start()
    conversations.open("", OPENING, opened.put)
    opened.get(timeout=300)
    assert (conversations.n_sessions, conversations.n_in_use) == (1, 1)
    now_s[0] = 59.0
    assert conversations.n_in_use == 1, "its lane may go before"
    now_s[0] = 61.0
    assert (conversations.n_sessions, conversations.n_in_use) == (1, 0)
    conversations.stop(30)
