"""The clock of the golden record, which stands still but for ``step``.

``CLOCK.use`` comes before the product is imported, whose clocks are defaults of arguments.
"""

import asyncio
import queue  # noqa: F401  it waits by the real clock, as threading does, which it imports
import subprocess  # noqa: F401  likewise
import time

real_s = time.monotonic


class Clock:
    """The time of every session: seconds that pass only between the acts of a script."""

    def __init__(self):
        self.begin()

    def begin(self):
        """Set the time at which every session begins."""
        self.now_s = 1000.0

    def step(self, seconds=1.0):
        self.now_s += seconds

    def use(self):
        time.monotonic = time.perf_counter = lambda: self.now_s
        time.monotonic_ns = lambda: round(self.now_s * 1e9)
        asyncio.BaseEventLoop.time = lambda _loop: real_s()  # what serves a page sleeps really


CLOCK = Clock()
