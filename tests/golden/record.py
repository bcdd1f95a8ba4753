"""The golden record: what some forty sessions did, to the byte, in ``tests/golden/records``.

    .venv/bin/python -m tests.golden.record                     # tells what differs now
    .venv/bin/python -m tests.golden.record --renew [NAME ...]  # keeps it anew

A change of the code that shall change no behaviour changes no byte here. Where one does, keep the
record anew in the same commit, look at its diff, and explain it in the commit's message.

The sessions are in ``sessions.py``, and what they need of the product in ``stage.py``. Networks
are tiny, in float32, and compute on one thread; a session whose network chooses between ids that
are closer than rounding fails (``tests.golden.margins``). Whoever adds one tries it by
``scripts/check --as avx2 tests/golden``, too, and takes other seeds for its words where it fails.
"""

import argparse
import difflib
import os
import sys
import tempfile
import warnings
from pathlib import Path

from tests.golden.clock import CLOCK

RECORDS = Path(__file__).with_name("records")
_MOST_LINES = 60  # of a diff that is shown


def play(names, to):
    """Play sessions, all without names, and write their records into a folder."""
    quiet = {"OMP_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen", "TQDM_DISABLE": "1"}
    os.environ |= quiet
    CLOCK.use()
    from tests.golden.margins import clear_choices  # noqa: PLC0415
    from tests.golden.sessions import SESSIONS  # noqa: PLC0415  the lines above come before torch and Qt
    from tests.golden.stage import Models, Record  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as temporary:
        models = Models(Path(temporary))
        for name in names or SESSIONS:
            home = Path(temporary) / f"home-{name}"
            home.mkdir()
            CLOCK.begin()
            record = Record(Path(temporary))
            with clear_choices(name):
                SESSIONS[name](record, models, home)
            (to / f"{name}.txt").write_text(record.text(), "utf-8")


def difference(name, played):
    """Return the diff of a session from its record; empty where they are the same."""
    before, now = (
        path.read_text("utf-8").splitlines() if path.exists() else []
        for path in (RECORDS / f"{name}.txt", played / f"{name}.txt")
    )
    return list(difflib.unified_diff(before, now, "kept", "now", lineterm="", n=1))


def names_in(folder):
    return {path.stem for path in folder.glob("*.txt")}


def main(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--renew", action="store_true", help="keep what is now")
    parser.add_argument("--to", type=Path, metavar="DIR", help="only write the records of now")
    arguments = parser.parse_args(argv)
    if arguments.to:
        play(arguments.names, arguments.to)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        played = Path(temporary)
        play(arguments.names, played)
        names = names_in(played) | (set() if arguments.names else names_in(RECORDS))
        n_different = 0
        for name in sorted(names):
            lines = difference(name, played)
            n_different += bool(lines)
            if lines:
                sys.stdout.write("\n".join([f"{name}:", *lines[:_MOST_LINES], "", ""]))
            if lines and arguments.renew:
                now, kept = played / f"{name}.txt", RECORDS / f"{name}.txt"
                kept.write_bytes(now.read_bytes()) if now.exists() else kept.unlink()
    sys.stdout.write(f"{n_different} of {len(names)} sessions differ from the record\n")
    return 0 if arguments.renew else int(n_different > 0)


if __name__ == "__main__":
    warnings.simplefilter("default")
    sys.exit(main())
