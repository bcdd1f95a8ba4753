"""The report of ``python -m benchmarks.seqpo``: what has been run so far, as tables in Markdown."""

import argparse
import datetime as dt
import json
import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Protocol

import torch
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from benchmarks.equal_lagging import Comparison
from benchmarks.ranking.experiments import draw
from engine.metrics.lagging import laggings
from engine.metrics.quality import make_bleu
from engine.metrics.units import n_reference_units
from training.evaluation.runs import PolicyRun, read_run
from training.research.comparison.paired_bootstrap import (
    BootstrapSettings,
    Difference,
    compare_means,
    compare_runs,
)

START, LEARNT, TUNED = "start", "seqpo", "finetune"
SIGNIFICANT = 0.05
LESS_LAGGING, MORE_CHRF = 0.3, 1.0
"""What learning by reward should gain, one or the other: words of LAAL, points of chrF."""

N_PARTS = 6
"""Parts of a run for the curves."""

METRICS: Mapping[str, Callable[[str], Metric]] = {
    "BLEU": make_bleu,
    "chrF": lambda _: CHRF(),
    "TER": lambda _: TER(),  # no part of any reward; less is better
}


class Run(Protocol):
    """See ``benchmarks.seqpo.__main__.Run``."""

    arm: str
    seed: int

    @property
    def folder(self) -> Path: ...

    def decoded(self, name: str) -> Path: ...


@dataclass(frozen=True)
class Point:
    """A policy on a test set."""

    laal: float
    hypotheses: Sequence[str]


@dataclass(frozen=True)
class Decoded:
    """An arm on a test set under one policy: a run for each of its seeds."""

    runs: Sequence[PolicyRun]
    language: str

    @property
    def references(self) -> list[str]:
        return [one.reference for one in self.runs[0].sentences]

    @property
    def hypotheses(self) -> list[list[str]]:
        return [[one.translation.hypothesis for one in run.sentences] for run in self.runs]

    @property
    def laals(self) -> list[float | None]:
        """LAAL of each sentence, mean over the seeds that wrote something."""
        of_runs = [
            [
                laggings(one.translation, n_reference_units(one.reference, self.language)).laal
                if one.translation.delays
                else None
                for one in run.sentences
            ]
            for run in self.runs
        ]
        found = [[laal for laal in each if laal is not None] for each in zip(*of_runs, strict=True)]
        return [fmean(each) if each else None for each in found]

    @property
    def laal(self) -> float:
        """LAAL, mean over sentences and seeds; NaN where nothing was written."""
        laals = [laal for laal in self.laals if laal is not None]
        return fmean(laals) if laals else math.nan

    @property
    def points(self) -> list[Point]:
        """LAAL of all seeds, and the hypotheses of each."""
        return [Point(self.laal, hypotheses) for hypotheses in self.hypotheses]

    def scores(self, name: str) -> list[float]:
        """Score each seed by a metric."""
        metric, references = METRICS[name](self.language), [self.references]
        return [float(metric.corpus_score(one, references).score) for one in self.hypotheses]


def report(arguments: argparse.Namespace, runs: Sequence[Run]) -> None:
    """Write ``report.md``."""
    names = [named.partition("=")[0] for named in arguments.set]
    read = {(arm, name): read_runs(runs, arm, name) for arm in arms_of(runs) for name in names}
    settings = BootstrapSettings(n_samples=arguments.samples, seed=1)
    parts = ["# Learning when to write by reward, and fine-tuning", *head(arguments)]
    for name in names:
        decoded = {
            arm: {
                f"read:{n}": Decoded([one[f"read:{n}"] for one in found], arguments.to)
                for n in [*arguments.reads, *(arguments.more_reads if arm == START else ())]
            }
            for arm in arms_of(runs)
            if (found := read[arm, name])
        }
        if decoded:
            parts += [f"## {name}", *on_set(decoded, arguments, settings)]
    parts += ["## While learning", *curves(runs)]
    measured = arguments.out / "rollouts.json"
    if measured.exists():
        parts += ["## What a step costs", *costs(json.loads(measured.read_text("utf-8")))]
    (arguments.out / "report.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def arms_of(runs: Sequence[Run]) -> list[str]:
    """Return the arms, in order."""
    return list(dict.fromkeys(run.arm for run in runs))


def read_runs(runs: Sequence[Run], arm: str, name: str) -> list[Mapping[str, PolicyRun]]:
    """Read the seeds of an arm that have been decoded."""
    folders = [run.decoded(name) for run in runs if run.arm == arm]
    return [read_run(one).policies for one in folders if (one / "summary.json").exists()]


def head(arguments: argparse.Namespace) -> Iterator[str]:
    """Say what was run, when and where."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    yield (
        f"{today}, {platform.machine()}, torch {torch.__version__}; {arguments.steps} steps of "
        f"{arguments.sources} sources, {arguments.group} translations each; seeds "
        f"{', '.join(map(str, arguments.seeds))}; the last step of each run, decoded greedily"
        + (f"; the first {arguments.limit} lines of each set" if arguments.limit else "")
        + "."
    )


def on_set(
    decoded: Mapping[str, Mapping[str, Decoded]],
    arguments: argparse.Namespace,
    settings: BootstrapSettings,
) -> Iterator[str]:
    """Yield the scores of all arms, and what learning by reward gained."""
    policies = [f"read:{n}" for n in arguments.reads]
    columns = ["seeds", *(f"{policy}: BLEU / chrF / TER / LAAL" for policy in policies)]
    yield draw(
        ["arm", *columns],
        [
            [arm, str(len(own[policies[0]].runs)), *(scored(own[policy]) for policy in policies)]
            for arm, own in decoded.items()
        ],
    )
    curve = decoded.get(START, {})
    if curve:
        line = "; ".join(f"{policy} {scored(one)}" for policy, one in curve.items())
        yield f"The start's own curve: {line}."
        others = [point for one in curve.values() for point in one.points]
        references = curve[policies[0]].references
        at_equal_lagging = Comparison(others, references, arguments.to)
        rows = [
            [arm, *(above(at_equal_lagging, own[policy]) for policy in policies)]
            for arm, own in decoded.items()
            if arm != START
        ]
        yield draw(["BLEU above the start's curve, at equal LAAL", *policies], rows)
    for first in (START, TUNED):
        if first in decoded and LEARNT in decoded:
            rows = [
                [policy, *gains(decoded[first][policy], decoded[LEARNT][policy], settings)]
                for policy in policies
            ]
            heads = [f"{LEARNT} minus {first}", *METRICS, "LAAL", "aim"]
            yield draw(heads, rows)
    yield (
        f"Differences with 95 % interval and two-sided p of a paired bootstrap of the lines, "
        f"{settings.n_samples} draws, the seeds of an arm pooled. Aim: LAAL lower by "
        f"{LESS_LAGGING} words (p < {SIGNIFICANT}) and neither BLEU nor chrF lower at "
        f"p < {SIGNIFICANT}; or chrF higher by {MORE_CHRF} and LAAL not higher."
    )


def scored(one: Decoded) -> str:
    """Show means over the seeds, and the range of BLEU."""
    bleu, chrf, ter = (one.scores(name) for name in METRICS)
    spread = f" ({min(bleu):.1f}-{max(bleu):.1f})" if len(bleu) > 1 else ""
    lag = "-" if math.isnan(one.laal) else f"{one.laal:.2f}"
    return f"{fmean(bleu):.1f}{spread} / {fmean(chrf):.1f} / {fmean(ter):.1f} / {lag}"


def above(curve: Comparison, one: Decoded) -> str:
    """Show by how much a policy is above a curve."""
    gain, p = curve.gain(*one.points)
    return f"{gain} p {p}" if gain else "beyond its ends"


def gains(first: Decoded, second: Decoded, settings: BootstrapSettings) -> list[str]:
    """Compare two arms by every metric, and say whether the aim is reached."""
    found: dict[str, Difference] = {
        name: compare_runs(
            make(first.language), (first.hypotheses, second.hypotheses), first.references, settings
        )
        for name, make in METRICS.items()
    }
    lag = compare_means(first.laals, second.laals, settings)
    if lag is None:
        return [*map(shown, found.values()), "-", "no"]
    return [*map(shown, found.values()), shown(lag), aim(found["BLEU"], found["chrF"], lag)]


def shown(one: Difference) -> str:
    """Show a difference."""
    return f"{one.difference:+.2f} [{one.low:+.2f}, {one.high:+.2f}] p {one.p:.3f}"


def aim(bleu: Difference, chrf: Difference, lag: Difference) -> str:
    """Say which aim is reached."""
    worse = any(one.difference < 0 and one.p < SIGNIFICANT for one in (bleu, chrf))
    if lag.difference <= -LESS_LAGGING and lag.p < SIGNIFICANT and not worse:
        return "less lagging"
    if chrf.difference >= MORE_CHRF and chrf.p < SIGNIFICANT and lag.difference <= 0:
        return "more quality"
    return "no"


def curves(runs: Sequence[Run]) -> Iterator[str]:
    """Show quality and lagging of what was sampled, by parts of each run of seqpo."""
    rows = list[list[str]]()
    for run in runs:
        path = run.folder / "steps.jsonl"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = [json.loads(line) for line in text.splitlines()]
        if lines and "quality" in lines[0]:
            rows.append([f"{run.arm}, {run.seed}", str(len(lines)), *parts_of(lines)])
    heads = ["arm, seed", "steps", *(f"part {n + 1} of {N_PARTS}" for n in range(N_PARTS))]
    yield draw(heads, rows)
    yield (
        "Quality (0 to 1) / lagging (words; AL where the arm is rewarded by it) / words of a "
        "translation / empty writes, % / divergence from the start, nats a token: means of what "
        "was sampled at temperature 1. Figures 4a and 4b of the paper are seqpo and quality-only, "
        "figure 5 is not-normalised, figure 6 not-truncated-al; it has COMET and AL."
    )


def parts_of(lines: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Average each part of a run."""
    for n in range(N_PARTS):
        part = lines[n * len(lines) // N_PARTS : (n + 1) * len(lines) // N_PARTS]
        if not part:
            yield ""
            continue
        mean = {name: fmean(line[name] for line in part) for name in part[0]}
        yield (
            f"{mean['quality']:.3f} / {mean['lagging']:.2f} / {mean['words']:.1f} / "
            f"{100 * mean['empty_writes']:.0f} / {mean['divergence']:.3f}"
        )


def costs(measured: Mapping[str, Sequence[Mapping[str, object]]]) -> Iterator[str]:
    """Show the cost of sampling and scoring, seconds of one thread."""
    for name in ("sampling", "scoring"):
        rows = measured[name]
        yield draw([name, *list(rows[0])], [["", *map(str, row.values())] for row in rows])
