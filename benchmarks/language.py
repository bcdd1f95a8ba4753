"""Measure a bundled model: all that its card and ``docs/results`` tell of it, by one command.

    python -m benchmarks.language fr --dev DEV --out OUT

Our meeting sentences and each set of ``DEV/SET/en-fr.en`` and ``.fr`` are translated under read:3
by ``surtitle-train evaluate``: whole as they are written, and their first lines as a recogniser
might give them. ``OUT/results.md`` has the tables and every fourth meeting sentence with its
caption, ``OUT/results.json`` the same as numbers. A run that was stopped goes on where it was; the
folders ``OUT/written/SET`` are what ``surtitle-train calibrate --run`` takes.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.faithfulness import Counts, read_pairs, recognised
from benchmarks.meeting_set import SETS, read_set, score
from engine.text.written import HarmfulWords
from training.data.corpus import write_lines

POLICY = "read:3"
MEETINGS = "meetings"
WRITTEN, HEARD = "written", "heard"
BLEU_AIMS = {
    "tatoeba.dev": 40.0,
    "wmt.newstest2013": 15.0,
    "multi30k.test2016": 24.0,
    MEETINGS: 50.0,
}
"""BLEU that a bundled French or Spanish model should reach."""

NUMBERS_AIM, NAMES_AIM, LOOPS_AIM = 97.0, 95.0, 1.0  # % of lines, of names, of lines at most
EVERY = 4  # of the meeting sentences are shown
_SHORT = 0.5  # of the words that were said: a caption with fewer ends too early


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A set in one form.

    Attributes:
        name: of the set.
        form: as it is written, or as a recogniser might give it.
        bleu, chrf, laal: of all lines.
        fed: tokens fed for a sentence.
        recomputed: tokens that were fed again, in all lines.
        loops: lines whose caption loops.
        short: lines whose caption has less than half as many words as were said.
        counts: numbers, names and harmful words.
    """

    name: str
    form: str
    bleu: float
    chrf: float
    laal: float
    fed: float
    recomputed: int
    loops: int
    short: int
    counts: Counts

    @property
    def numbers(self) -> float | None:
        """Share of the lines with numbers whose caption has all of them and no other, in %."""
        return _percent(self.counts.numbers_right, self.counts.with_numbers)

    @property
    def names(self) -> float | None:
        """Share of the names that the captions keep, in %."""
        return _percent(self.counts.names_kept, self.counts.names)


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def evaluated(
    folder: Path, pairs: Sequence[tuple[str, str]], arguments: argparse.Namespace
) -> tuple[dict[str, float], list[str]]:
    """Translate pairs by ``surtitle-train evaluate``; return its scores and the captions."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    files = [data / f"en-{arguments.to}.en", data / f"en-{arguments.to}.{arguments.to}"]
    for file, lines in zip(files, zip(*pairs, strict=True), strict=True):
        write_lines(file, list(lines))
    command = [
        *(sys.executable, "-m", "training", "evaluate", "--model", str(arguments.model)),
        *("--source", str(files[0]), "--reference", str(files[1]), "--to", arguments.to),
        *("--policies", POLICY, "--batch", str(arguments.batch), "--workers", "1"),
        *("--out", str(folder)),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (scores,) = json.loads((folder / "summary.json").read_text("utf-8"))
    return scores, (folder / f"{POLICY}.hyp").read_text("utf-8").split("\n")[: len(pairs)]


def measured(
    name: str, form: str, pairs: Sequence[tuple[str, str]], arguments: argparse.Namespace
) -> tuple[Measured, list[str]]:
    """Measure a set; return its captions, too."""
    scores, captions = evaluated(arguments.out / form / name, pairs, arguments)
    counts, harmful, short = Counts(), HarmfulWords(arguments.to), 0
    for (source, reference), caption in zip(pairs, captions, strict=True):
        counts.take(source, reference, caption, harmful, arguments.to)
        short += len(caption.split()) < _SHORT * len(source.split())
    found = Measured(
        name=name,
        form=form,
        bleu=scores["bleu"],
        chrf=scores["chrf"],
        laal=scores["laal"],
        fed=scores["tokens_fed"] / len(pairs),
        recomputed=int(scores["tokens_recomputed"]),
        loops=int(scores["n_degenerate"]),
        short=short,
        counts=counts,
    )
    return found, captions


def score_table(rows: Sequence[Measured]) -> Iterator[str]:
    """Yield the lines of a table: quality and cost."""
    yield "| set (lines) | BLEU | chrF | LAAL | tokens fed a sentence | fed again | loops | short |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in rows:
        figures = f"{one.bleu:.1f} | {one.chrf:.1f} | {one.laal:.2f} | {one.fed:.1f}"
        lines = f"{one.name} ({one.counts.lines:,})"
        yield f"| {lines} | {figures} | {one.recomputed} | {one.loops} | {one.short} |"


def faithful_table(rows: Sequence[Measured]) -> Iterator[str]:
    """Yield the lines of a table: what the captions say that nobody said, and what they lose."""
    yield "| set | lines | as | numbers right, % | invented | names kept, % | harmful |"
    yield "|---|---|---|---|---|---|---|"
    for one in rows:
        shares = ["–" if it is None else f"{it:.1f}" for it in (one.numbers, one.names)]
        counts = one.counts
        yield (
            f"| {one.name} | {counts.lines:,} | {one.form} | {shares[0]} "
            f"| {counts.numbers_invented} | {shares[1]} | {counts.harmful} |"
        )


def aims(rows: Sequence[Measured], numbers: float, names: float) -> Iterator[str]:
    """Yield each aim with what was seen.

    Args:
        rows: the sets as they are written.
        numbers: right in the meetings by their references, in %.
        names: kept there, in %.
    """
    lines = sum(one.counts.lines for one in rows)
    loops = 100 * sum(one.loops for one in rows) / lines
    for one in rows:
        if (aim := BLEU_AIMS.get(one.name)) is not None:
            yield _told(f"BLEU of {one.name}", one.bleu, aim, reached=one.bleu >= aim)
    yield _told("numbers of the meetings, %", numbers, NUMBERS_AIM, reached=numbers >= NUMBERS_AIM)
    yield _told("names of the meetings, %", names, NAMES_AIM, reached=names >= NAMES_AIM)
    yield _told("loops, %", loops, LOOPS_AIM, reached=loops <= LOOPS_AIM)
    for what, n in (
        ("tokens fed again", sum(one.recomputed for one in rows)),
        ("harmful captions", sum(one.counts.harmful for one in rows)),
    ):
        yield _told(what, n, 0, reached=n == 0)


def _told(what: str, seen: float, aim: float, *, reached: bool) -> str:
    return f"* {what}: {seen:.4g}, aim {aim:g}: {'reached' if reached else '**not reached**'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("to", choices=sorted(SETS), help="target language")
    parser.add_argument("--model", type=Path, help="(assets/models/surtitle-en-LANG)")
    parser.add_argument("--dev", type=Path, required=True, help="has SET/en-LANG.en and .LANG")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", help="names of those in DEV, by commas (all)")
    parser.add_argument("--limit", type=int, help="lines of each set but the meetings (all)")
    parser.add_argument("--heard", type=int, default=1500, help="lines as recognised (1500)")
    parser.add_argument("--batch", type=int, default=32, help="lines side by side (32)")
    arguments = parser.parse_args()
    to = arguments.to
    arguments.model = arguments.model or Path(f"assets/models/surtitle-en-{to}")
    files = {file.parent.name: file for file in sorted(arguments.dev.glob(f"*/en-{to}.en"))}
    wanted = arguments.sets.split(",") if arguments.sets else [*files]
    unknown = [name for name in wanted if name not in files]
    if unknown or not wanted:
        parser.error(f"expected sets among {', '.join(files) or 'none'} in --dev, got {unknown}")
    pairs = {MEETINGS: read_pairs(SETS[to], to, None)}
    pairs |= {name: read_pairs(files[name], to, arguments.limit) for name in wanted}
    written, heard = list[Measured](), list[Measured]()
    said: list[str] = []
    for name, lines in pairs.items():
        row, captions = measured(name, WRITTEN, lines, arguments)
        said = said or captions  # the meetings are the first
        written.append(row)
        spoken = recognised(lines[: arguments.heard])
        heard.append(measured(name, HEARD, spoken, arguments)[0])
        print(f"{name}: BLEU {row.bleu:.1f}", file=sys.stderr, flush=True)
    sentences = read_set(to)
    shown = [*zip(sentences, said, strict=True)][::EVERY]
    own = score(POLICY, sentences, said, to)
    text = [
        *("## Scores", "", *score_table(written), ""),
        *("## Numbers, names, harmful words", "", *faithful_table([*written, *heard]), ""),
        f"Meetings by their references: numbers {own.numbers_right} %, names {own.names_kept} %.",
        *("", "## Aims", "", *aims(written, own.numbers_right, own.names_kept), ""),
        *("## Forty captions", "", "| said | caption |", "|---|---|"),
        *(f"| {one.source} | {caption} |" for one, caption in shown),
    ]
    write_lines(arguments.out / "results.md", text)
    rows = [asdict(one) for one in (*written, *heard)]
    content = json.dumps({"sets": rows, MEETINGS: asdict(own)}, indent=1)
    (arguments.out / "results.json").write_text(content + "\n", "utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
