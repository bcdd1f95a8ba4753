"""Measure what deciding when to write gains: read-n, adaptive policies, and oracle boundaries.

    .venv/bin/python -m benchmarks.when_to_write --source dev.en --reference dev.de --to de \
        --pairs train.tsv --out runs/when-to-write

* read-n: the fixed policies.
* adaptive:TAU: by the head of the model or adapter, or none, over a sweep of tau.
* NAME, adaptive:TAU: the same by another adapter of the base (--also), of any layout or head.
* lsg:DELTA: where the newest words change the answer by so many nats (LSG).
* oracle:R: write at the boundaries of the test set's own word alignment that stand R source words
  apart or more. No policy can know them; if they gain nothing, such labels can teach nothing.

BLEU is compared at equal LAAL, with the line between the neighbouring points of read-n, and with
that of adaptive:TAU, by a paired bootstrap of the sentences. Every step resumes: type the same
again after a stop.
"""

import argparse
import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from engine.metrics.event_log import EventLog
from engine.metrics.quality import make_bleu
from engine.metrics.translation import Translation
from engine.policy import Adaptive, Policy
from engine.runtime.loader import load_weights
from engine.runtime.weights import Weights
from engine.settings import TranslationSettings
from engine.translation.feed import WARM_UP, feed_line
from engine.translation.slot_translator import Translator
from engine.translation.utterance import Utterance
from training.commands.common_arguments import named_values
from training.data.align_report import Report
from training.data.aligned_pairs import read_aligned, schedule
from training.data.corpus import SentencePair, create, read_pairs, replacing
from training.data.read_schedule import ratio_needs
from training.evaluation.model_choice import find_model, measured_model
from training.evaluation.run_record import RunSettings
from training.evaluation.scores import Scores, score
from training.evaluation.short_form import evaluate
from training.evaluation.workers import CAPACITY, next_number, read_translations
from training.research.comparison.paired_bootstrap import BootstrapSettings, draw_sentences
from training.research.methods import nested_boundaries
from training.trainer.samples.mixture import AlignedReads

DRAWS = BootstrapSettings(n_samples=1000, seed=1)
SURE = 0.6

COLUMNS = (
    "policy", "LAAL", "BLEU", "chrF", "BLEU to read-n at this LAAL", "p",
    "BLEU to adaptive at this LAAL", "p", "forwards a word", "ms a word", "GFLOPs a sentence",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """A policy on the test set."""

    scores: Scores
    translations: list[Translation]

    @property
    def laal(self) -> float:
        """Return LAAL in source words; a policy that wrote nothing has none."""
        laggings = self.scores.laggings
        return float("nan") if laggings is None else laggings.laal

    @property
    def hypotheses(self) -> list[str]:
        """Return the captions, in the order of the lines."""
        return [one.hypothesis for one in self.translations]


def main(argv: Sequence[str] | None = None) -> None:
    """Decode, compare and print."""
    arguments = parse(argv)
    torch.set_num_threads(1)
    pairs = list(islice(read_pairs((arguments.source, arguments.reference)), arguments.limit))
    fixed = [f"read:{n}" for n in arguments.n]
    adaptive = [f"adaptive:{tau}" for tau in arguments.taus]
    settings = run_settings(arguments, arguments.adapter, arguments.out, [*fixed, *adaptive])
    evaluate(settings)
    done = {policy: read_translations(arguments.out, policy) for policy in settings.policies}
    for delta in arguments.deltas:
        name = f"lsg:{delta}"
        make = partial(DivergenceTranslator, delta=delta)
        translate_by(settings, name, pairs, [Adaptive(0.5)] * len(pairs), make)
        done[name] = read_translations(arguments.out, name)
    for name, adapter in named_values(arguments.also, "NAME=ADAPTER"):
        other = run_settings(arguments, Path(adapter), arguments.out / name, adaptive)
        evaluate(other)
        done |= {f"{name}, {one}": read_translations(other.out, one) for one in adaptive}
    if arguments.apart:
        needs = test_needs(arguments, pairs)
        for apart in arguments.apart:
            name = f"oracle:{apart}"
            oracles = [AlignedReads(nested_boundaries(one, apart)) for one in needs]
            translate_by(settings, name, pairs, oracles, Translator)
            done[name] = read_translations(arguments.out, name)
    references = [pair.target for pair in pairs]
    results = {}
    for name, by_index in done.items():
        translations = [by_index[index] for index in range(len(pairs))]
        scores = score(name, "slots", translations, references, arguments.to)
        results[name] = Result(scores, translations)
    text = table(results, (fixed, adaptive), references, arguments.to)
    (arguments.out / "table.md").write_text(text + "\n", encoding="utf-8")
    print(text)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare when to write.")
    parser.add_argument("--source", type=Path, required=True, metavar="F")
    parser.add_argument("--reference", type=Path, required=True, metavar="F")
    parser.add_argument("--to", default="de", metavar="LANG")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--model", type=Path, metavar="DIR", help="(the bundled one)")
    parser.add_argument("--adapter", type=Path, metavar="DIR")
    also = "further adapters of the base, decoded by adaptive:TAU"
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME=DIR", help=also)
    parser.add_argument("--limit", type=int, metavar="N", help="lines (all)")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    parser.add_argument(
        "--batch", type=int, default=1, metavar="N", help="lines side by side; not for times"
    )
    parser.add_argument("--n", type=int, nargs="*", default=[1, 2, 3, 5, 7], metavar="N")
    taus = ["0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9", "0.97"]
    parser.add_argument("--taus", nargs="*", default=taus, metavar="TAU")
    parser.add_argument("--deltas", type=float, nargs="*", default=[], metavar="DELTA")
    parser.add_argument("--apart", type=int, nargs="*", default=[1, 2, 3, 4, 6], metavar="R")
    parser.add_argument(
        "--pairs", type=Path, metavar="F.tsv", help="aligned with the test set, for its alignment"
    )
    parser.add_argument("--n-pairs", type=int, default=50_000, metavar="N", help="(%(default)s)")
    arguments = parser.parse_args(argv)
    if len(arguments.n) < 2:
        parser.error("--n needs two numbers or more: LAAL is compared along the line between them")
    return arguments


def run_settings(
    arguments: argparse.Namespace, adapter: Path | None, out: Path, policies: Sequence[str]
) -> RunSettings:
    """Return the run of some policies with the bare model or an adapter."""
    model, _ = find_model(arguments.model, arguments.to, adapter)
    return RunSettings(
        source=arguments.source,
        reference=arguments.reference,
        model=measured_model(model, adapter, "cpu"),
        translation=TranslationSettings(target_language=arguments.to, cut_loops=False),
        policies=tuple(policies),
        out=out,
        limit=arguments.limit,
        n_workers=arguments.workers,
        batch=arguments.batch,
    )


def test_needs(
    arguments: argparse.Namespace, pairs: Sequence[SentencePair]
) -> list[tuple[int, ...]]:
    """Return the schedule of each test pair, aligned once together with training pairs.

    A pair without links is spread evenly.
    """
    path = arguments.out / "aligned.tsv"
    if not path.exists():
        more = [] if arguments.pairs is None else read_pairs([arguments.pairs])
        everything = [*pairs, *islice(more, arguments.n_pairs)]
        aligned = islice(schedule(everything, Report(min_agreement=0.0)), len(pairs))
        with replacing(path) as fresh, create(fresh) as file:
            file.writelines(one.as_line().encode() for one in aligned)
    needs = [one.needs for one in read_aligned([path])]
    if len(needs) != len(pairs):
        msg = f"{path} has {len(needs)} pairs, not {len(pairs)}: choose another --out"
        raise SystemExit(msg)
    lengths = [(len(pair.source.split()), len(pair.target.split())) for pair in pairs]
    return [own or ratio_needs(*two) for own, two in zip(needs, lengths, strict=True)]


def translate_by(
    settings: RunSettings,
    name: str,
    pairs: Sequence[SentencePair],
    policies: Sequence[Policy],
    make: Callable[..., Translator],
) -> None:
    """Translate the lines that no log holds yet, each by its own policy."""
    done = read_translations(settings.out, name)
    left = [index for index in range(len(pairs)) if index not in done]
    if not left:
        return
    logs = settings.out / "log"
    weights = load_weights(settings.model)
    with EventLog(logs / f"{name}.{next_number(logs)}.jsonl") as log:
        system = make(weights, settings.translation, capacity=CAPACITY, log=log)
        feed_line(system, log, WARM_UP, "Hello.")
        for index in tqdm(left, desc=name, disable=None, leave=False):
            system.conversation.policy = policies[index]
            feed_line(system, log, index, pairs[index].source)


def table(
    results: dict[str, Result],
    lines: Sequence[Sequence[str]],
    references: Sequence[str],
    language: str,
) -> str:
    """Draw a row for each policy, with its distance to each line of others."""
    compared = [
        (names, Comparison([results[name] for name in names], references, language))
        for names in lines
    ]
    drawn = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for name, result in results.items():
        scores, cost = result.scores, result.scores.cost
        n_words = sum(len(one.source) for one in result.translations)
        gains = [
            cell
            for names, line in compared
            for cell in (("", "") if name in names else line.gain(result))
        ]
        cells = [
            name, f"{result.laal:.2f}", f"{scores.quality.bleu:.2f}", f"{scores.quality.chrf:.2f}",
            *gains, f"{cost.forwards / n_words:.2f}", f"{cost.ms_per_word_mean:.2f}",
            f"{cost.gflops_per_sentence:.3f}",
        ]  # fmt: skip
        drawn.append("| " + " | ".join(cells) + " |")
    return "\n".join(drawn)


class Point(Protocol):
    """A policy on a test set."""

    @property
    def laal(self) -> float:
        """LAAL in source words; NaN for a policy that wrote nothing."""

    @property
    def hypotheses(self) -> Sequence[str]:
        """Its captions, in the order of the lines."""


class Comparison:
    """BLEU of a policy against the line through the points of others, at equal LAAL."""

    def __init__(self, others: Sequence[Point], references: Sequence[str], language: str) -> None:
        self._bleu = make_bleu(language)
        self._references = references
        known = [one for one in others if not math.isnan(one.laal)]
        self._others = sorted(known, key=lambda one: one.laal)
        draws = draw_sentences(len(references), DRAWS)
        self._times = np.stack([np.bincount(draw, minlength=len(references)) for draw in draws])
        everything = np.ones((1, len(references)), dtype=np.int64)
        self._times = np.concatenate([everything, self._times])  # (1 + samples, sentences)
        self._points = [self._drawn(one) for one in self._others]

    def gain(self, *seeds: Point) -> tuple[str, str]:
        """Return the difference of BLEU and its two-sided p; empty beyond the ends of the line.

        Args:
            seeds: the policy, or the same with each seed of its training; means are compared.
        """
        laals, laal = [one.laal for one in self._others], fmean(one.laal for one in seeds)
        if len(laals) < 2 or not laals[0] <= laal <= laals[-1]:
            return "", ""
        after = max(1, bisect_left(laals, laal))
        low, high = laals[after - 1], laals[after]
        share = (laal - low) / (high - low) if high > low else 0.0
        line = (1 - share) * self._points[after - 1] + share * self._points[after]
        differences = np.mean([self._drawn(one) for one in seeds], axis=0) - line
        observed, drawn = differences[0], differences[1:]
        n_as_far = int(np.sum(np.abs(drawn - observed) >= abs(observed)))
        return f"{observed:+.2f}", f"{(n_as_far + 1) / (len(drawn) + 1):.3f}"

    def _drawn(self, point: Point) -> NDArray[np.float64]:
        """Return BLEU of all sentences, then of each draw, shape (1 + samples,)."""
        statistics = np.array(
            self._bleu._extract_corpus_statistics(list(point.hypotheses), [self._references]),
            dtype=np.float64,
        )
        return np.array(
            [
                self._bleu._compute_score_from_stats(summed.tolist()).score
                for summed in self._times @ statistics
            ]
        )


class DivergenceTranslator(Translator):
    """Write where KL(after the newest word || before) > ``delta``, or the model is sure of a word.

    Source: LSG (Guo et al. 2025, https://arxiv.org/abs/2501.00868), whose second distribution is
    that of wait-1, and which decides about each token. Our deviations: a slot can only be asked
    with the source read so far, so the second one is that of the first look after the last write; a
    decision is about a whole write; being sure that there is nothing to write is no reason to
    write. The range of words is that of the policy.

    Args:
        delta: nats.
        sure: probability of a token other than end-of-write above which it is written (paper:
            alpha).
    """

    def __init__(
        self,
        weights: Weights,
        settings: TranslationSettings,
        *,
        delta: float,
        sure: float = SURE,
        capacity: int = 2048,
        log: EventLog | None = None,
    ) -> None:
        super().__init__(weights, settings, capacity=capacity, log=log)
        self._delta, self._sure = delta, sure
        self._asked: tuple[int, int] | None = None  # utterance, tokens chosen before the write
        self._before: NDArray[np.float64] = np.zeros(0)  # (V,)

    def _write_probability(self, utterance: Utterance) -> float:
        """Return 1 for a write, 0 for more source."""
        shares = distribution(self.model.logits())
        asked = utterance.number, utterance.n_chosen
        if asked != self._asked:
            self._asked, self._before = asked, shares
        words = np.delete(shares, utterance.prompt.end_of_write)
        is_news = divergence(shares, self._before) > self._delta
        return float(is_news or words.max() > self._sure)


def distribution(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the probabilities of logits, shape (V,), in float64."""
    shares = np.exp(logits.astype(np.float64) - float(logits.max()))
    return np.asarray(shares / shares.sum())


def divergence(new: NDArray[np.float64], old: NDArray[np.float64]) -> float:
    """Return KL(new || old) in nats of two distributions, shape (V,); 0 where nothing changed."""
    least = np.finfo(np.float64).tiny
    likely = new > 0
    return float((new[likely] * np.log(new[likely] / np.maximum(old[likely], least))).sum())


if __name__ == "__main__":
    main()
