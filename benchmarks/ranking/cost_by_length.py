"""What translating costs by length of the target, from logs (SimulMask, tables 1 and 2).

    .venv/bin/python -m benchmarks.ranking.cost_by_length runs/prefix-1-runs runs/SimulMask-1-runs

Nothing is decoded: ``evaluate`` wrote the logs. README.md tells how to read the table.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.ranking.experiments import bucket, draw
from engine.metrics.event_log import Event
from engine.metrics.replay import read_events
from engine.metrics.units import unit_ends
from training.evaluation.workers import log_paths

COLUMNS = (
    "run", "target words", "lines", "rows first computed", "rows recomputed", "recomputed / first",
    "GFLOPs a sentence", "recomputed, % of GFLOPs", "ms a sentence", "recomputed, % of time",
)  # fmt: skip


@dataclass
class Cost:
    """What one line cost so far; ``again`` is the part for rows that were computed before.

    Attributes:
        text: committed so far.
        since_s: the newest event before the pass to come.
    """

    text: str = ""
    rows: int = 0
    rows_again: int = 0
    flops: float = 0.0
    flops_again: float = 0.0
    seconds: float = 0.0
    seconds_again: float = 0.0
    since_s: float = 0.0

    def take(self, event: Event) -> None:
        """Count a forward pass; its time is divided among its rows, as its operations are."""
        match event["event"]:
            case "fed":
                n_rows, n_again = len(event["ids"]), event["n_again"]
                seconds = event["at_s"] - self.since_s
                self.rows += n_rows
                self.rows_again += n_again
                self.flops += event["flops"]
                self.flops_again += event["flops"] * n_again / n_rows
                self.seconds += seconds
                self.seconds_again += seconds * n_again / n_rows
            case "committed":
                self.text += event["text"]
            case _:
                pass
        self.since_s = event["at_s"]


def main(argv: Sequence[str] | None = None) -> None:
    """Read the logs and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="DIR", help="folders of evaluate")
    parser.add_argument("--policy", default="wait:3", metavar="P", help="(%(default)s)")
    parser.add_argument("--edges", type=int, nargs="+", default=[10, 20, 30, 40], metavar="N")
    arguments = parser.parse_args(argv)
    rows = [
        row
        for folder in arguments.runs
        for row in rows_of(folder.name, read_costs(folder, arguments.policy), arguments.edges)
    ]
    print(draw(COLUMNS, rows))


def read_costs(folder: Path, policy: str) -> list[Cost]:
    """Read what each line cost; of a line in several logs, the oldest counts."""
    costs = dict[int, Cost]()
    for path in log_paths(folder / "log", policy):
        for index, cost in costs_of(read_events(path)):
            costs.setdefault(index, cost)
    return list(costs.values())


def costs_of(events: Iterable[Event]) -> Iterator[tuple[int, Cost]]:
    """Yield the index and the cost of each complete line of a log."""
    index, cost = -1, Cost()
    for event in events:
        if event["event"] == "line":
            index, cost = event["index"], Cost(since_s=event["at_s"])
        elif event["event"] == "line_ended":
            if index >= 0:
                yield index, cost
            index = -1
        else:
            cost.take(event)


def rows_of(name: str, costs: Sequence[Cost], edges: Sequence[int]) -> Iterator[list[str]]:
    """Yield a row of the table for each bucket of lengths, and one for all lines that have text."""
    n_words = {id(cost): len(unit_ends(cost.text, spaced=True)) for cost in costs}
    written = [cost for cost in costs if n_words[id(cost)]]
    of_lengths: dict[str, list[Cost]] = {}
    for cost in sorted(written, key=lambda one: n_words[id(one)]):
        of_lengths.setdefault(bucket(n_words[id(cost)], edges), []).append(cost)
    for length, some in [*of_lengths.items(), ("all", written)]:
        if not some:
            continue
        first = fmean(one.rows - one.rows_again for one in some)
        again = fmean(one.rows_again for one in some)
        flops, seconds = sum(one.flops for one in some), sum(one.seconds for one in some)
        yield [
            name, length, str(len(some)), f"{first:.1f}", f"{again:.1f}", f"{again / first:.2f}",
            f"{flops / len(some) / 1e9:.3f}",
            f"{100 * sum(one.flops_again for one in some) / flops:.1f}",
            f"{1000 * seconds / len(some):.1f}",
            f"{100 * sum(one.seconds_again for one in some) / seconds:.1f}",
        ]  # fmt: skip


if __name__ == "__main__":
    main()
