"""Networks as people have them elsewhere, in the place of the hub (``HF_ENDPOINT``)."""

import contextlib
import http.server
import socket
import threading

LOGIN = b"<!DOCTYPE html><html><title>Free WLAN</title><form>Room number</form></html>"


@contextlib.contextmanager
def no_network():
    """Nobody is there: the address of a port that was closed again."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def hanging_network():
    """Somebody takes every connection, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:  # the system accepts for it
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextlib.contextmanager
def login_page():
    """Every address is answered by the page of a hotel."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(LOGIN)))
            self.end_headers()
            self.wfile.write(LOGIN)

        def log_message(self, *_arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
