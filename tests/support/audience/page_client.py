"""Reads caption pages as a browser does, or sends them what no browser would."""

import json
import socket
import urllib.error
import urllib.request
from dataclasses import dataclass, field

PATIENCE_S = 60


def ask(address, data=None, **headers):
    """Return status, body and heads of an answer."""
    request = urllib.request.Request(address, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode(), heads_of(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), heads_of(error)


def heads_of(answer):
    return {name.lower(): value for name, value in answer.headers.items()}


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)


def raw(port, request):
    """Send bytes as they are; return all that comes until the other side ends."""
    with connected(port) as connection:
        connection.sendall(request if isinstance(request, bytes) else request.encode())
        return ended(connection)


def ended(connection):
    """Return all that comes until the other side ends."""
    answer = b""
    try:
        while part := connection.recv(4096):
            answer += part
    except ConnectionResetError:
        pass
    return answer


@dataclass
class Event:
    kind: str = "message"
    position: str = ""
    data: str = ""

    @property
    def content(self):
        return json.loads(self.data)


@dataclass
class Reader:
    """Follows the events at an address; ``status`` is that of the answer."""

    address: str
    status: int = 0
    _stream: object = field(default=None, repr=False)

    def __enter__(self):
        try:
            self._stream = urllib.request.urlopen(self.address, timeout=PATIENCE_S)
        except urllib.error.HTTPError as error:
            self.status = error.code
            error.close()
        else:
            self.status = self._stream.status
        return self

    def __exit__(self, *_):
        if self._stream is not None:
            self._stream.close()

    def event(self):
        """Wait for the next event; None if there is none any more."""
        event = Event()
        try:
            while line := self._stream.readline().decode().rstrip("\n"):
                name, _, value = line.partition(": ")
                match name:
                    case "id":
                        event.position = value
                    case "data":
                        event.data = value
                    case "event":
                        event.kind = value
        except (ConnectionError, ValueError):
            return None
        return event if event != Event() else None

    def message(self):
        """Wait for the next event that is no sign of life; return its content."""
        event = self.event()
        while event is not None and event.kind == "beat":
            event = self.event()
        assert event is not None
        assert event.kind == "message"
        return event.content
