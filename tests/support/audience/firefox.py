"""A headless Firefox of the system, driven by its own protocol (Marionette), over a socket.

It has a profile of its own and a proxy that is not there, so it reaches nobody but this computer.
"""

import itertools
import json
import os
import shutil
import socket
import subprocess

import pytest

from tests.support.sound_server import wait_until

PROGRAM = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
PATIENCE_S = 100

needs_firefox = pytest.mark.skipif(PROGRAM is None, reason="Firefox is not installed")

_PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1",
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "de",
}


class Firefox:
    """A running browser with one page; ``close`` ends it."""

    def __init__(self, folder):
        """Start it with a new profile in a folder."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        chosen = _PREFERENCES | {"marionette.port": port}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(it)});" for name, it in chosen.items()]
        (folder / "user.js").write_text("\n".join(lines))
        self._process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-remote", "--marionette", "--profile", folder],
            env=os.environ | {"HOME": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._socket = None
        wait_until(lambda: self._connect(port))
        self._answers = self._socket.makefile("rb")
        self._numbers = itertools.count(1)
        self._read()  # its greeting
        self.call("WebDriver:NewSession")

    def _connect(self, port):
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        except ConnectionRefusedError:
            return False
        return True

    def _read(self):
        length = b""
        while (digit := self._answers.read(1)) != b":":
            assert digit, "Firefox has ended"
            length += digit
        return json.loads(self._answers.read(int(length)))

    def call(self, command, **parameters):
        """Call a command of the protocol; return its value."""
        asked = json.dumps([0, next(self._numbers), command, parameters]).encode()
        self._socket.sendall(b"%d:%b" % (len(asked), asked))
        _, _, error, result = self._read()
        assert error is None, (command, error)
        return result.get("value")

    def open(self, address):
        """Go to an address."""
        self.call("WebDriver:Navigate", url=address)

    def get(self, expression):
        """Return the value of an expression of JavaScript."""
        return self.call("WebDriver:ExecuteScript", script=f"return {expression};", args=[])

    def wait(self, condition):
        """Wait until an expression is true."""
        wait_until(lambda: self.get(condition))

    def close(self):
        """End it."""
        self._answers.close()
        self._socket.close()
        self._process.kill()
        self._process.wait(PATIENCE_S)
