"""Runs of ``evaluate`` held against each other (``compare``).

Each later run is compared with the first, policy by policy, on the same sentences. ``RUN:POLICY``
picks one policy of a run: picked policies are compared though their names differ. The output folder
gets ``compare.json``, an object of ``settings`` (of the bootstrap), ``runs`` (folders and what was
run), ``scores`` (a row for each policy of each run) and ``differences`` (later minus first, for
each policy that both have).

``record-scores`` writes scores on an adapter's card; beside each it can hold that of the bare base
on the same lines, so that people and programs see whether the adapter is an improvement.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.chrf import CHRF
from tqdm import tqdm

from engine.metrics.event_log import n_reference_units
from engine.metrics.latency import Laggings, laggings
from engine.metrics.quality import make_bleu
from engine.models.adapters.adapter import AdapterScore, write_adapter_card
from engine.settings import at_least
from training.commands.command_line import Cell, draw_table, named_values, settings_from
from training.data.corpus import replacing, write_json
from training.errors import TrainingError, UsageError
from training.evaluation.models import read_named_card
from training.evaluation.runs import PolicyRun, Run, fingerprint, read_run

_SCORES = (
    "policy", "run", "bleu", "chrf", "laal", "tokens_fed", "tokens_recomputed",
    "gflops_per_sentence", "ms_per_word_p50", "n_empty",
)  # fmt: skip
_FORM = "SET=RUN or SET=RUN,BASE_RUN"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "compare",
        help="report which differences between runs of evaluate are significant",
        description="Compare runs of evaluate over the same test set with the first of them.",
    )
    unlike = "run folder of evaluate, or FOLDER:POLICY for each to compare unlike policies"
    parser.add_argument("runs", nargs="+", metavar="RUN", help=unlike)
    out = Path("compare")
    parser.add_argument("--out", type=Path, default=out, metavar="DIR", help="(%(default)s)")
    for option, name, number in (("--samples", "n_samples", 1000), ("--seed", "seed", 12345)):
        words = "of the bootstrap (%(default)s)"
        parser.add_argument(option, dest=name, type=int, default=number, metavar="N", help=words)
    parser.set_defaults(run=run)
    parser = subparsers.add_parser(
        "record-scores",
        help="write scores of evaluate on an adapter's card",
        description="Write BLEU and LAAL by policy on an adapter's card, and the base's beside "
        "them. Scores that were on the card before are replaced.",
    )
    parser.add_argument("--adapter", type=Path, required=True, metavar="DIR")
    words = "name of the test set, run folder with the adapter, and without it"
    form = "SET=RUN[,BASE_RUN]"
    parser.add_argument("--run", nargs="+", dest="runs", required=True, metavar=form, help=words)
    parser.set_defaults(run=record_scores)


def run(arguments: argparse.Namespace) -> int:
    settings = settings_from(arguments, BootstrapSettings)
    contenders = read_contenders(arguments.runs)
    lined_up = rows(contenders)
    with replacing(arguments.out / "compare.json") as partial:  # fails now if it cannot be written
        found = list(_compared(contenders, lined_up, settings))
        write_json(partial, _report(contenders, found, settings))
    sys.stdout.write(_tables(contenders, lined_up, found, settings))
    sys.stderr.write(f"compare.json is in {arguments.out}\n")
    return 0


# Significance -------------------------------------------------------------------------------------

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSettings:
    """Number of draws, and their seed."""

    n_samples: int
    seed: int

    def __post_init__(self) -> None:
        at_least("the samples of a bootstrap", self.n_samples, 1)
        at_least("the seed", self.seed, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The second system minus the first, by a paired bootstrap.

    Both systems translated the same sentences, which are drawn with replacement, as many as there
    are, many times; both are scored on each draw (Koehn 2004, https://aclanthology.org/W04-3250).

    Attributes:
        difference: on the sentences as they are.
        low, high: from the 2.5th to the 97.5th percentile of the drawn differences.
        p: two-sided, the share of drawn differences at least as far from the observed one as that
            is from 0 (Efron and Tibshirani 1993, chapter 16); the observed one counts, so p is
            never 0. sacreBLEU's own compares absolute values and is about half as large.
        n_sentences: compared.
        signature: sacreBLEU's, with samples and seed; empty for other scores.
    """

    difference: float
    low: float
    high: float
    p: float
    n_sentences: int
    signature: str = ""


def compare_runs(
    metric: Metric,
    hypotheses: tuple[Sequence[str], Sequence[str]],
    references: Sequence[str],
    settings: BootstrapSettings,
) -> Difference:
    """Compare two systems by a corpus metric of sacreBLEU.

    Draws are those of ``sacrebleu --paired-bs`` with the same seed.

    Args:
        hypotheses: of the first system and of the second.
        references: one for each sentence, at least one.
    """
    n_sentences = _common_length(*hypotheses, references)

    def statistics(texts: Sequence[str]) -> Values:
        return np.array(metric._extract_corpus_statistics(texts, [references]), dtype=np.float64)

    def score(statistics: Values) -> float:
        return float(metric._compute_score_from_stats(statistics.tolist()).score)

    first, second = map(statistics, hypotheses)
    draws = draw_sentences(n_sentences, settings)
    times = np.stack([np.bincount(draw, minlength=n_sentences) for draw in draws])
    pairs = zip(times @ first, times @ second, strict=True)  # whole numbers: the sums are exact
    drawn = np.array([score(after) - score(before) for before, after in pairs])
    signature = metric.get_signature()
    signature.update("seed", str(settings.seed))
    signature.update("bs", settings.n_samples)
    observed = score(second.sum(axis=0)) - score(first.sum(axis=0))
    return replace(_judged(observed, drawn, n_sentences), signature=str(signature))


def compare_means(
    first: Sequence[float | None], second: Sequence[float | None], settings: BootstrapSettings
) -> Difference | None:
    """Compare the means of a score of single sentences, such as LAAL; None if none has both.

    A sentence without output has no lagging; it is left out for both systems. So the difference may
    not equal that of the systems' own means, each of which leaves out its own silent sentences.
    """
    _common_length(first, second)
    pairs = zip(first, second, strict=True)
    differences = np.array(
        [after - before for before, after in pairs if before is not None and after is not None],
        dtype=np.float64,
    )
    if not len(differences):
        return None
    draws = draw_sentences(len(differences), settings)
    return _judged(float(differences.mean()), differences[draws].mean(axis=1), len(differences))


def draw_sentences(n_sentences: int, settings: BootstrapSettings) -> npt.NDArray[np.int64]:
    """Draw numbers of sentences with replacement, as sacreBLEU does, shape (samples, sentences)."""
    generator = np.random.default_rng(settings.seed)
    return generator.choice(n_sentences, size=(settings.n_samples, n_sentences), replace=True)


def _judged(observed: float, drawn: Values, n_sentences: int) -> Difference:
    low, high = np.percentile(drawn, [2.5, 97.5])
    n_as_far = int(np.sum(np.abs(drawn - observed) >= abs(observed)))
    return Difference(
        difference=observed,
        low=float(low),
        high=float(high),
        p=(n_as_far + 1) / (len(drawn) + 1),
        n_sentences=n_sentences,
    )


def _common_length(*columns: Sequence[object]) -> int:
    lengths = {len(column) for column in columns}
    if len(lengths) != 1 or lengths == {0}:
        msg = f"the same sentences were expected, at least one, got {sorted(lengths)}"
        raise ValueError(msg)
    return lengths.pop()


Comparison: TypeAlias = dict[str, Difference | None]
"""The second run minus the first, by measure: ``bleu``, ``chrf``, and means of ``al``, ``laal`` and
``laal_ca`` over the sentences for which both wrote something; None without any. The last one counts
computing, each on the machine it ran on; None where lines were translated side by side.
"""


def compare(
    first: PolicyRun, second: PolicyRun, language: str, settings: BootstrapSettings
) -> Comparison:
    """Compare two runs over the same source lines."""
    texts = [[one.translation.hypothesis for one in run.sentences] for run in (first, second)]
    references = [one.reference for one in first.sentences]
    lags = [
        [
            laggings(one.translation, n_reference_units(one.reference, language))
            if one.translation.delays
            else None
            for one in run.sentences
        ]
        for run in (first, second)
    ]

    def quality(metric: Metric) -> Difference:
        return compare_runs(metric, (texts[0], texts[1]), references, settings)

    def mean(measure: Callable[[Laggings], float]) -> Difference | None:
        before, after = ([None if one is None else measure(one) for one in each] for each in lags)
        return compare_means(before, after, settings)

    timed = all(run.scores.laal_ca is not None for run in (first, second))
    return {
        "bleu": quality(make_bleu(language)),
        "chrf": quality(CHRF()),
        "al": mean(lambda one: one.al),
        "laal": mean(lambda one: one.laal),
        "laal_ca": mean(lambda one: one.laal_ca) if timed else None,
    }


# Runs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A run to compare: its unique name, and the policy that was picked, None for all."""

    name: str
    run: Run
    policy: str | None = None

    @property
    def policies(self) -> dict[str, PolicyRun]:
        if self.policy is None:
            return self.run.policies
        return {self.policy: self.run.policies[self.policy]}


Row: TypeAlias = tuple[PolicyRun | None, ...]
"""Runs to compare: for each contender the run of one policy, or None if it lacks the policy."""


def read_contenders(names: Sequence[str]) -> list[Contender]:
    """Read runs that can be compared, each named ``FOLDER`` or ``FOLDER:POLICY``."""
    if len(names) < 2:
        msg = f"compare needs at least two runs, got {len(names)}: name two folders of evaluate"
        raise UsageError(msg)
    contenders = [_read(name) for name in names]
    if len({contender.policy is None for contender in contenders}) > 1:
        msg = "a policy must be named for all runs or for none: write FOLDER:POLICY for each"
        raise UsageError(msg)
    for later in contenders[1:]:
        _check_comparable(contenders[0].run, later.run)
    known = [contender.name for contender in contenders]
    named = [  # those of equal name by their whole path
        replace(one, name=f"{one.run.folder}:{one.policy}" if one.policy else str(one.run.folder))
        if known.count(one.name) > 1
        else one
        for one in contenders
    ]
    name, n_times = Counter(one.name for one in named).most_common(1)[0]
    if n_times > 1:
        msg = f"{name} is named twice: name different runs, or different policies of one"
        raise UsageError(msg)
    return named


def rows(contenders: Sequence[Contender]) -> list[Row]:
    """Group policies of the same name, or the picked ones; complete groups come first."""
    if contenders[0].policy is not None:
        return [tuple(policy for each in contenders for policy in each.policies.values())]
    names = dict.fromkeys(name for each in contenders for name in each.policies)
    lined_up = [tuple(each.policies.get(name) for each in contenders) for name in names]
    return sorted(lined_up, key=lambda row: None in row)


def _read(name: str) -> Contender:
    """Read a run; the name of a folder may contain colons, too."""
    folder, policy = Path(name), None
    if not folder.is_dir():
        cuts = (index for index, letter in enumerate(name) if letter == ":")
        for index in cuts:
            if Path(name[:index]).is_dir():
                folder, policy = Path(name[:index]), name[index + 1 :]
                break
    run = read_run(folder)
    if policy is None:
        return Contender(name=run.name, run=run)
    if policy not in run.policies:
        msg = f"{folder} has no policy {policy!r}: choose one of {', '.join(run.policies)}"
        raise UsageError(msg)
    return Contender(name=f"{run.name}:{policy}", run=run, policy=policy)


def _check_comparable(first: Run, later: Run) -> None:
    for name, value, later_value in (
        ("target language", first.record.language, later.record.language),
        ("source file", first.record.source_sha256, later.record.source_sha256),
        ("reference file", first.record.reference_sha256, later.record.reference_sha256),
        ("number of lines", str(first.n_sentences), str(later.n_sentences)),
    ):
        if value != later_value:
            values = f"{value[:8]}, {later_value[:8]}"  # the start of a hash is enough
            msg = (
                f"runs over the same test set were expected, but the {name} of {first.folder} and "
                f"of {later.folder} differ ({values}): evaluate both on the same lines"
            )
            raise UsageError(msg)


# Report -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A comparison of a later run with the first, and the names of runs and policies."""

    run: str
    policy: str
    against: str
    against_policy: str
    comparison: Comparison


def _compared(
    contenders: Sequence[Contender], lined_up: Sequence[Row], settings: BootstrapSettings
) -> Iterator[Found]:
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


def _report(
    contenders: Sequence[Contender], found: Sequence[Found], settings: BootstrapSettings
) -> dict[str, object]:
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
            | asdict(one)["comparison"]
            for one in found
        ],
    }


def _tables(
    contenders: Sequence[Contender],
    lined_up: Sequence[Row],
    found: Sequence[Found],
    settings: BootstrapSettings,
) -> str:
    scores: list[dict[str, Cell]] = [
        {"run": contender.name, **asdict(policy.scores)}
        for row in lined_up
        for policy, contender in zip(row, contenders, strict=True)
        if policy is not None
    ]
    text, name = draw_table(_SCORES, scores), contenders[0].name
    if not found:
        return f"{text}\nno policy is in {name} and in another run\n"
    differences = [_difference_row(one) for one in found]
    signatures = (one.signature for one in found[0].comparison.values() if one is not None)
    return (
        f"{text}\neach run minus {name}:\n{draw_table(tuple(differences[0]), differences)}"
        f"95 % intervals and two-sided p of the paired bootstrap, {settings.n_samples} samples, "
        f"seed {settings.seed};\nn: sentences for which both runs wrote something\n"
        + "".join(f"{one}\n" for one in signatures if one)
    )


def _difference_row(found: Found) -> dict[str, Cell]:
    row: dict[str, Cell] = {"policy": found.policy, "run": found.run}
    for name in ("bleu", "laal"):
        one = found.comparison[name]
        row[name] = None if one is None else f"{one.difference:+.2f}"
        row[f"{name} 95 %"] = None if one is None else f"[{one.low:+.2f}, {one.high:+.2f}]"
        row[f"{name} p"] = None if one is None else f"{one.p:.3f}"
    laal = found.comparison["laal"]
    row["n"] = 0 if laal is None else laal.n_sentences
    return row


# Scores on a card ---------------------------------------------------------------------------------


def record_scores(arguments: argparse.Namespace) -> int:
    """Replace the scores on an adapter's card."""
    adapter, runs = arguments.adapter, list[tuple[str, str, str]]()
    for test_set, folders in named_values(arguments.runs, _FORM):
        folder, _, base_folder = folders.partition(",")
        runs.append((test_set, folder, base_folder))
    card, sha256 = read_named_card(adapter), fingerprint(adapter)
    scores = [score for one in runs for score in _card_scores(*one, sha256)]
    write_adapter_card(adapter, replace(card, scores=tuple(scores)))
    sys.stdout.write(f"{adapter}\n")
    return 0


def _card_scores(
    test_set: str, folder: str, base_folder: str, sha256: str
) -> Iterator[AdapterScore]:
    own_run = read_run(Path(folder))
    if own_run.record.adapter_sha256 != sha256:
        msg = f"{folder} was run with another adapter: run evaluate again with this one"
        raise UsageError(msg)
    base_bleu = _base_bleu(Path(base_folder), own_run) if base_folder else {}
    for policy, policy_run in own_run.policies.items():
        scores = policy_run.scores
        yield AdapterScore(
            test_set=test_set,
            lines=scores.n_sentences,
            language=own_run.record.language,
            policy=policy,
            bleu=round(scores.bleu, 2),
            laal=None if scores.laal is None else round(scores.laal, 2),
            signature=scores.bleu_signature,
            base_bleu=base_bleu.get(policy),
        )


def _base_bleu(folder: Path, own_run: Run) -> dict[str, float]:
    """Read BLEU by policy of the base alone, on the same lines."""
    base_run = read_run(folder)
    same = replace(own_run.record, adapter_sha256=None, slot_length=base_run.record.slot_length)
    if base_run.record != same or base_run.n_sentences != own_run.n_sentences:
        msg = (
            f"{folder} is no run of the base alone over the lines of {own_run.folder}: "
            "run evaluate without --adapter and otherwise alike"
        )
        raise TrainingError(msg)
    return {policy: round(one.scores.bleu, 2) for policy, one in base_run.policies.items()}
