"""Speak into the microphone of ``scripts/with-sound`` at the pace of real time.

    python tests/support/feed_microphone.py PIPE

Every line of standard input says what from then on: ``ramp`` (all 16-bit numbers, going on where it
was), ``zeros``, ``nothing``, or ``play FILE`` (16-bit numbers, once, then zeros). The end of
standard input ends it. It is a process of its own, so that busy threads of a test do not disturb
it.
"""

import array
import os
import select
import sys
import time
from pathlib import Path

RATE_HZ = 16_000
BLOCK = 320  # samples, 20 ms
RAMP = array.array("h", range(-32768, 32768)).tobytes()


def sound_to_play(what: str) -> bytes:
    return Path(what.removeprefix("play ")).read_bytes() if what.startswith("play ") else b""


def next_block(what: str, at: int, waiting: bytes) -> bytes:
    if what == "ramp":
        return (RAMP + RAMP)[at : at + 2 * BLOCK]
    return waiting[: 2 * BLOCK].ljust(2 * BLOCK, b"\0")


def main() -> None:
    # Opening to write alone would wait for a reader, and so would writing when nobody reads.
    pipe = os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK)
    # Unbuffered: of two lines that come at once select would not see the second in a buffer.
    lines = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
    what, at, waiting = "ramp", 0, b""
    next_s = time.monotonic()
    while True:
        if select.select([lines], [], [], max(next_s - time.monotonic(), 0))[0]:
            if not (line := lines.readline()):
                return
            what = line.decode().strip()
            waiting = sound_to_play(what)
            continue
        next_s += BLOCK / RATE_HZ
        block = next_block(what, at, waiting)
        try:
            if what != "nothing":
                os.write(pipe, block)
        except BlockingIOError:
            continue  # the same comes again later, so that the ramp has no gap
        waiting = waiting[2 * BLOCK :]
        if what == "ramp":
            at = (at + 2 * BLOCK) % len(RAMP)


if __name__ == "__main__":
    main()
