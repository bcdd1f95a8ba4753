"""The experiments that are to settle how ExPosST, GPE and the others rank, and why.

    .venv/bin/python -m benchmarks.ranking.experiments E1 --base plain=models/ordinary \
        --data de=data/chat.aligned.tsv --set chat=chat.en,chat.de --out runs/ranking

All arms are trained and decoded with several seeds, on the same base, pairs and lines, one family
of policies at a time. Lines are scored apart by their source tokens: those that fill more than one
slot of 16, and others. Every step resumes: type the same again after a stop. README.md tells how to
read the tables.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from benchmarks.methods import run
from engine.metrics.lagging import laggings
from engine.metrics.quality import make_bleu
from engine.metrics.units import n_reference_units
from engine.text.prompt import word_ids
from engine.text.tokenizer import Tokenizer, read_plain_tokenizer
from training.data.corpus import read_pairs, write_lines
from training.evaluation.runs import Sentence, read_run
from training.research.comparison.paired_bootstrap import BootstrapSettings, compare_runs

EXPOSST = "ExPosST-16"


@dataclass(frozen=True)
class Arm:
    """A method: how it is trained, and its layout for decoding if training has another one."""

    options: tuple[object, ...]
    layout: str | None = None


ARMS: Mapping[str, Arm] = {
    **{f"ExPosST-{n}": Arm(("--method", "exposst", "--slot", n)) for n in (4, 8, 16, 32, 64, 128)},
    "GPE": Arm(("--method", "gpe")),
    "prefix": Arm(("--method", "prefix")),
    "conversational": Arm(("--method", "conversational")),
    "EASiST": Arm(("--method", "easist")),
    "source-apart": Arm(("--method", "source-apart")),
    "SimulMask": Arm(("--method", "simulmask")),
    "SimulMask-plain-ALiBi": Arm(("--method", "without-slots"), layout="simulmask"),
}


@dataclass(frozen=True)
class Experiment:
    """Arms that are compared with each baseline, and options of ``finetune`` for all of them."""

    arms: tuple[str, ...]
    baselines: tuple[str, ...]
    options: tuple[object, ...] = ()


EXPERIMENTS: Mapping[str, Experiment] = {
    # positions or overflow: which slot length is best where lines overflow; ExPosST, figure 3
    "E1": Experiment(("ExPosST-8", EXPOSST, "ExPosST-32", "ExPosST-64", "GPE"), ("GPE", EXPOSST)),
    # bases that know conversations, or gaps too: name them all with --base
    "E2": Experiment((EXPOSST, "GPE", "prefix", "conversational"), ("GPE",)),
    # source rows of later slots that see no target
    "E3": Experiment((EXPOSST, "source-apart"), (EXPOSST,)),
    # pieces of source and target in turn, under read-n; benchmarks.ranking.adaptive goes on
    "easist": Experiment((EXPOSST, "conversational", "EASiST"), (EXPOSST,)),
    # on a base with ALiBi, trained with 4 more than decoded with (SimulMask, section 6.2)
    "alibi": Experiment(
        ("SimulMask", "SimulMask-plain-ALiBi", EXPOSST), ("SimulMask",), ("--k", "5,7,9,11")
    ),
}

POLICIES = {"wait-k": "wait:1,wait:3,wait:5,wait:7", "read-n": "read:1,read:2,read:3,read:5"}


@dataclass(frozen=True)
class Lines:
    """Lines of a test set and their buckets.

    Attributes:
        source, reference: files with the chosen lines.
        buckets: indices of lines by name.
    """

    name: str
    source: Path
    reference: Path
    buckets: Mapping[str, Sequence[int]]


def main(argv: Sequence[str] | None = None) -> None:
    """Train, decode, compare, print."""
    arguments, options = parse(argv)
    experiment = EXPERIMENTS[arguments.experiment]
    arms = arguments.arms or experiment.arms
    parts = list[str]()
    for named in arguments.base:
        name, _, base = named.partition("=")
        tokenizer = read_plain_tokenizer(Path(base))
        sets = [choose_lines(arguments, one, tokenizer) for one in arguments.set]
        folder = arguments.out / name / arguments.family
        for seed in arguments.seeds:
            for arm in arms:
                train(arguments, base, folder, arm, seed, (*experiment.options, *options))
                for lines in sets:
                    decode(arguments, base, folder, arm, seed, lines)
        for lines in sets:
            parts.append(f"### {name}, {arguments.family}, {lines.name}")
            parts += tables(arguments, folder, arms, experiment.baselines, lines)
    print("\n\n".join(parts))


def parse(argv: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; what is not known here goes to ``finetune``."""
    parser = argparse.ArgumentParser(
        description="Compare arms. Other options go to surtitle-train finetune."
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--base", nargs="+", required=True, metavar="NAME=DIR")
    parser.add_argument("--data", required=True, metavar="LANG=F.tsv")
    parser.add_argument("--set", nargs="+", required=True, metavar="NAME=SOURCE,REFERENCE")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--family", choices=POLICIES, default="wait-k", help="(%(default)s)")
    parser.add_argument("--decode", metavar="P,P,...", help="(those of the family)")
    parser.add_argument("--arms", nargs="+", choices=ARMS, help="(those of the experiment)")
    parser.add_argument("--seeds", nargs="+", default=["1", "2", "3"], metavar="N")
    parser.add_argument(
        "--edges", type=int, nargs="+", default=[16], metavar="N", help="of buckets, in tokens (16)"
    )
    parser.add_argument("--most", type=int, metavar="N", help="first lines of each bucket (all)")
    parser.add_argument("--batch", default=1, metavar="N", help="lines side by side (%(default)s)")
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="of the bootstrap")
    return parser.parse_known_args(argv)


def choose_lines(arguments: argparse.Namespace, named: str, tokenizer: Tokenizer) -> Lines:
    """Choose the first lines of each bucket of a set, and write them into the run folder."""
    name, _, files = named.partition("=")
    source, _, reference = files.partition(",")
    pairs = list(read_pairs((Path(source), Path(reference))))
    of_lines = [
        bucket(sum(len(word_ids(tokenizer, word)) for word in pair.source.split()), arguments.edges)
        for pair in pairs
    ]
    chosen = list[int]()
    for one in dict.fromkeys(of_lines):
        chosen += [index for index, own in enumerate(of_lines) if own == one][: arguments.most]
    chosen.sort()
    folder = arguments.out / "sets"
    folder.mkdir(parents=True, exist_ok=True)
    lines = Lines(
        name=name,
        source=folder / f"{name}.source",
        reference=folder / f"{name}.reference",
        buckets={
            one: [at for at, index in enumerate(chosen) if of_lines[index] == one]
            for one in sorted(set(of_lines), key=lambda text: int(text.split("-")[0]))
        },
    )
    write_lines(lines.source, [pairs[index].source for index in chosen])
    write_lines(lines.reference, [pairs[index].target for index in chosen])
    return lines


def bucket(n_tokens: int, edges: Sequence[int]) -> str:
    """Name the bucket of a line of so many source tokens."""
    for low, high in pairwise((0, *sorted(edges))):
        if n_tokens <= high:
            return f"{low + 1}-{high}"
    return f"{max(edges) + 1}-"


def adapter_folder(folder: Path, arm: str, seed: str) -> Path:
    """Name the folder of a trained arm."""
    return folder / f"{arm}-{seed}"


def run_folder(folder: Path, arm: str, seed: str, lines: Lines) -> Path:
    """Name the run folder of an arm on a set."""
    return folder / f"{arm}-{seed}-{lines.name}-runs"


def train(
    arguments: argparse.Namespace,
    base: str,
    folder: Path,
    arm: str,
    seed: str,
    options: Sequence[object],
) -> None:
    """Train an arm on the pairs under its family of policies."""
    run(
        "finetune", *ARMS[arm].options, "--base", base, "--data", arguments.data,
        "--policies", arguments.family, "--seed", seed,
        "--out", adapter_folder(folder, arm, seed), *options,
    )  # fmt: skip


def decode(
    arguments: argparse.Namespace, base: str, folder: Path, arm: str, seed: str, lines: Lines
) -> None:
    """Decode an arm on the lines of a set."""
    layout = ARMS[arm].layout
    run(
        "evaluate", "--source", lines.source, "--reference", lines.reference,
        "--to", language(arguments), "--policies", policies(arguments), "--model", base,
        "--adapter", adapter_folder(folder, arm, seed) / "adapter", "--batch", arguments.batch,
        "--workers", 1, *(() if layout is None else ("--layout", layout)),
        "--out", run_folder(folder, arm, seed, lines),
    )  # fmt: skip


def language(arguments: argparse.Namespace) -> str:
    """Return the target's code."""
    return str(arguments.data.partition("=")[0])


def policies(arguments: argparse.Namespace) -> str:
    """Return the policies to decode with."""
    return str(arguments.decode or POLICIES[arguments.family])


def tables(
    arguments: argparse.Namespace,
    folder: Path,
    arms: Sequence[str],
    baselines: Iterable[str],
    lines: Lines,
) -> Iterator[str]:
    """Yield a table of scores, and one of differences to each baseline that was run."""
    named = policies(arguments).split(",")
    read = {
        arm: [read_run(run_folder(folder, arm, seed, lines)) for seed in arguments.seeds]
        for arm in arms
    }
    buckets = {**lines.buckets, "all": range(sum(map(len, lines.buckets.values())))}
    columns = [(policy, name) for policy in named for name in buckets]
    cells = {
        (arm, policy, name): [
            [one.policies[policy].sentences[at] for at in buckets[name]] for one in read[arm]
        ]
        for arm in arms
        for policy, name in columns
    }
    heads = [f"{policy}, {name} ({len(buckets[name])})" for policy, name in columns]
    code = language(arguments)
    yield draw(
        ["BLEU (range) / LAAL", *heads],
        [[arm, *(scored(cells[arm, *column], code) for column in columns)] for arm in arms],
    )
    settings = BootstrapSettings(n_samples=arguments.samples, seed=1)
    for baseline in baselines:
        if baseline in arms:
            yield draw(
                [f"BLEU minus {baseline}'s", *heads],
                [
                    [arm]
                    + [
                        difference(cells[baseline, *column], cells[arm, *column], code, settings)
                        for column in columns
                    ]
                    for arm in arms
                    if arm != baseline
                ],
            )


def scored(runs: Sequence[Sequence[Sentence]], code: str) -> str:
    """Show the mean BLEU of the seeds, its range, and the mean LAAL."""
    if not runs[0]:
        return "-"
    metric = make_bleu(code)
    bleus = [
        metric.corpus_score(
            [one.translation.hypothesis for one in sentences],
            [[one.reference for one in sentences]],
        ).score
        for sentences in runs
    ]
    laals = [
        laggings(one.translation, n_reference_units(one.reference, code)).laal
        for sentences in runs
        for one in sentences
        if one.translation.delays
    ]
    lag = f"{fmean(laals):.2f}" if laals else "-"
    return f"{fmean(bleus):.1f} ({min(bleus):.1f}-{max(bleus):.1f}) / {lag}"


def difference(
    first: Sequence[Sequence[Sentence]],
    second: Sequence[Sequence[Sentence]],
    code: str,
    settings: BootstrapSettings,
) -> str:
    """Show a difference in BLEU, its 95 % interval and its p: lines are drawn, seeds pooled."""
    if not first[0]:
        return "-"
    texts = (
        [[one.translation.hypothesis for one in sentences] for sentences in first],
        [[one.translation.hypothesis for one in sentences] for sentences in second],
    )
    references = [one.reference for one in first[0]]
    found = compare_runs(make_bleu(code), texts, references, settings)
    return f"{found.difference:+.2f} [{found.low:+.2f}, {found.high:+.2f}] p {found.p:.3f}"


def draw(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Draw a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
