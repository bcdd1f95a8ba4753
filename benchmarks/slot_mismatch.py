"""Decode one adapter with slots of other lengths than it was trained with (ExPosST, table 1).

    .venv/bin/python -m benchmarks.slot_mismatch --base models/ordinary --to de \
        --adapter runs/methods/exposst-1/adapter --source dev.en --reference dev.de --out runs/slots

Runs resume: type the same again after a stop. README.md tells how to read the table.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.methods import cell, read_scores, run

WAITS = tuple(f"wait:{k}" for k in (1, 3, 5, 7))
SLOTS = (4, 8, 16, 32, 64)
PUBLISHED = {
    4: (12.94, 19.81, 13.31, 13.23),
    8: (16.84, 25.92, 29.18, 26.81),
    16: (18.16, 26.97, 30.94, 32.15),
    32: (17.82, 27.11, 31.08, 32.39),
    64: (15.94, 26.79, 31.07, 32.46),
}
"""BLEU of Llama-3.1-8B-Instruct on IWSLT 2017 English-German, trained with slots of 16."""


def main(argv: Sequence[str] | None = None) -> None:
    """Decode and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--base", type=Path, metavar="DIR", help="(the bundled model)")
    parser.add_argument("--adapter", type=Path, metavar="DIR")
    parser.add_argument("--to", required=True, metavar="LANG")
    parser.add_argument("--source", required=True, metavar="F")
    parser.add_argument("--reference", required=True, metavar="F")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--limit", default="300", metavar="N", help="sentences (%(default)s)")
    arguments = parser.parse_args(argv)
    named = {"--model": arguments.base, "--adapter": arguments.adapter}
    chosen = [word for name, value in named.items() if value for word in (name, value)]
    for slot in SLOTS:
        run(
            "evaluate", "--source", arguments.source, "--reference", arguments.reference,
            "--to", arguments.to, "--policies", ",".join(WAITS), "--limit", arguments.limit,
            *chosen, "--slot", slot, "--out", arguments.out / str(slot),
        )  # fmt: skip
    print(table(arguments.out))


def table(out: Path) -> str:
    """Draw BLEU / LAAL by slot length and policy, and the published BLEU beside them."""
    columns = ["slot", *WAITS, *(f"paper, {wait}" for wait in WAITS)]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for slot in SLOTS:
        scores = read_scores(out / str(slot))
        published = [f"{bleu:.1f}" for bleu in PUBLISHED[slot]]
        cells = [str(slot), *(cell(scores[wait]) for wait in WAITS), *published]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
