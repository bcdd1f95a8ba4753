"""A headless Chromium of the system, driven by its DevTools protocol through two pipes.

It may ask nobody but this computer, has a profile of its own, and is told nothing by the network.
"""

import contextlib
import itertools
import json
import os
import queue
import shutil
import subprocess
import threading
from dataclasses import dataclass, field

import pytest

NAMES = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
PATIENCE_S = 100

needs_chromium = pytest.mark.skipif(
    PROGRAM is None and os.environ.get("CI") != "true", reason="Chromium is not installed"
)

_FLAGS = (
    "--headless",
    "--no-sandbox",  # it shows our own pages alone, and tests may run as root
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)
_DARK_OR_LIGHT = "prefers-color-scheme"


class Chromium:
    """A running browser; ``close`` ends it."""

    def __init__(self, folder):
        """Start it with a new profile in a folder."""
        assert PROGRAM, "tests in a browser need Chromium: apt-get install chromium-headless-shell"
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        # the shell gives the pipes the numbers that the protocol wants, whatever they have here
        command = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", PROGRAM, *_FLAGS, f"--user-data-dir={folder}"],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in = os.fdopen(ours_out, "wb"), os.fdopen(ours_in, "rb")
        self._answers = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._pages = {}
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        waiting = b""
        while part := os.read(self._in.fileno(), 1 << 16):
            *messages, waiting = (waiting + part).split(b"\0")
            for message in map(json.loads, messages):
                page = self._pages.get(message.get("sessionId"))
                if "id" in message:
                    self._answers.put(message)
                elif page is not None:
                    page.take(message["method"], message["params"])

    def call(self, method, session=None, **parameters):
        """Call a method of the protocol; return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._answers.get(timeout=PATIENCE_S)
            if answer["id"] == number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def page(self, *, size=(390, 844), dark=False, language="en", before=""):
        """Open an empty page.

        Args:
            size: width and height in pixels of a style sheet.
            dark: the system prefers dark colours.
            language: of the browser.
            before: script that runs before those of every page.
        """
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = BrowserPage(self, session, target)
        for area in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            page.call(f"{area}.enable")
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=size[0] < 1200,
        )
        page.dress(dark=dark)
        agent = self.call("Browser.getVersion")["userAgent"]
        page.call("Network.setUserAgentOverride", userAgent=agent, acceptLanguage=language)
        page.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        return page

    def close(self):
        """End it."""
        self._out.close()
        self._process.kill()
        self._process.wait(PATIENCE_S)
        self._thread.join(PATIENCE_S)
        self._in.close()


@dataclass
class BrowserPage:
    """A page.

    Attributes:
        asked: addresses of all requests.
        faults: what its scripts, or the browser about it, complained of; not that nobody answered.
        dialogs: what it asked the reader by windows.
    """

    browser: Chromium
    session: str
    target: str
    asked: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def take(self, event, details):
        """Note an event, on the thread that listens."""
        match event:
            case "Network.requestWillBeSent":
                self.asked.append(details["request"]["url"])
            case "Runtime.exceptionThrown":
                self.faults.append(details["exceptionDetails"]["exception"].get("description"))
            case "Log.entryAdded" if details["entry"]["source"] != "network":
                self.faults.append(details["entry"]["text"])
            case "Runtime.consoleAPICalled":
                self.faults.append(str(details["args"]))
            case "Page.javascriptDialogOpening":
                self.dialogs.append(details["message"])

    def call(self, method, **parameters):
        """Call a method of the protocol for this page."""
        return self.browser.call(method, self.session, **parameters)

    def dress(self, *, dark):
        """Let the system prefer dark colours, or light ones."""
        value = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": _DARK_OR_LIGHT, "value": value}])

    def open(self, address):
        """Go to an address."""
        assert "errorText" not in self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def get(self, expression):
        """Return the value of an expression of JavaScript; of a promise, what it brings."""
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def wait(self, condition):
        """Wait until an expression is true; the page looks at it, each time it could paint."""
        self.get(
            "new Promise(done => { const look = () => { let holds = false; "
            f"try {{ holds = {condition}; }} catch {{ }} "
            "if (holds) done(true); else requestAnimationFrame(look); }; look(); })"
        )

    def roles(self):
        """Return the names of what a screen reader finds, by role."""
        found = {}
        for node in self.call("Accessibility.getFullAXTree")["nodes"]:
            if not node["ignored"]:
                name = node.get("name", {}).get("value", "")
                found.setdefault(node["role"]["value"], []).append(name)
        return found

    def picture(self):
        """Return what it shows, as a PNG in base64."""
        return self.call("Page.captureScreenshot")["data"]

    def close(self):
        """Close it."""
        with contextlib.suppress(AssertionError):
            self.browser.call("Target.closeTarget", targetId=self.target)
