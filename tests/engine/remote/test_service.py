"""The client over sockets: what is sent again, and what is not."""

import contextlib
import re
import socket
import threading

import pytest

from engine.errors import ModelError, ServerError, ServerGoneError
from engine.messages import Code
from engine.remote.service import Service, SessionUnknownError
from engine.remote.wire import (
    Asked,
    Failure,
    Opened,
    Settled,
    opening,
    write,
)
from engine.settings import ServerSettings, TranslationSettings
from engine.translation.captioner import Change


def received(other):
    """A whole request, or what came of it before the connection ended."""
    content = b""
    while chunk := other.recv(65536):
        content += chunk
        head, end, body = content.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if end and len(body) >= (int(length[1]) if length else 0):
            break
    return content


class Scripted:
    """A server that answers requests as told, connection by connection, then says nothing."""

    def __init__(self, connections):
        self.asked, self.requests = [], []
        self._connections = connections
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._open = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def settings(self):
        return ServerSettings(address=f"http://127.0.0.1:{self._socket.getsockname()[1]}")

    def _run(self):
        for number, answers in enumerate(self._connections):
            other, _ = self._socket.accept()
            self._open.append(other)
            for answer in answers:
                request = received(other)
                if not request:
                    break
                self.requests.append(request)
                self.asked.append(number)
                if answer == "close":
                    other.close()
                elif answer:
                    other.sendall(answer)

    def close(self):
        for _ in self._connections:  # lets the thread go
            with socket.create_connection(self._socket.getsockname()):
                pass
        self._thread.join()
        self._socket.close()
        for other in self._open:
            other.close()


OPENING = opening("s" * 32, TranslationSettings())
BODY = write(Opened(model="one", languages={"de": "German"}, target="de", context_rows=3))
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY
SILENT = b""


@pytest.fixture
def served(request):
    one = Scripted(request.param)
    service = Service(one.settings)
    yield one, service
    service.close()
    one.close()


@pytest.mark.parametrize("served", [[[ANSWER, "close"], [ANSWER]]], indirect=True)
def test_a_request_on_a_connection_that_ended_meanwhile_is_sent_again_on_a_new_one(served):
    server, service = served
    assert service.open(OPENING).model == service.open(OPENING).model == "one"
    assert server.asked == [0, 0, 1]


@pytest.mark.parametrize("served", [[[ANSWER, SILENT], [SILENT]]], indirect=True)
def test_a_server_that_is_silent_is_not_waited_for_twice(served, monkeypatch):
    monkeypatch.setattr("engine.remote.service._PATIENCE_S", 0.3)
    server, service = served
    service.open(OPENING)
    with pytest.raises(ServerGoneError):
        service.open(OPENING)
    assert server.asked == [0, 0]


def whole(body, status=b"200 OK"):
    return b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n" % (status, len(body)) + body


TOLD = write(Failure(Code.SERVER_BUSY()))
REFUSALS = [
    (whole(b"", b"401 x"), ServerError, Code.SERVER_REFUSES_TOKEN),
    (whole(TOLD, b"401 x"), ServerError, Code.SERVER_REFUSES_TOKEN),
    (whole(b"", b"409 x"), SessionUnknownError, ""),
    (whole(b"", b"429 x"), ServerGoneError, "HTTP 429"),
    (whole(b"", b"503 x"), ServerGoneError, "HTTP 503"),
    (whole(TOLD, b"500 x"), ServerGoneError, Code.SERVER_BUSY),
    (whole(TOLD, b"404 x"), ServerError, Code.SERVER_BUSY),
    (whole(b"", b"404 x"), ServerError, "HTTP 404"),
    (whole(b"{}"), ServerError, Code.SERVER_MISUNDERSTOOD),
    (b"SSH-2.0\r\n", ServerGoneError, ""),
]


@pytest.mark.parametrize(
    ("served", "kind", "said"),
    [([[answer, SILENT], [ANSWER]], kind, said) for answer, kind, said in REFUSALS],
    indirect=["served"],
)
def test_a_refusal_is_told_by_its_kind_and_the_next_request_has_a_new_connection(
    served, kind, said
):
    server, service = served
    with pytest.raises(ServerError) as caught:
        service.open(OPENING)
    assert type(caught.value) is kind
    if isinstance(said, Code):
        assert caught.value.message.code is said
    else:
        assert said in str(caught.value)
    assert service.open(OPENING).model == "one"
    assert server.asked == [0, 1]


CHANGED, SETTLED = Change(0, "ein", 1), Settled(n_read=1, finished=False)
ASKED = Asked(session="s" * 32, number=0, words=("a",), ended=False)


def stream(*answers):
    """An answer in chunks, each a sign of life and a line, as a server sends that translates."""
    lines = [b"\n" + write(answer) for answer in answers]
    chunks = [b"%x\r\n%s\r\n" % (len(line), line) for line in (*lines, b"")]
    return b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"".join(chunks)


@pytest.mark.parametrize("served", [[[stream(CHANGED, SETTLED), ANSWER]]], indirect=True)
def test_answers_come_line_by_line_and_the_connection_is_used_again(served):
    server, service = served
    assert list(service.ask(ASKED)) == [CHANGED, SETTLED]
    assert service.open(OPENING).model == "one"
    assert server.asked == [0, 0]
    assert b"POST /v1/captions HTTP" in server.requests[0]
    assert b"X-Session-Id: " + b"s" * 32 in server.requests[0]
    assert b"Authorization" not in b"".join(server.requests)


@pytest.mark.parametrize("served", [[[stream(CHANGED)], [ANSWER]]], indirect=True)
def test_an_answer_that_breaks_off_ends_the_connection(served):
    server, service = served
    answers = service.ask(ASKED)
    assert next(answers) == CHANGED
    with pytest.raises(ServerGoneError) as caught:
        next(answers)
    assert caught.value.message.code is Code.CONNECTION_RESET
    assert service.open(OPENING).model == "one"
    assert server.asked == [0, 1]


@pytest.mark.parametrize("served", [[[stream(CHANGED, SETTLED)], [ANSWER]]], indirect=True)
def test_who_stops_listening_leaves_no_answer_for_the_next_request(served):
    _, service = served
    answers = service.ask(ASKED)
    next(answers)
    answers.close()
    assert service.open(OPENING).model == "one"


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\n\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nx: ", b"y"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_a_server_that_only_gives_signs_of_life_is_not_waited_for_for_ever(head, part, monkeypatch):
    monkeypatch.setattr("engine.remote.service._LONGEST_S", 0.5)
    gone = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def trickle():
            other, _ = listener.accept()
            with other, contextlib.suppress(OSError):
                other.sendall(head)
                while not gone.wait(0.02):
                    other.sendall(part)

        trickling = threading.Thread(target=trickle)
        trickling.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        service = Service(ServerSettings(address=address))
        try:
            with pytest.raises(ServerGoneError, match=r"in time|timed out"):
                list(service.ask(ASKED))
        finally:
            gone.set()
            service.close()
            trickling.join()


@pytest.mark.parametrize("served", [[[stream(*[CHANGED] * 3)]]], indirect=True)
def test_an_answer_without_an_end_is_given_up(served, monkeypatch):
    monkeypatch.setattr("engine.remote.service._MOST_LINES", 3)
    with pytest.raises(ServerError, match="it does not end"):
        list(served[1].ask(ASKED))


@pytest.mark.parametrize("served", [[[ANSWER, whole(b"")]]], indirect=True)
def test_a_session_is_opened_and_left_with_the_token(served):
    server, _ = served
    settings = ServerSettings(address=server.settings.address + "/", token="secret")
    service = Service(settings)
    assert service.open(OPENING).context_rows == 3
    service.leave("s" * 32)
    service.close()
    first, second = server.requests
    assert b"POST /v1/sessions HTTP" in first
    assert b"POST /v1/leave HTTP" in second
    assert all(b"Authorization: Bearer secret" in one for one in server.requests)


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org:1", "ftp://localhost", "https://", "localhost:1", "http://localhost:x",
        "https://a/path", "https://a?b", "https://a#b", "https://me@a",
    ],
)  # fmt: skip
def test_an_address_that_is_none_or_would_be_read_by_others_is_refused(address):
    with pytest.raises(ServerError) as caught:
        Service(ServerSettings(address=address))
    assert caught.value.message.code is Code.SERVER_ADDRESS


def test_a_certificate_that_cannot_be_read_is_named(tmp_path):
    for path in (tmp_path / "missing.pem", tmp_path / "empty.pem"):
        if path.stem == "empty":
            path.write_text("")
        with pytest.raises(ModelError, match=path.name):
            Service(ServerSettings(address="https://example.org", certificate=path))
    assert Service(ServerSettings(address="https://a:5")).server == "a:5"
