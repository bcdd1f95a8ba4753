"""Sends what changes to every reader as server-sent events.

A stream knows its state by positions. A reader names the last position that it has, and gets what
changed since: so one that was away, or is too slow, gets the newest state, and costs no memory.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from starlette.types import Receive, Scope, Send

from app.sharing.doorkeeper import ReaderPlace

BEAT_S = 10.0
"""A reader gets something at least this often, so that it notices a dead connection."""

STALLED_S = 20.0
"""A reader that takes nothing for so long is ended; it may come back and gets what it missed."""

_QUICKEST_S, _COST_S = 0.02, 0.00016
# between two rounds: at least, and for each reader, so that many cost a bounded part of a processor

_BEAT, _END = b"event: beat\ndata:\n\n", b"event: end\ndata:\n\n"
_HEADERS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]


class Stream(Protocol):
    """A changing state that readers follow; used on the thread of the server."""

    def since(self, seen: str, show: str) -> tuple[str, str]:
        """Return a later position and one line about what changed between; empty for nothing."""


class Rounds:
    """Wake all readers of a stream, in rounds that are far enough apart."""

    def __init__(self, loop: asyncio.AbstractEventLoop, n_readers: Callable[[], int]) -> None:
        self.is_over = False
        self._loop, self._n_readers = loop, n_readers
        self._next = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._last_s = 0.0
        self._sent: dict[tuple[str, str], tuple[str, bytes]] = {}  # in this round

    def tell(self) -> None:
        """Begin a round soon."""
        if self._timer is None:
            pause_s = _QUICKEST_S + _COST_S * self._n_readers()
            self._timer = self._loop.call_at(self._last_s + pause_s, self._begin)

    def end(self) -> None:
        """Let every reader go."""
        self.is_over = True
        self._begin()

    def _begin(self) -> None:
        self._timer, self._last_s = None, self._loop.time()
        self._sent.clear()
        told, self._next = self._next, asyncio.Event()
        told.set()

    def news(self, stream: Stream, seen: str, show: str) -> tuple[str, bytes]:
        """Return as ``event_since``; readers that have the same share one answer in a round."""
        found = self._sent.get((seen, show))
        if found is None:
            found = self._sent[seen, show] = event_since(stream, seen, show)
        return found

    async def wait(self) -> bool:
        """Wait for the next round; return False if there was none until it is time for a beat."""
        try:
            async with asyncio.timeout(BEAT_S):
                await self._next.wait()
        except TimeoutError:
            return False
        return True


def event_since(stream: Stream, seen: str, show: str) -> tuple[str, bytes]:
    """Return as ``Stream.since``, but an event in place of the line."""
    position, line = stream.since(seen, show)
    return position, f"id: {position}\ndata: {line}\n\n".encode(errors="replace") if line else b""


class EventResponse:
    """Answer a request with the events of a stream, until the reader leaves or all are let go."""

    def __init__(
        self, stream: Stream, rounds: Rounds, seen: str, show: str, place: ReaderPlace
    ) -> None:
        self._stream, self._rounds, self._seen, self._show = stream, rounds, seen, show
        self._place = place

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer, as ASGI wants it."""
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            self._seen, event = event_since(self._stream, self._seen, self._show)
            while self._place.is_taken and not self._rounds.is_over:
                if event or not await self._rounds.wait():
                    await self._send(send, event or _BEAT)
                self._seen, event = self._rounds.news(self._stream, self._seen, self._show)
            if event and self._place.is_taken:
                await self._send(send, event)  # what changed just before the end
            await self._send(send, _END, more=False)
        except TimeoutError:
            self._place.leave()
            while self._place.is_taken:  # until the connection is closed
                await asyncio.sleep(0)

    async def _send(self, send: Send, body: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(STALLED_S):
            await send({"type": "http.response.body", "body": body, "more_body": more})
