"""The client over sockets: what is sent again, and what is not."""

import socket
import threading

import pytest

from engine.errors import ServerGoneError
from engine.remote.service import Service
from engine.remote.wire import Offer, write_offer
from engine.settings import ServerSettings


class Scripted:
    """A server that answers requests as told, connection by connection, then says nothing."""

    def __init__(self, connections):
        self.asked = []
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
                if not other.recv(65536):
                    break
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


BODY = write_offer(Offer(model="one", languages={"de": "German"}))
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
    assert service.offer().model == service.offer().model == "one"
    assert server.asked == [0, 0, 1]


@pytest.mark.parametrize("served", [[[ANSWER, SILENT], [SILENT]]], indirect=True)
def test_a_server_that_is_silent_is_not_waited_for_twice(served, monkeypatch):
    monkeypatch.setattr("engine.remote.service._PATIENCE_S", 0.3)
    server, service = served
    service.offer()
    with pytest.raises(ServerGoneError):
        service.offer()
    assert server.asked == [0, 0]
