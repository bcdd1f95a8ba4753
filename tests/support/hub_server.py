"""A hub on this computer over HTTP, which can be told to misbehave."""

import contextlib
import hashlib
import http.server
import json
import re
import ssl
import threading
from dataclasses import dataclass, field

from huggingface_hub import close_session

from engine.hub.download import Fetching, HubSettings

WHISPER_FILES = {
    "config.json": b"{}",
    "model.bin": bytes(range(256)) * 400,
    "tokenizer.json": b'{"version": "1.0"}',
    "vocabulary.json": b"[]",
}

REVISION = "5eed" * 10


@dataclass
class Hub:
    """What the hub has, what is wrong with it, and what it was asked.

    ``fault(name, start)`` may return ``stall`` (after some bytes), ``silent`` (no byte comes),
    ``reset`` (after some bytes), ``lost`` (at once), ``short`` (half, and it says so), ``long``,
    ``garbled`` or ``whole`` (it knows no ranges). ``change(listing)`` returns what it lists
    instead; ``raw(path)`` returns all bytes of an answer, or None for a proper one.
    """

    files: dict[str, bytes]
    name: str = "some/model"
    fault: object = field(default=lambda _name, _start: None)
    change: object = field(default=lambda listing: listing)
    raw: object = field(default=lambda _path: None)
    asked: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    endpoint: str = ""


def settings(hub, *, timeout_s=10.0):
    """Speak to it as to the real one, but give up sooner.

    A test that lets it stall waits for ``timeout_s``; elsewhere nothing takes so long, however busy
    the machine is.
    """
    return HubSettings(endpoint=hub.endpoint, timeout_s=timeout_s, tries=2)


def fetching(hub, *, timeout_s=10.0, **others):
    """Fetch with these settings."""
    return Fetching(settings=settings(hub, timeout_s=timeout_s), **others)


def listing(hub):
    siblings = []
    for name, content in hub.files.items():
        entry = {"rfilename": name, "size": len(content)}
        if name.endswith((".safetensors", ".bin")):
            sha256 = hashlib.sha256(content).hexdigest()
            entry["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 134}
            entry["blobId"] = "0" * 40
        else:
            blob = b"blob %d\0" % len(content) + content
            entry["blobId"] = hashlib.sha1(blob).hexdigest()
        siblings.append(entry)
    return {"id": hub.name, "modelId": hub.name, "sha": REVISION, "siblings": siblings}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments):
        pass

    def do_GET(self):
        hub = self.server.hub
        name = self.path.partition("?")[0].rpartition("/")[2]
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(match[1]) if match else 0
        hub.asked.append((self.path, start))
        hub.headers.append(self.headers)
        raw = hub.raw(self.path)
        if raw is not None:
            self.close_connection = True
            with contextlib.suppress(ConnectionError):
                self.wfile.write(raw)
        elif self.path.startswith(f"/api/models/{hub.name}"):
            self._send(200, json.dumps(hub.change(listing(hub))).encode())
        elif f"/{hub.name}/resolve/" in self.path and name in hub.files:
            self._send_file(hub.files[name], start, hub.fault(name, start))
        else:
            self._send(404, b"{}")

    def _send(self, status, content):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(content)

    def _send_file(self, content, start, fault):
        if fault == "whole":
            start = 0
        rest = content[start:]
        if fault == "garbled":
            rest = bytes(byte ^ 1 for byte in rest)
        if fault == "long":
            rest += b"more than was promised"
        if fault == "short":
            rest = rest[: len(rest) // 2]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if fault in ("stall", "reset", "silent", "lost"):
            if fault in ("stall", "reset"):
                self.wfile.write(rest[: min(len(rest) // 2, 5000)])
                self.wfile.flush()
            if fault in ("stall", "silent"):
                self.server.ending.wait(5)
            self.close_connection = True
            return
        with contextlib.suppress(ConnectionError):
            self.wfile.write(rest)


@contextlib.contextmanager
def running(files, *, certificate=None, name="some/model"):
    """Run a hub that has one model; with a certificate (and its key) over TLS."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if certificate else "http"
    server.hub = Hub(
        files=dict(files), name=name, endpoint=f"{scheme}://127.0.0.1:{server.server_port}"
    )
    server.ending = threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.hub
    finally:
        close_session()
        server.ending.set()
        server.shutdown()
        thread.join()
        server.server_close()
