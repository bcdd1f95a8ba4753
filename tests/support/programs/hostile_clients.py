"""Two hundred clients that mean a server of this computer no good, until they are told to end.

python tests/support/programs/hostile_clients.py PORT TOKEN

Some know no token, some send too much or never end, some flood, some never read, some ask in the
wrong order. They end when standard input does, after a minute at the latest; each sends at most
``MOST_ROUNDS`` times. Printed is how many answers came, by their status.
"""

import asyncio
import contextlib
import json
import random
import sys
import threading
from collections import Counter

N_CLIENTS, MOST_ROUNDS, MOST_S = 200, 60, 60.0
SESSION = "hostile-hostile-hostile"


def request(path, body=b"", token="", method="POST", length=None):
    head = [f"{method} {path} HTTP/1.1", "host: localhost"]
    head += [f"content-length: {len(body) if length is None else length}"]
    head += [f"authorization: Bearer {token}"] if token else []
    return "\r\n".join([*head, "", ""]).encode() + body


def opening(session=SESSION, **values):
    whole = {"version": 1, "session": session, "target": "de", "source": "en", "policy": ""}
    return json.dumps(whole | values).encode()


def sentence(session, words, number=1):
    whole = {"version": 1, "session": session, "number": number, "words": words, "ended": True}
    return json.dumps(whole).encode()


class Client:
    """One of them; every kind is a way to spend a connection."""

    def __init__(self, number, port, token, seen):
        self.rng, self.port, self.token, self.seen = random.Random(number), port, token, seen
        ways = (self.guess, self.exceed, self.flood, self.never_read, self.confuse, self.half_open)
        self.number, self.way = number, ways[number % len(ways)]

    async def run(self):
        for _ in range(MOST_ROUNDS):
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                try:
                    async with asyncio.timeout(5):
                        await self.way(reader, writer)
                finally:
                    writer.close()
            await asyncio.sleep(0.1)

    async def answer(self, reader):
        line = await reader.readuntil(b"\r\n")
        self.seen[line.split()[1].decode()] += 1
        await reader.read(4096)

    async def guess(self, reader, writer):
        """Try tokens."""
        token = "".join(self.rng.choices("abcdef", k=26))
        writer.write(request("/v1/sessions", opening(), token))
        await self.answer(reader)

    async def exceed(self, reader, writer):
        """Send frames without an end, with a token and without."""
        n_parts = self.rng.choice([3, 200])  # of the first, the answer can still be read
        writer.write(request("/v1/captions", token=self.token, length=1 << 40))
        for _ in range(n_parts):
            writer.write(b"x" * (1 << 16))
            await writer.drain()
        await self.answer(reader)

    async def flood(self, reader, writer):
        """Ask hundreds of times at once."""
        writer.write(request("/metrics", b"", self.token, "GET") * 500)
        await writer.drain()
        for _ in range(20):
            await self.answer(reader)

    async def never_read(self, _reader, writer):
        """Ask for much, and read nothing of it."""
        session = f"{SESSION}-{self.number}"
        writer.transport.pause_reading()
        writer.write(request("/v1/sessions", opening(session), self.token))
        for number in range(200):
            body = sentence(session, ["abcdefgh"] * 60, number)
            writer.write(request("/v1/captions", body, self.token))
        writer.write(request("/metrics", b"", self.token, "GET") * 500)
        await asyncio.sleep(4)

    async def confuse(self, reader, writer):
        """Ask in the wrong order, in other forms, or in no language at all."""
        bodies = (
            ("/v1/captions", sentence("u" * 22, ["a"])),
            ("/v1/leave", json.dumps({"version": 1, "session": "u" * 22}).encode()),
            ("/v1/captions", b"[" * 100_000),
            ("/v1/sessions", opening(session="../" * 20)),
            ("/v1/sessions", opening(version=99)),
            ("/v1/sessions", opening(target="xx")),
        )
        path, body = self.rng.choice(bodies)
        content = request(path, body, self.token)
        match self.rng.randrange(3):
            case 0:
                content = self.rng.randbytes(3000)
            case 1:
                content = content[: self.rng.randrange(len(content))]
        writer.write(content)
        await self.answer(reader)

    async def half_open(self, _reader, writer):
        """Say half a head, and no more."""
        writer.write(b"POST /v1/captions HTTP/1.1\r\nx: " + b"y" * self.rng.randrange(20_000))
        await asyncio.sleep(4)


async def attack(port, token, ended):
    seen = Counter()
    tasks = [
        asyncio.create_task(Client(number, port, token, seen).run()) for number in range(N_CLIENTS)
    ]
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(MOST_S):
            await ended.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    sys.stdout.write(f"{json.dumps(seen)}\n")


def main():
    loop, ended = asyncio.new_event_loop(), asyncio.Event()

    def wait():
        sys.stdin.read()
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait, daemon=True).start()
    loop.run_until_complete(attack(int(sys.argv[1]), sys.argv[2], ended))


if __name__ == "__main__":
    main()
