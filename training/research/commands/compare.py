"""Compare runs: ``surtitle-research compare`` reports which differences are significant.

Each later run is compared with the first, policy by policy, on the same sentences. ``RUN:POLICY``
picks one policy of a run: picked policies are compared though their names differ.
``training.research.comparison.paired_bootstrap`` computes the significance. Files in the output
folder:

* ``compare.json``: an object of ``settings`` (of the bootstrap), ``runs`` (folders and what was
  run), ``scores`` (a row for each policy of each run) and ``differences`` (a row for each policy
  of each later run that the first has too: later minus first).
* ``compare.png``: BLEU over LAAL of all runs, offline as dashed lines.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from training.commands.common_arguments import settings_from
from training.data.corpus import replacing, write_json
from training.evaluation.plots import table
from training.evaluation.plots.quality_latency import Curve, Point, draw
from training.evaluation.plots.table import Cell
from training.research.comparison.contenders import Contender, Row, read_contenders, rows

if TYPE_CHECKING:
    from training.research.comparison.comparison import Comparison
    from training.research.comparison.paired_bootstrap import BootstrapSettings

_SCORES = (
    "policy", "run", "bleu", "chrf", "laal", "tokens_fed", "tokens_recomputed",
    "gflops_per_sentence", "ms_per_word_p50", "n_empty",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A comparison of a later run with the first, and the names of runs and policies."""

    run: str
    policy: str
    against: str
    against_policy: str
    comparison: "Comparison"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``compare`` to the command line."""
    parser = subparsers.add_parser(
        "compare",
        help="report which differences between runs of evaluate are significant",
        description="Compare runs of evaluate over the same test set with the first of them.",
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run folder of evaluate, or FOLDER:POLICY for each to compare unlike policies",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("compare"), metavar="DIR", help="(%(default)s)"
    )
    parser.add_argument(
        "--samples",
        dest="n_samples",
        type=int,
        default=1000,
        metavar="N",
        help="of the bootstrap (%(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=12345, metavar="N", help="of the bootstrap (%(default)s)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, compare, print, write, draw."""
    from training.research.comparison.paired_bootstrap import BootstrapSettings  # noqa: PLC0415  sacreBLEU; help is quick

    settings = settings_from(arguments, BootstrapSettings)
    contenders = read_contenders(arguments.runs)
    lined_up = rows(contenders)
    with replacing(arguments.out / "compare.json") as partial:  # fails now if it cannot be written
        found = list(compare_rows(contenders, lined_up, settings))
        write_json(partial, report(contenders, found, settings))
    sys.stdout.write(tables(contenders, lined_up, found, settings))
    draw([_curve(contender) for contender in contenders], arguments.out / "compare.png")
    sys.stderr.write(f"compare.json and compare.png are in {arguments.out}\n")
    return 0


def compare_rows(
    contenders: Sequence[Contender], lined_up: Sequence[Row], settings: "BootstrapSettings"
) -> Iterator[Found]:
    """Compare each later contender with the first, row by row, under a progress bar."""
    from training.research.comparison.comparison import compare  # noqa: PLC0415  sacreBLEU; help is quick

    language = contenders[0].run.record.language
    pairs = [
        (row[0], later, contender.name)
        for row in lined_up
        for later, contender in zip(row[1:], contenders[1:], strict=True)
    ]
    for first, later, name in tqdm(pairs, unit=" comparisons", disable=None, leave=False):
        if first is not None and later is not None:
            yield Found(
                run=name,
                policy=later.scores.policy,
                against=contenders[0].name,
                against_policy=first.scores.policy,
                comparison=compare(first, later, language, settings),
            )


def report(
    contenders: Sequence[Contender], found: Sequence[Found], settings: "BootstrapSettings"
) -> dict[str, object]:
    """Return the content of ``compare.json``."""
    return {
        "settings": asdict(settings),
        "runs": [
            {"name": one.name, "folder": str(one.run.folder), **asdict(one.run.record)}
            for one in contenders
        ],
        "scores": [
            {"run": one.name, **asdict(policy.scores)}
            for one in contenders
            for policy in one.policies.values()
        ],
        "differences": [
            {key: value for key, value in asdict(one).items() if key != "comparison"}
            | asdict(one.comparison)
            for one in found
        ],
    }


def tables(
    contenders: Sequence[Contender],
    lined_up: Sequence[Row],
    found: Sequence[Found],
    settings: "BootstrapSettings",
) -> str:
    """Return a table of scores, a table of differences, and the settings of the bootstrap."""
    scores: list[dict[str, Cell]] = [
        {"run": contender.name, **asdict(policy.scores)}
        for row in lined_up
        for policy, contender in zip(row, contenders, strict=True)
        if policy is not None
    ]
    text, name = table.draw(_SCORES, scores), contenders[0].name
    if not found:
        return f"{text}\nno policy is in {name} and in another run\n"
    differences = [_difference_row(one) for one in found]
    one = found[0].comparison
    return (
        f"{text}\neach run minus {name}:\n{table.draw(tuple(differences[0]), differences)}"
        f"95 % intervals and two-sided p of the paired bootstrap, {settings.n_samples} samples, "
        f"seed {settings.seed};\nn: sentences for which both runs wrote something\n"
        f"{one.bleu.signature}\n{one.chrf.signature}\n"
    )


def _difference_row(found: Found) -> dict[str, Cell]:
    row: dict[str, Cell] = {"policy": found.policy, "run": found.run}
    for name, one in (("bleu", found.comparison.bleu), ("laal", found.comparison.laal)):
        row[name] = None if one is None else f"{one.difference:+.2f}"
        row[f"{name} 95 %"] = None if one is None else f"[{one.low:+.2f}, {one.high:+.2f}]"
        row[f"{name} p"] = None if one is None else f"{one.p:.3f}"
    row["n"] = 0 if found.comparison.laal is None else found.comparison.laal.n_sentences
    return row


def _curve(contender: Contender) -> Curve:
    scores = [policy.scores for policy in contender.policies.values()]
    points = tuple(Point(one.policy, one.laal, one.bleu, one.lag_s_p50) for one in scores)
    return Curve(contender.name, points)
