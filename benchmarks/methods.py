"""Train every method on the same base and pairs, decode them all, and draw one table.

    .venv/bin/python -m benchmarks.methods --base models/ordinary --data de=data/en-de.aligned.tsv \
        --source dev.en --reference dev.de --out runs/methods

Both steps resume: type the same again after a stop. README.md tells how to read the table.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

POLICIES = tuple(f"wait:{k}" for k in (1, 3, 5, 7)) + tuple(f"read:{n}" for n in (3, 5, 7, 9))


@dataclass(frozen=True)
class System:
    """A trained method and the layout it is decoded with."""

    name: str
    method: str
    layout: str
    policies: tuple[str, ...] = POLICIES


SYSTEMS = (
    System("ExPosST", "exposst", "slots"),
    System("without mask", "without-mask", "slots"),
    System("without slots", "without-slots", "cached"),
    System("GPE", "gpe", "gpe"),
    System("conversational", "conversational", "conversational"),
    System("SimulMask", "simulmask", "simulmask"),
    System("prefix, recomputed", "prefix", "recomputed"),
    System("prefix, cached", "prefix", "cached"),
    System("causal, recomputed", "causal", "recomputed"),
    System("offline", "causal", "recomputed", ("offline",)),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Train, decode and print."""
    arguments, options = parse(argv)
    systems = [one for one in SYSTEMS if one.name in arguments.systems]
    for seed in arguments.seeds.split(","):
        for method in dict.fromkeys(one.method for one in systems):
            adapter = adapter_folder(arguments.out, method, seed)
            fixed = ("--base", arguments.base, "--data", arguments.data, "--seed", seed)
            run("finetune", "--method", method, *fixed, "--out", adapter, *options)
        for system in systems:
            evaluate(arguments, system, seed)
        print(table(arguments.out, systems, seed), flush=True)


def parse(argv: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; what is not known here goes to ``finetune``."""
    names = [one.name for one in SYSTEMS]
    without_alibi = [one.name for one in SYSTEMS if one.method != "simulmask"]
    parser = argparse.ArgumentParser(
        description="Compare methods. Other options go to surtitle-train finetune."
    )
    parser.add_argument("--base", required=True, metavar="DIR")
    parser.add_argument("--data", required=True, metavar="LANG=F.tsv")
    parser.add_argument("--source", required=True, metavar="F")
    parser.add_argument("--reference", required=True, metavar="F")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--limit", default="300", metavar="N", help="sentences (%(default)s)")
    parser.add_argument("--seeds", default="1", metavar="N,N", help="(%(default)s)")
    parser.add_argument(
        "--systems", nargs="+", choices=names, default=without_alibi, help="(all but SimulMask)"
    )
    return parser.parse_known_args(argv)


def adapter_folder(out: Path, method: str, seed: str) -> Path:
    """Name the folder of a trained method."""
    return out / f"{method}-{seed}"


def run_folder(out: Path, system: System, seed: str) -> Path:
    """Name the run folder of a system."""
    return out / f"{system.name.replace(', ', '-').replace(' ', '-')}-{seed}-runs"


def evaluate(arguments: argparse.Namespace, system: System, seed: str) -> None:
    """Decode a system under its policies."""
    language = arguments.data.partition("=")[0]
    run(
        "evaluate", "--source", arguments.source, "--reference", arguments.reference,
        "--to", language, "--policies", ",".join(system.policies), "--limit", arguments.limit,
        "--model", arguments.base,
        "--adapter", adapter_folder(arguments.out, system.method, seed) / "adapter",
        "--layout", system.layout, "--out", run_folder(arguments.out, system, seed),
    )  # fmt: skip


def run(command: str, *arguments: object) -> None:
    """Run a training command; what it says goes to the terminal."""
    words = [sys.executable, "-m", "training", command, *map(str, arguments)]
    print("$", *words[1:], file=sys.stderr, flush=True)
    subprocess.run(words, check=True, stdout=sys.stderr)


def table(out: Path, systems: Sequence[System], seed: str) -> str:
    """Draw BLEU / LAAL for every system and policy, and what a sentence costs under wait:3."""
    columns = ["system", *POLICIES, "GFLOPs a sentence, wait:3: quartiles", "recomputed"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for system in systems:
        folder = run_folder(out, system, seed)
        scores = {one["policy"]: one for one in json.loads((folder / "summary.json").read_text())}
        cells = [system.name, *(cell(scores.get(policy)) for policy in POLICIES)]
        shown = "wait:3" if "wait:3" in scores else system.policies[0]
        if shown == "offline":
            cells[1:] = [cell(scores[shown]), *[""] * (len(POLICIES) - 1)]
        low, middle, high = quantiles(gflops(folder / f"{shown}.jsonl"), n=4)
        cells += [f"{low:.2f} {middle:.2f} {high:.2f}", str(scores[shown]["tokens_recomputed"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell(score: dict[str, object] | None) -> str:
    """Show BLEU and LAAL."""
    if score is None or score["laal"] is None:
        return "" if score is None else f"{score['bleu']:.1f} / -"
    return f"{score['bleu']:.1f} / {score['laal']:.2f}"


def gflops(path: Path) -> Iterator[float]:
    """Read what each sentence cost."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["flops"] / 1e9


if __name__ == "__main__":
    main()
