"""Learn by reward, fine-tune and ablate with several seeds, on the same pairs; compare; report.

    python -m benchmarks.seqpo --data unseen.aligned.tsv --set chat=chat.en,chat.de --out DIR

Arms that are compared with the start and with each other have all seeds; ablations have the first.
All have the same base, rank, pairs, sources a step and number of steps, and what is compared is the
last step: none is chosen. Everything goes in pieces of some minutes, each in a process of its own,
and what is done is left out when the command is typed again. The exit status is 3 while there is
more to do, 0 at the end. ``DIR/report.md`` is written anew by each call.
"""

import argparse
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tomli_w

from benchmarks.seqpo.report import report
from training.data.aligned_pairs import read_aligned
from training.data.corpus import replacing

ROOT = Path(__file__).parents[2]
PROGRAMS = {"seqpo": "training.research", "finetune": "training"}
START = "start"
MORE_TO_DO = 3
Table = dict[str, object]


@dataclass(frozen=True)
class Arm:
    """A kind of run: the command, settings that are not those of its recipe, and its seeds.

    Attributes:
        changes: tables of settings.
        is_compared: it is run with all seeds.
    """

    command: str
    changes: Mapping[str, Table] = field(default_factory=dict)
    is_compared: bool = False


def ablation(**changes: object) -> Arm:
    """Return an arm of seqpo with other settings."""
    return Arm("seqpo", {"seqpo": changes})


ARMS: Mapping[str, Arm] = {
    "seqpo": Arm("seqpo", is_compared=True),
    "finetune": Arm("finetune", is_compared=True),
    "finetune-slow": Arm("finetune", {"optimisation": {"rate": 1e-4}}),  # the rate of seqpo
    "quality-only": ablation(lag_weight=0.0),
    "not-normalised": ablation(normalised=False),
    "literal": ablation(truncation="literal"),
    "after": ablation(truncation="after"),
    "hinge": ablation(reward="hinge"),
    "not-truncated": ablation(truncation="none"),
    "not-truncated-al": ablation(truncation="none", adaptive=False),
}
"""By name; the first is what the others are held against."""


@dataclass(frozen=True)
class Run:
    """An arm with a seed, or the start; owner of the names of its folders."""

    out: Path
    arm: str
    seed: int

    @property
    def name(self) -> str:
        """Name it."""
        return START if self.arm == START else f"{self.arm}-{self.seed}"

    @property
    def folder(self) -> Path:
        """Where it is trained."""
        return self.out / self.name

    def decoded(self, name: str) -> Path:
        """Where a test set is decoded."""
        return self.out / f"{self.name}-{name}"


def main(argv: Sequence[str] | None = None) -> int:
    """Do what is left to do, as long as it may last; report."""
    arguments = parse(argv)
    arguments.out.mkdir(parents=True, exist_ok=True)
    runs = runs_of(arguments)
    deadline_s = time.monotonic() + 60 * arguments.minutes
    is_done = True
    for piece in pieces(arguments, runs):
        if time.monotonic() > deadline_s:
            is_done = False
            break
        call(piece)
    report(arguments, runs)
    return 0 if is_done else MORE_TO_DO


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare learning by reward with fine-tuning.")
    unseen = "pairs that the base has not been trained on; unseen_pairs writes them"
    parser.add_argument("--data", type=Path, required=True, metavar="F.tsv", help=unseen)
    parser.add_argument(
        "--set", nargs="+", required=True, metavar="NAME=SOURCE,REFERENCE", help="whole test sets"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--to", default="de", metavar="LANG")
    parser.add_argument("--model", type=Path, metavar="DIR", help="(the bundled one)")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS), help="(all)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], metavar="N")
    parser.add_argument("--steps", type=int, default=200, metavar="N", help="(%(default)s)")
    parser.add_argument("--sources", type=int, default=16, metavar="N", help="of a step (16)")
    parser.add_argument("--group", type=int, default=8, metavar="N", help="samples of each (8)")
    parser.add_argument("--rank", type=int, default=32, metavar="N", help="of the adapters (32)")
    policies = "sampled, fine-tuned and decoded (%(default)s)"
    parser.add_argument("--reads", type=int, nargs="+", default=[1, 2, 3], help=policies)
    more = "decoded as well with the start, for its curve (%(default)s)"
    parser.add_argument("--more-reads", type=int, nargs="*", default=[5, 7], help=more)
    parser.add_argument("--limit", type=int, metavar="N", help="lines of a set (all)")
    parser.add_argument("--lanes", type=int, default=128, metavar="N", help="side by side (128)")
    piece = "steps of a piece (%(default)s)"
    parser.add_argument("--piece", type=int, default=20, metavar="STEPS", help=piece)
    last = "no piece is begun after so many minutes (no limit)"
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help=last)
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="of the bootstrap")
    return parser.parse_args(argv)


def runs_of(arguments: argparse.Namespace) -> list[Run]:
    """Return the start, then all arms of the first seed, then those of the next one."""
    seeds = {arm: arguments.seeds[: None if ARMS[arm].is_compared else 1] for arm in arguments.arms}
    runs = [Run(arguments.out, arm, seed) for arm, own in seeds.items() for seed in own]
    runs.sort(key=lambda run: arguments.seeds.index(run.seed))
    return [Run(arguments.out, START, 0), *runs]


def pieces(arguments: argparse.Namespace, runs: Sequence[Run]) -> Iterator[list[object]]:
    """Yield the commands that are left to do, each some minutes of one core."""
    measured = arguments.out / "rollouts.json"
    if not measured.exists():
        model = () if arguments.model is None else ("--model", arguments.model)
        sizes = ("--sources", arguments.sources, "--group", arguments.group)
        lanes = ("--lanes", *sorted({1, 8, 32, arguments.lanes}))
        data = ("--data", arguments.data, "--out", measured)
        yield ["benchmarks.seqpo.rollouts", *data, "--to", arguments.to, *model, *sizes, *lanes]
    for run in runs:
        while run.arm != START and not (run.folder / "adapter").exists():
            yield train(arguments, run)
        for named in arguments.set:
            name, _, files = named.partition("=")
            if not (run.decoded(name) / "summary.json").exists():
                yield decode(arguments, run, name, files)


def train(arguments: argparse.Namespace, run: Run) -> list[object]:
    """Return the command that goes on with a run for a piece."""
    arm = ARMS[run.arm]
    recipe = run.folder.with_suffix(".toml")
    if not recipe.exists():
        with replacing(recipe) as fresh:
            fresh.write_text(tomli_w.dumps(recipe_of(arguments, arm, run.seed)), encoding="utf-8")
    model = () if arguments.model is None else ("--base", arguments.model)
    data = ("--data", f"{arguments.to}={arguments.data}", *model)
    paused = ("--stop-after", arguments.piece, "--checkpoint-steps", arguments.piece)
    out = ("--out", run.folder, "--device", "cpu")
    return [PROGRAMS[arm.command], arm.command, "--recipe", recipe, *data, *paused, *out]


def recipe_of(arguments: argparse.Namespace, arm: Arm, seed: int) -> dict[str, object]:
    """Return the recipe that comes with the command, as this comparison needs it."""
    if arm.command == "seqpo":
        path = ROOT / "training" / "research" / "seqpo" / "recipes" / "seqpo.toml"
        own: dict[str, Table] = {
            "seqpo": {
                "steps": arguments.steps,
                "sources": arguments.sources,
                "group": arguments.group,
                "lanes": arguments.lanes,
                "policies": [f"read:{n}" for n in arguments.reads],
            },
        }
    else:
        path = ROOT / "training" / "trainer" / "finetuning" / "recipes" / "surtitle.toml"
        n_pairs = sum(1 for _ in read_aligned([arguments.data]))
        own = {
            "optimisation": {
                "batch_pairs": arguments.sources,
                "epochs": arguments.steps * arguments.sources / n_pairs,
                "warm_up_steps": 10,
            },
            "mixture": {
                "n": arguments.reads,
                "fixed_reads": 1.0,
                "aligned_reads": 0.0,
                "waits": 0.0,
            },
        }
    recipe: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    same = {"optimisation": {"seed": seed}, "lora": {"rank": arguments.rank}}
    for changes in (own, same, arm.changes):
        for name, table in changes.items():
            recipe[name] = {**dict(recipe.get(name, {})), **table}
    return recipe


def decode(arguments: argparse.Namespace, run: Run, name: str, files: str) -> list[object]:
    """Return the command that decodes a test set, greedily."""
    source, _, reference = files.partition(",")
    reads = [*arguments.reads, *(arguments.more_reads if run.arm == START else ())]
    given: list[object] = ["training", "evaluate", "--source", source, "--reference", reference]
    given += ["--to", arguments.to, "--policies", ",".join(f"read:{n}" for n in reads)]
    given += ["--workers", 1, "--batch", min(64, arguments.lanes), "--out", run.decoded(name)]
    if arguments.model is not None:
        given += ["--model", arguments.model]
    if run.arm != START:
        given += ["--adapter", run.folder / "adapter"]
    if arguments.limit is not None:
        given += ["--limit", arguments.limit]
    return given


def call(piece: Sequence[object]) -> None:
    """Run a module in a process of its own; what it says goes to the terminal."""
    words = [sys.executable, "-m", *map(str, piece)]
    print("$", *words[1:], file=sys.stderr, flush=True)
    subprocess.run(words, check=True, stdout=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
