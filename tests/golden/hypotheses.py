"""Keep what the bundled model says of test sets, and how many rows that takes; compare with it.

    .venv/bin/python -m tests.golden.hypotheses SETS FILE --record          # keeps, also in parts
    .venv/bin/python -m tests.golden.hypotheses SETS FILE [--only NAME]     # compares

SETS is a folder of test sets: ``NAME/en-de.en`` and ``NAME/en-de.de``, as ``shared/data/dev`` has
them. FILE is a file of JSON lines outside the repository, one for each line of a set under each
policy. A change that shall change no caption is compared on the machine and under the settings on
which FILE was kept: elsewhere the last digits of a logit differ, and rarely a word with them.

Exit code: 0 where all is the same, 1 where something differs.
"""

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from training.__main__ import main as surtitle_train

POLICIES = "read:3,wait:3,stable:2,offline"
REDRAFTED = "stable:"
KEPT = ("hypothesis", "tokens_fed", "tokens_recomputed", "forwards", "probes")
MOST_SHOWN = 20


def evaluated(folder: Path, out: Path, limit: int, batch: int) -> Iterator[str]:
    """Evaluate one test set; yield a row for each line under each policy."""
    policies = POLICIES.split(",")
    drafted = [one for one in policies if one.startswith(REDRAFTED)]
    slots = [one for one in policies if not one.startswith(REDRAFTED)]
    for system, chosen in (("slots", slots), ("retranslate", drafted)):
        run = out / f"{folder.name}-{system}"
        code = surtitle_train(
            [
                "evaluate", "--to", "de", "--policies", ",".join(chosen), "--system", system,
                "--source", str(folder / "en-de.en"), "--reference", str(folder / "en-de.de"),
                "--limit", str(limit), "--batch", str(batch), "--workers", "1", "--out", str(run),
            ]
        )  # fmt: skip
        if code:
            sys.exit(code)
        for policy in chosen:
            lines = (run / f"{policy}.jsonl").read_text("utf-8").splitlines()
            for index, line in enumerate(lines):
                translation = json.loads(line)
                row = {"set": folder.name, "policy": policy, "index": index}
                row |= {name: translation[name] for name in KEPT}
                yield json.dumps(row, ensure_ascii=False)


def read(file: Path) -> dict[str, list[str]]:
    """Return the kept rows of each set."""
    rows: dict[str, list[str]] = {}
    for row in file.read_text("utf-8").splitlines() if file.exists() else ():
        rows.setdefault(json.loads(row)["set"], []).append(row)
    return rows


def differing(before: list[str], now: list[str]) -> list[str]:
    """Return the rows that differ, as a diff writes them."""
    pairs = itertools.zip_longest(before, now, fillvalue="")
    return [text for old, new in pairs if old != new for text in (f"-{old}", f"+{new}")]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", type=Path, metavar="SETS")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--record", action="store_true", help="keep what is, instead of comparing")
    parser.add_argument("--limit", type=int, default=300, help="lines kept of a set (%(default)s)")
    parser.add_argument("--only", metavar="NAME", help="one of the sets")
    parser.add_argument("--batch", type=int, default=32, help="lines at a time (%(default)s)")
    arguments = parser.parse_args(argv)
    kept = read(arguments.file)
    names = sorted(path.parent.name for path in arguments.sets.glob("*/en-de.en"))
    names = [one for one in names if (one in kept) != arguments.record]
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in [one for one in names if arguments.only in (None, one)]:
            limit, folder = arguments.limit, arguments.sets / name
            if not arguments.record:
                limit = 1 + max(json.loads(row)["index"] for row in kept[name])
            rows = list(evaluated(folder, Path(temporary), limit, arguments.batch))
            found += differing(kept.get(name, []), rows)
            if arguments.record:
                with arguments.file.open("a", encoding="utf-8") as file:
                    file.write("".join(f"{row}\n" for row in rows))
    if arguments.record:
        return 0
    sys.stdout.write("\n".join([*found[:MOST_SHOWN], f"{len(found)} lines of a diff", ""]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
