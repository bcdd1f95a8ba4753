"""Hold our evaluation against SimulEval over real text: the same captions, the same scores.

``surtitle-train evaluate`` translates lines of all files that are named, and the real SimulEval
drives our agent (``training.research.simuleval_agent``) over the same lines. The agent
hands a word over once it is whole, and SimulEval counts it then, so our delays are counted likewise
here, from our event logs: of each word, when the next one began or the line ended. What
``evaluate`` itself says of the same run, when the last character of each word stood there, is told
beside it.

Lines over the engine's limits are left out: ``evaluate`` cuts them at a sentence's end, which the
agent cannot know of.
"""

import argparse
import datetime as dt
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.metrics.event_log import Translation, read_events
from engine.metrics.latency import mean_laggings
from engine.metrics.quality import measure_quality
from engine.settings import UtteranceLimits
from engine.text.sentences import cut_line
from training.__main__ import main as train
from training.evaluation.runs import Run, read_run
from training.evaluation.short_form import log_paths

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".venv-simuleval" / "bin"
RUN = Path(__file__).with_name("simuleval_run.py")

POLICIES = ("read:1", "read:2", "read:3", "wait:1", "wait:3", "offline")
LAGGINGS = ("AL", "LAAL", "AP", "DAL", "ATD")
COLUMNS = (
    "date", "machine", "policy", "lines", "with a word in two writes", "unlike captions",
    "unlike delays", "BLEU", *LAGGINGS, "largest difference of a score", "AL in summary.json",
)  # fmt: skip


@dataclass(slots=True)
class Pieces:
    """A line as it was written: what each of its source words set off."""

    added: list[str] = field(default_factory=list)
    utterance: int | None = None

    def add(self, utterance: int, text: str) -> None:
        """Take committed text; another utterance of the line begins a word."""
        if self.utterance not in (None, utterance):
            self.added[-1] += " "
        self.added[-1] += text
        self.utterance = utterance

    @property
    def is_broken(self) -> bool:
        """Tell whether a word was written in two parts, with a source word between them."""
        apart = " ".join(" ".join(self.added).split())
        return apart != " ".join("".join(self.added).split())

    @property
    def whole_word_delays(self) -> tuple[int, ...]:
        """Tell of each word how many source words had come when it was known to be whole."""
        came = [n for n, piece in enumerate(self.added, start=1) for _ in piece]
        came.append(len(self.added))  # the line's end
        return tuple(came[word.end()] for word in re.finditer(r"\S+", "".join(self.added)))


def pieces_of(run: Run, policy: str) -> dict[int, Pieces]:
    """Read a run's logs: its lines as they were written, by index."""
    found, line = dict[int, Pieces](), Pieces()
    for path in log_paths(run.folder / "log", policy):
        for event in read_events(path):
            match event["event"]:
                case "line":
                    line = Pieces()
                case "arrived" if event["n_words"] > len(line.added):
                    line.added.append("")
                case "committed":
                    line.add(event["utterance"], event["text"])
                case "line_ended":
                    found.setdefault(event["index"], line)
                case _:
                    pass
    return found


def as_the_agent_writes(run: Run, policy: str) -> Iterator[Translation]:
    """Yield our translations with the delays of words that are handed over whole."""
    pieces = pieces_of(run, policy)
    for one in run.policies[policy].sentences:
        delays = pieces[one.translation.index].whole_word_delays
        yield replace(one.translation, delays=delays, emitted_ms=(0.0,) * len(delays))


def our_scores(translations: Sequence[Translation], references: Sequence[str]) -> dict[str, float]:
    """Score German translations; by SimulEval's names."""
    found = mean_laggings(translations, references, "de")
    quality = measure_quality([one.hypothesis for one in translations], references, "de")
    return {"BLEU": quality.bleu} | {name: getattr(found, name.lower()) for name in LAGGINGS}


def start_simuleval(
    out: Path, source: Path, reference: Path, policy: str, model: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """Let SimulEval drive our agent over a file, in its environment; ``out`` gets what it found."""
    types = ("--source-type", "text", "--target-type", "text", "--no-progress-bar")
    files = ("--source", str(source), "--target", str(reference))
    agent = (
        "--agent",
        str(ROOT / "training/research/simuleval_agent.py"),
        "--to",
        "de",
        "--policy",
        policy,
    )
    command = [str(PROGRAMS / "python"), str(RUN), str(out), *agent, *files, *types, *model]
    environment = os.environ | {"PYTHONUTF8": "1"}  # it opens files in the locale's encoding
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)


def finish_simuleval(process: subprocess.Popen[str], out: Path) -> dict[str, object]:
    """Wait for SimulEval and read what it found."""
    with process:
        _, messages = process.communicate()
    if process.returncode:
        sys.exit(f"SimulEval failed:\n{messages}")
    return json.loads(out.read_text(encoding="utf-8"))


def chosen_lines(files: Sequence[Sequence[str]], n_lines: int, seed: int) -> list[tuple[str, str]]:
    """Draw so many lines of each pair of files, and leave those out that are over the limits."""
    rng, limits, found = random.Random(seed), UtteranceLimits(), []
    for names in files:
        source, reference = (Path(name).read_text(encoding="utf-8").split("\n") for name in names)
        pairs = [
            (one.strip(), other.strip())
            for one, other in zip(source, reference, strict=True)
            if other.strip() and len(cut_line(one, limits)) == 1
        ]
        found += rng.sample(pairs, min(n_lines, len(pairs)))
    return found


def compare(run: Run, policy: str, theirs: dict[str, object]) -> dict[str, object]:
    """Hold one policy of our run against what SimulEval found."""
    sentences = run.policies[policy].sentences
    translations = list(as_the_agent_writes(run, policy))
    seen = [(one["prediction"], one["delays"]) for one in theirs["instances"]]
    pairs = list(zip(translations, seen, strict=True))
    scores = our_scores(translations, [one.reference for one in sentences])
    return {
        "policy": policy,
        "lines": len(pairs),
        "with a word in two writes": sum(one.is_broken for one in pieces_of(run, policy).values()),
        "unlike captions": sum(one.hypothesis != text for one, (text, _) in pairs),
        "unlike delays": sum(list(one.delays) != delays for one, (_, delays) in pairs),
        **{name: round(score, 3) for name, score in scores.items()},
        "largest difference of a score": max(
            abs(score - theirs["scores"][name]) for name, score in scores.items()
        ),
        "AL in summary.json": round(run.policies[policy].scores.al or 0.0, 3),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="source, reference, source, reference ..."
    )
    parser.add_argument("--lines", type=int, default=100, metavar="N", help="of each (%(default)s)")
    parser.add_argument("--policies", default=",".join(POLICIES), metavar="P,P")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", metavar="DIR", help="(the bundled one)")
    parser.add_argument("--adapter", metavar="DIR")
    parser.add_argument("--system", default="slots", metavar="NAME", help="(%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    arguments = parser.parse_args(argv)
    if len(arguments.files) % 2:
        parser.error("files come in pairs: a source and its reference")
    files = list(zip(arguments.files[::2], arguments.files[1::2], strict=True))
    rows = measure(arguments, chosen_lines(files, arguments.lines, arguments.seed))
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    alike = all(not row["unlike captions"] and not row["unlike delays"] for row in rows)
    return 0 if alike else 1


def measure(arguments: argparse.Namespace, lines: list[tuple[str, str]]) -> list[dict[str, object]]:
    """Translate the lines twice, compare, and print a row for each policy."""
    day = dt.datetime.now(tz=dt.UTC).date().isoformat()
    machine = f"{os.cpu_count()} {platform.machine()} cores"
    named = (("--model", arguments.model), ("--adapter", arguments.adapter))
    model = [part for name, value in named if value for part in (name, value)]
    print(f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|", sep="\n", flush=True)
    rows = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        source, reference = folder / "source", folder / "reference"
        for path, texts in zip((source, reference), zip(*lines, strict=True), strict=True):
            path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        for policy in arguments.policies.split(","):
            out, run = folder / f"{policy}.json", folder / policy
            agent = [*model, "--translator", arguments.system]
            theirs = start_simuleval(out, source, reference, policy, agent)
            files = ["--source", str(source), "--reference", str(reference), "--to", "de"]
            wanted = [*files, "--policies", policy, "--workers", "1", "--out", str(run), *model]
            wanted += ["--system", arguments.system]
            with redirect_stdout(sys.stderr):
                if train(["evaluate", *wanted]):
                    sys.exit("evaluate failed")
            row = compare(read_run(run), policy, finish_simuleval(theirs, out))
            rows.append({"date": day, "machine": machine, **row})
            print(f"| {' | '.join(map(_shown, rows[-1].values()))} |", flush=True)
    return rows


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) and abs(value) < 0.001 else str(value)


if __name__ == "__main__":
    sys.exit(main())
