"""Open connections to a port of this computer that never send anything.

python tests/support/programs/never_greet.py PORT CONNECTIONS A_SECOND

As many in all as asked for, and no more a second than that: fewer where the computer is too busy.
Printed is how many seconds that took; the newest thousand are held until standard input ends.
"""

import contextlib
import socket
import sys
import threading
import time
from collections import deque

HELD, PATIENCE_S = 1000, 60


def main(port, n_connections, a_second):
    with contextlib.suppress(ImportError, ValueError):
        import resource  # noqa: PLC0415  there is none on Windows

        limits = resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(limits[0], (limits[1][1], limits[1][1]))
    held, pause, begun_s = deque(), threading.Event(), time.monotonic()
    for number in range(n_connections):
        pause.wait(max(0.0, begun_s + number / a_second - time.monotonic()))
        held.append(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S))
        if len(held) > HELD:
            held.popleft().close()
    sys.stdout.write(f"{time.monotonic() - begun_s}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
