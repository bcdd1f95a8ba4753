"""Sends what changes to every reader as server-sent events.

A stream knows its state by positions. A reader names the last position that it has, and gets what
changed since: so one that was away, or is too slow, gets the newest state, and costs no memory.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.types import Receive, Scope, Send

from app.sharing.doorkeeper import ReaderPlace

BEAT_S = 10.0
"""A reader gets something at least this often, so that it notices a dead connection."""

STALLED_S = 20.0
"""A reader that takes nothing for so long is ended; it may come back and gets what it missed."""

_QUICKEST_S, _COST_S = 0.02, 0.00016
# between two rounds: at least, and for each reader, so that many cost a bounded part of a processor

_AT_ONCE = 25
"""Readers that are served before requests of others are heard."""

_BEAT, _END = b"event: beat\ndata:\n\n", b"event: end\ndata:\n\n"
_HEADERS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]


class Stream(Protocol):
    """A changing state that readers follow; used on the thread of the server."""

    def since(self, seen: str, show: str) -> tuple[str, str]:
        """Return a later position and one line about what changed between; empty for nothing."""


@dataclass(slots=True, eq=False)
class Reader:
    """One that follows a stream.

    Attributes:
        show: which of its states it wants.
        place: its place among all readers.
        seen: the last position that it got.
        told_s: when that was, or a beat; seconds of the loop's clock.
    """

    stream: Stream
    show: str
    place: ReaderPlace
    seen: str
    told_s: float = 0.0


class Rounds:
    """Serve all readers of a stream, in rounds that are far enough apart.

    Whoever else computes in this program waits meanwhile, so a round writes to the connections
    itself; the task of a reader wakes only if the reader has not taken what came before.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, n_readers: Callable[[], int]) -> None:
        self.is_over = False
        self._loop, self._n_readers = loop, n_readers
        self._following: dict[Reader, asyncio.Future[bool]] = {}  # and what wakes their tasks
        self._timer: asyncio.TimerHandle | None = None
        self._beats: asyncio.TimerHandle | None = None
        self._round: asyncio.Task[None] | None = None
        self._last_s = 0.0
        self._sent: dict[tuple[str, str], tuple[str, bytes]] = {}  # in this round

    def tell(self) -> None:
        if self._timer is None:
            pause_s = _QUICKEST_S + _COST_S * self._n_readers()
            self._timer = self._loop.call_at(self._last_s + pause_s, self._begin)

    def end(self) -> None:
        """Let every reader go."""
        self.is_over = True
        self._sent.clear()
        for reader in list(self._following):
            self._wake(reader)

    def _begin(self) -> None:
        self._timer, self._last_s = None, self._loop.time()
        if self._round is not None:  # the one before goes on
            self.tell()
            return
        self._sent.clear()
        self._round = self._loop.create_task(self._serve_all())

    async def _serve_all(self) -> None:
        try:
            for number, reader in enumerate(list(self._following), 1):
                if self.is_over:
                    break
                self._serve(reader)
                if not number % _AT_ONCE:
                    await asyncio.sleep(0)
        finally:
            self._round = None

    def _serve(self, reader: Reader) -> None:
        seen, event = self.news(reader)
        while event and reader.place.connection.write(event):
            reader.seen, reader.told_s = seen, self._loop.time()
            seen, event = self.news(reader)
        if event:
            self._wake(reader)
        else:
            reader.seen = seen

    def _beat(self) -> None:
        """Send a sign of life to whom nothing else was sent for a while."""
        since_s = self._loop.time() - BEAT_S / 2
        for reader in list(self._following):
            if reader.told_s > since_s:
                continue
            if reader.place.connection.write(_BEAT):
                reader.told_s = self._loop.time()
            else:
                self._wake(reader, is_quiet=True)
        following = self._following and not self.is_over
        self._beats = self._loop.call_later(BEAT_S / 2, self._beat) if following else None

    def _wake(self, reader: Reader, *, is_quiet: bool = False) -> None:
        wakes = self._following.pop(reader, None)
        if wakes is not None and not wakes.done():
            wakes.set_result(is_quiet)

    def news(self, reader: Reader) -> tuple[str, bytes]:
        """Return as ``event_since``; readers that have the same share one answer in a round."""
        asked = reader.seen, reader.show
        found = self._sent.get(asked)
        if found is None:
            found = self._sent[asked] = event_since(reader)
        return found

    async def follow(self, reader: Reader) -> bool:
        """Send a reader what comes, until it has to be waited for, or leaves.

        Returns:
            whether only a sign of life is due.
        """
        if self.is_over:
            return False
        reader.told_s = self._loop.time()
        wakes: asyncio.Future[bool] = self._loop.create_future()
        self._following[reader] = wakes
        if self._beats is None:
            self._beats = self._loop.call_later(BEAT_S / 2, self._beat)
        try:
            return await wakes
        finally:
            self._following.pop(reader, None)


def event_since(reader: Reader) -> tuple[str, bytes]:
    """Return a later position, and the event of what changed; empty for nothing."""
    position, line = reader.stream.since(reader.seen, reader.show)
    return position, f"id: {position}\ndata: {line}\n\n".encode(errors="replace") if line else b""


class EventResponse:
    """Answer a request with the events of a stream, until the reader leaves or all are let go."""

    def __init__(self, rounds: Rounds, reader: Reader) -> None:
        self._rounds, self._reader = rounds, reader

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        reader, is_quiet = self._reader, False
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            seen, event = event_since(reader)
            while reader.place.is_taken and not self._rounds.is_over:
                if event or is_quiet:
                    await self._send(send, event or _BEAT)
                    reader.seen, is_quiet = seen, False
                else:
                    reader.seen = seen
                    is_quiet = await self._rounds.follow(reader)
                seen, event = self._rounds.news(reader)
            if event and reader.place.is_taken:
                await self._send(send, event)  # what changed just before the end
            await self._send(send, _END, more=False)
        except TimeoutError:
            reader.place.connection.end()
            while reader.place.is_taken:  # until the connection is closed
                await asyncio.sleep(0)

    async def _send(self, send: Send, body: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(STALLED_S):
            await send({"type": "http.response.body", "body": body, "more_body": more})
