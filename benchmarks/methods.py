"""Train every method on the same base and pairs, decode them all, and draw one table.

    .venv/bin/python -m benchmarks.methods --base models/ordinary --data de=data/en-de.aligned.tsv \
        --source dev.en --reference dev.de --out runs/methods

Both steps resume: type the same again after a stop. README.md tells how to read the table.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from benchmarks.boxes import draw_boxes
from training.plots.quality_latency import Curve, Point, draw

OFFLINE = "offline"
COSTED = ("wait:3", "read:5")
"""As in ExPosST, figure 8."""

POLICIES = "wait:1,wait:3,wait:5,wait:7,read:3,read:5,read:7,read:9"


@dataclass(frozen=True)
class System:
    """A trained method and the layout it is decoded with."""

    name: str
    method: str
    layout: str
    offline: bool = False


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
    System("offline", "causal", "recomputed", offline=True),
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
        print(table(arguments.out, systems, arguments.decode.split(","), seed), flush=True)
    if arguments.pictures is not None:
        draw_pictures(arguments.out, systems, arguments.seeds.split(",")[0], arguments.pictures)


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
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="draw the first seed's")
    parser.add_argument("--decode", default=POLICIES, metavar="P,P,...", help="(%(default)s)")
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
        "--to", language, "--policies", OFFLINE if system.offline else arguments.decode,
        "--limit", arguments.limit,
        "--model", arguments.base,
        "--adapter", adapter_folder(arguments.out, system.method, seed) / "adapter",
        "--layout", system.layout, "--out", run_folder(arguments.out, system, seed),
    )  # fmt: skip


def run(command: str, *arguments: object) -> None:
    """Run a training command; what it says goes to the terminal."""
    words = [sys.executable, "-m", "training", command, *map(str, arguments)]
    print("$", *words[1:], file=sys.stderr, flush=True)
    subprocess.run(words, check=True, stdout=sys.stderr)


def table(out: Path, systems: Sequence[System], policies: Sequence[str], seed: str) -> str:
    """Draw BLEU / LAAL for every system and policy, and the operations of a sentence."""
    costed = [policy for policy in COSTED if policy in policies]
    columns = ["system", *policies, *(f"GFLOPs, {one}" for one in costed), "recomputed"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for system in systems:
        folder = run_folder(out, system, seed)
        scores = read_scores(folder)
        shown = [OFFLINE] if system.offline else policies
        cells = [cell(scores[policy]) for policy in shown]
        cells += [""] * (len(policies) - len(shown))
        costly = [OFFLINE] if system.offline else costed
        cells += [box(gflops(folder, policy)) for policy in costly]
        cells += [""] * (len(costed) - len(costly))
        cells.append(str(scores[costly[0]]["tokens_recomputed"]))
        lines.append("| " + " | ".join([system.name, *cells]) + " |")
    return "\n".join(lines)


def read_scores(folder: Path) -> dict[str, dict[str, object]]:
    """Read the scores of a run, by policy."""
    return {one["policy"]: one for one in json.loads((folder / "summary.json").read_text())}


def box(values: Sequence[float]) -> str:
    """Show lower quartile, median and upper quartile."""
    return " ".join(f"{value:.2f}" for value in quantiles(values, n=4))


def cell(score: dict[str, object]) -> str:
    """Show BLEU and LAAL."""
    laal = score["laal"]
    return f"{score['bleu']:.1f} / {'-' if laal is None else f'{laal:.2f}'}"


def gflops(folder: Path, policy: str) -> list[float]:
    """Read what each sentence cost under a policy."""
    lines = (folder / f"{policy}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["flops"] / 1e9 for line in lines]


def draw_pictures(out: Path, systems: Sequence[System], seed: str, folder: Path) -> None:
    """Draw BLEU over LAAL, wait-k and read-n apart, and boxes of the operations of a sentence."""
    boxes = {}
    curves: dict[str, list[Curve]] = {"wait": [], "read": []}
    for system in systems:
        scores = read_scores(run_folder(out, system, seed))
        for family, drawn in curves.items():
            points = [
                Point(policy, one["laal"], one["bleu"])
                for policy, one in scores.items()
                if policy.startswith((family, OFFLINE))
            ]
            drawn.append(Curve(system.name, tuple(points)))
        for policy in COSTED:
            if policy in scores:
                label = f"{system.name}, {policy}"
                boxes[label] = gflops(run_folder(out, system, seed), policy)
    for family, drawn in curves.items():
        draw(drawn, folder / f"methods_{family}.png", title=f"{family}-{'kn'[family == 'read']}")
    draw_boxes(boxes, folder / "methods_gflops.png", "GFLOPs a sentence")


if __name__ == "__main__":
    main()
