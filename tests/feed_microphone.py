"""Speak into the microphone of ``scripts/with-sound`` at the pace of real time.

    python tests/feed_microphone.py PIPE

Every line of standard input says what from then on: ``ramp`` (all 16-bit numbers, going on where it
was), ``zeros`` or ``nothing``. The end of standard input ends it. It is a process of its own, so
that busy threads of a test do not disturb it.
"""

import array
import os
import select
import sys
import time

RATE_HZ = 16_000
BLOCK = 320  # samples, 20 ms
RAMP = array.array("h", range(-32768, 32768)).tobytes()


def main() -> None:
    # Opening to write alone would wait for a reader, and so would writing when nobody reads.
    pipe = os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK)
    what, at = "ramp", 0
    next_s = time.monotonic()
    while True:
        if select.select([sys.stdin], [], [], max(next_s - time.monotonic(), 0))[0]:
            if not (line := sys.stdin.readline()):
                return
            what = line.strip()
            continue
        next_s += BLOCK / RATE_HZ
        block = (RAMP + RAMP)[at : at + 2 * BLOCK] if what == "ramp" else bytes(2 * BLOCK)
        try:
            if what != "nothing":
                os.write(pipe, block)
        except BlockingIOError:
            continue  # the same comes again later, so that the ramp has no gap
        if what == "ramp":
            at = (at + 2 * BLOCK) % len(RAMP)


if __name__ == "__main__":
    main()
