"""Count captions that say the opposite: pairs of sentences that differ in one thing only.

``en-de.tsv`` holds the kind of a difference, two English sentences, and for each what a German
caption has if it keeps that side: beginnings of words, or ``!`` for nothing of the other side. All
our own; no training data may hold them (``surtitle-train prepare --held-out``).

A caption is *kept* if it has what belongs to its side and nothing of the other, a *flip* if it has
the other side's alone, and *unclear* in all other cases. A pair is right if both its captions are
kept. *Marked* is the share of the flips that the model's calibration calls doubtful, and of the
kept captions: a mark that stands on everything marks nothing.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import translate_lines
from engine.translation.slot_translator import Translator

SET = Path(__file__).with_name("en-de.tsv")
KEPT, FLIP, UNCLEAR = "kept", "flip", "unclear"
_NOTHING = "!"
_SHORT = 3
"""Marks of so many letters are whole words, longer ones beginnings of words."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences and the marks of their captions."""

    kind: str
    sources: tuple[str, str]
    marks: tuple[str, str]


def read_pairs(path: Path = SET) -> list[Pair]:
    """Read the set."""
    pairs = list[Pair]()
    for line in path.read_text("utf-8").splitlines():
        kind, *sources_and_marks = line.split("\t")
        one, other, marks, other_marks = sources_and_marks
        pairs.append(Pair(kind, (one, other), (marks, other_marks)))
    return pairs


def has(marks: str, caption: str) -> bool:
    """Tell whether a caption has one of the marks."""
    return any(re.search(_pattern(mark), caption, re.IGNORECASE) for mark in _alternatives(marks))


def _alternatives(marks: str) -> list[str]:
    return re.split(r"\|(?![^(]*\))", marks)


def _pattern(mark: str) -> str:
    if not re.fullmatch(r"[\w ]+", mark):
        return mark
    return rf"\b{mark}\b" if len(mark) <= _SHORT or mark.isdecimal() else rf"\b{mark}"


def judge(pair: Pair, side: int, caption: str) -> str:
    """Judge the caption of one side of a pair."""
    own, other = (pair.marks[each] for each in (side, 1 - side))
    has_other = other != _NOTHING and has(other, caption)
    has_own = not has_other if own == _NOTHING else has(own, caption)
    if other == _NOTHING:
        return KEPT if has_own else FLIP
    if has_own == has_other:
        return UNCLEAR
    return KEPT if has_own else FLIP


@dataclass(frozen=True, slots=True)
class Result:
    """A caption and what it is."""

    pair: Pair
    side: int
    caption: str
    judged: str
    marked: bool


def table(results: Sequence[Result]) -> str:
    """Return a table over the kinds of differences, and one line for all."""
    by_kind = defaultdict[str, list[Result]](list)
    for one in results:
        by_kind[one.pair.kind].append(one)
    lines = [
        "| difference | pairs right, % | captions | kept | flips | unclear |",
        "|" + "---|" * 6,
    ]
    for kind, some in [*by_kind.items(), ("all", list(results))]:
        n = Counter(one.judged for one in some)
        right = [
            one.judged == other.judged == KEPT for one, other in zip(*[iter(some)] * 2, strict=True)
        ]
        cells = (
            kind,
            f"{100 * sum(right) / len(right):.1f}",
            len(some),
            n[KEPT],
            n[FLIP],
            n[UNCLEAR],
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def marked_share(results: Sequence[Result], judged: str) -> float:
    """Return the share of such captions that are marked, in %; NaN if there are none."""
    some = [one.marked for one in results if one.judged == judged]
    return 100 * sum(some) / len(some) if some else float("nan")


def main(arguments: Sequence[str] | None = None) -> None:
    """Translate the set under a policy and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=Path("assets/models/surtitle-en-de"))
    parser.add_argument("--adapter", type=Path, help="(the bare model)")
    parser.add_argument("--policy", default="read:3")
    parser.add_argument("--show", action="store_true", help="print each flip")
    parser.add_argument("--out", type=Path, help="captions and verdicts as JSON")
    given = parser.parse_args(arguments)
    pairs = read_pairs()
    model = ModelSettings(directory=given.model, adapter=given.adapter, device="cpu")
    weights, settings = load_weights(model), TranslationSettings(policy=given.policy)
    sources = [(pair, side) for pair in pairs for side in (0, 1)]
    translations = translate_lines(
        lambda log: Translator(weights, settings, log=log),
        enumerate(pair.sources[side] for pair, side in sources),
    )
    calibration = weights.card.calibration
    results = list[Result]()
    for (pair, side), one in zip(sources, translations, strict=True):
        doubtful = calibration is not None and calibration.confidence(one.log_probability).is_low
        judged = judge(pair, side, one.hypothesis)
        results.append(Result(pair, side, one.hypothesis, judged, doubtful))
    sys.stdout.write(table(results) + "\n")
    for judged in (FLIP, UNCLEAR, KEPT):
        sys.stdout.write(f"marked of {judged}: {marked_share(results, judged):.1f} %\n")
    for one in results:
        if given.show and one.judged != KEPT:
            sys.stdout.write(f"{one.judged}: {one.pair.sources[one.side]} -> {one.caption}\n")
    if given.out:
        rows = [
            {"source": one.pair.sources[one.side], "caption": one.caption, "judged": one.judged,
             "marked": one.marked}
            for one in results
        ]  # fmt: skip
        given.out.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
