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
from statistics import fmean, quantiles

from matplotlib.figure import Figure

from training.commands.evaluate import POLICIES

OFFLINE = "offline"
COLOURS = (  # Okabe and Ito's and a grey, which most people can tell apart
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C8C8C",
)  # fmt: skip
MARKERS = "osDhp8^v"  # all of them wide enough for a number
COSTED = ("wait:3", "read:5")
"""As in ExPosST, figure 8."""


@dataclass(frozen=True)
class Score:
    """Of one run under one policy; a policy that writes nothing has no LAAL."""

    bleu: float
    laal: float | None
    n_recomputed: int


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
    System("EASiST-text", "easist", "interleaved"),
    System("SimulMask", "simulmask", "simulmask"),
    System("SimulMask, plain ALiBi", "without-slots", "simulmask"),
    System("prefix, recomputed", "prefix", "recomputed"),
    System("prefix, cached", "prefix", "cached"),
    System("causal, recomputed", "causal", "recomputed"),
    System("offline", "causal", "recomputed", offline=True),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Train, decode and print."""
    arguments, options = parse(argv)
    systems = [one for one in SYSTEMS if one.name in arguments.systems]
    seeds = arguments.seeds.split(",")
    for seed in seeds:
        for method in dict.fromkeys(one.method for one in systems):
            adapter = adapter_folder(arguments.out, method, seed)
            fixed = ("--base", arguments.base, "--data", arguments.data, "--seed", seed)
            run("finetune", "--method", method, *fixed, "--out", adapter, *options)
        for system in systems:
            evaluate(arguments, system, seed)
    print(table(arguments.out, systems, arguments.decode.split(","), seeds))
    if arguments.pictures is not None:
        draw_pictures(arguments.out, systems, seeds, arguments.pictures)


def parse(argv: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; what is not known here goes to ``finetune``."""
    names = [one.name for one in SYSTEMS]
    usual = [one.name for one in SYSTEMS if one.layout not in ("simulmask", "interleaved")]
    parser = argparse.ArgumentParser(
        description="Compare methods. Other options go to surtitle-train finetune."
    )
    parser.add_argument("--base", required=True, metavar="DIR")
    parser.add_argument("--data", required=True, metavar="LANG=F.tsv")
    parser.add_argument("--source", required=True, metavar="F")
    parser.add_argument("--reference", required=True, metavar="F")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="draw the means")
    parser.add_argument(
        "--decode", default=",".join(POLICIES), metavar="P,P,...", help="(%(default)s)"
    )
    parser.add_argument("--limit", default="300", metavar="N", help="sentences (%(default)s)")
    parser.add_argument("--seeds", default="1", metavar="N,N", help="(%(default)s)")
    parser.add_argument(
        "--systems",
        nargs="+",
        choices=names,
        default=usual,
        help="(all but SimulMask, and EASiST-text, which learns no wait-k)",
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
    """Run a command of research, which has the methods; what it says goes to the terminal."""
    words = [sys.executable, "-m", "training.research", command, *map(str, arguments)]
    print("$", *words[1:], file=sys.stderr, flush=True)
    subprocess.run(words, check=True, stdout=sys.stderr)


def table(
    out: Path, systems: Sequence[System], policies: Sequence[str], seeds: Sequence[str]
) -> str:
    """Draw BLEU / LAAL for every system and policy, and the operations of a sentence.

    Several seeds give means, with the range of BLEU; operations are those of all their sentences.
    """
    costed = [policy for policy in COSTED if policy in policies]
    columns = ["system", *policies, *(f"GFLOPs, {one}" for one in costed), "recomputed"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for system in systems:
        folders = [run_folder(out, system, seed) for seed in seeds]
        scores = [read_scores(folder) for folder in folders]
        shown = [OFFLINE] if system.offline else policies
        cells = [cell([one[policy] for one in scores]) for policy in shown]
        cells += [""] * (len(policies) - len(shown))
        costly = [OFFLINE] if system.offline else costed
        cells += [box(gflops(folders, policy)) for policy in costly]
        cells += [""] * (len(costed) - len(costly))
        cells.append(f"{fmean(one[costly[0]].n_recomputed for one in scores):.0f}")
        lines.append("| " + " | ".join([system.name, *cells]) + " |")
    return "\n".join(lines)


def read_scores(folder: Path) -> dict[str, Score]:
    """Read the scores of a run, by policy."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return {
        one["policy"]: Score(one["bleu"], one["laal"], one["tokens_recomputed"]) for one in summary
    }


def box(values: Sequence[float]) -> str:
    """Show lower quartile, median and upper quartile."""
    return " ".join(f"{value:.2f}" for value in quantiles(values, n=4))


def cell(scores: Sequence[Score]) -> str:
    """Show the mean BLEU of the seeds, its range, and the mean LAAL."""
    bleus = [score.bleu for score in scores]
    spread = f" ({min(bleus):.1f}-{max(bleus):.1f})" if len(bleus) > 1 else ""
    laal = mean_laal(scores)
    return f"{fmean(bleus):.1f}{spread} / {'-' if laal is None else f'{laal:.2f}'}"


def mean_laal(scores: Sequence[Score]) -> float | None:
    """Return the mean LAAL of the seeds that have one."""
    laals = [score.laal for score in scores if score.laal is not None]
    return fmean(laals) if laals else None


def gflops(folders: Sequence[Path], policy: str) -> list[float]:
    """Read what each sentence of some runs cost under a policy."""
    return [
        json.loads(line)["flops"] / 1e9
        for folder in folders
        for line in (folder / f"{policy}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def draw_pictures(out: Path, systems: Sequence[System], seeds: Sequence[str], folder: Path) -> None:
    """Draw mean BLEU over mean LAAL, 800 pixels wide, a family of policies each.

    The number in a mark is that of its policy; what is read whole is a line.
    """
    runs = {
        system.name: [read_scores(run_folder(out, system, seed)) for seed in seeds]
        for system in systems
    }
    for family, letter in (("wait", "k"), ("read", "n")):
        figure = Figure((8.0, 5.0 + 0.22 * len(systems)), dpi=100, layout="constrained")
        axes = figure.add_subplot(xlabel="LAAL (source words)", ylabel="BLEU")
        axes.set_title(f"{family}-{letter}")
        for index, (name, own) in enumerate(runs.items()):
            mark = {"color": COLOURS[index % 8], "marker": MARKERS[index % 8], "label": name}
            bleus = {policy: fmean(run[policy].bleu for run in own) for policy in own[0]}
            laals = {policy: mean_laal([run[policy] for run in own]) for policy in own[0]}
            if OFFLINE in bleus:
                axes.axhline(bleus[OFFLINE], color=mark["color"], linestyle="--")
            points = sorted(
                (laal, bleus[policy], policy.partition(":")[2])
                for policy, laal in laals.items()
                if policy.startswith(family) and laal is not None
            )
            axes.plot([x for x, *_ in points], [y for _, y, _ in points], markersize=13, **mark)
            for x, y, number in points:
                axes.annotate(number, (x, y), ha="center", va="center", fontsize=6.5, color="white")
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
        figure.savefig(folder / f"methods_{family}.png", metadata={"Software": None})


if __name__ == "__main__":
    main()
