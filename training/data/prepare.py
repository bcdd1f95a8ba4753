"""Make a clean training file of parallel text.

Read a TSV or two aligned text files, write the pairs that ``training.data.cleaning`` keeps as one
TSV, whole or not at all, and report the dropped pairs by reason.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from training.data.cleaning import Cleaner, CleaningSettings, HeldOut, n_words
from training.data.corpus import (
    INVALID_UTF8,
    BrokenRow,
    SentencePair,
    read_lines,
    read_pairs,
    read_rows,
    write_json,
    write_pairs,
)
from training.errors import CorpusError

_N_EXAMPLES = 2
_EXAMPLE_WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareSettings:
    """Input, rules and output of one run."""

    sources: tuple[Path, ...]  # one TSV or two aligned text files
    out: Path
    cleaning: CleaningSettings
    held_out: tuple[Path, ...] = ()
    report: Path | None = None

    def __post_init__(self) -> None:
        if len(self.sources) not in (1, 2):
            msg = f"expected one TSV or two aligned text files, got {len(self.sources)} files"
            raise ValueError(msg)


@dataclass(slots=True)
class Report:
    """Counts of one run; read = kept + all dropped."""

    n_read: int = 0
    n_kept: int = 0
    n_source_words: float = 0
    n_target_words: float = 0
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> rows
    examples: dict[str, list[str]] = field(default_factory=dict)  # reason -> the first rows
    read_by_corpus: Counter[str] = field(default_factory=Counter)  # without broken rows
    kept_by_corpus: Counter[str] = field(default_factory=Counter)

    def count_dropped(self, reason: str, example: str) -> None:
        self.dropped[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < _N_EXAMPLES:
            examples.append(example)

    def count_kept(self, pair: SentencePair, cleaning: CleaningSettings) -> None:
        self.n_kept += 1
        self.kept_by_corpus[pair.corpus] += 1
        self.n_source_words += n_words(pair.source, cleaning.from_language)
        self.n_target_words += n_words(pair.target, cleaning.to_language)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object, reasons and corpora by descending count."""
        return {
            "read": self.n_read,
            "kept": self.n_kept,
            "source_words": round(self.n_source_words),
            "target_words": round(self.n_target_words),
            "dropped": {
                reason: {"rows": n_rows, "examples": self.examples[reason]}
                for reason, n_rows in self.dropped.most_common()
            },
            "corpora": {
                corpus: {"read": n_read, "kept": self.kept_by_corpus[corpus]}
                for corpus, n_read in self.read_by_corpus.most_common()
            },
        }

    def as_table(self) -> str:
        words = f"{self.n_source_words:,.0f} source words, {self.n_target_words:,.0f} target words"
        lines = [
            f"{self.n_read:>10,}  read",
            f"{self.n_kept:>10,}  kept ({words})",
            f"{self.dropped.total():>10,}  dropped",
        ]
        for reason, n_rows in self.dropped.most_common():
            lines.append(f"{n_rows:>10,}    {reason}")
            lines += [f"{'':14}| {_shortened(example)}" for example in self.examples[reason]]
        lines.append(f"{'kept':>10}  of {'read':>9}  corpus")
        lines += [
            f"{self.kept_by_corpus[corpus]:>10,}  of {n_read:>9,}  {corpus}"
            for corpus, n_read in self.read_by_corpus.most_common()
        ]
        return "\n".join(lines) + "\n"


def prepare(settings: PrepareSettings) -> Report:
    """Clean the corpus, write it, and report."""
    report = Report()
    cleaner = Cleaner(settings.cleaning, read_held_out(settings.held_out, settings.cleaning))
    # disable=None: no bar unless there is a terminal
    rows = tqdm(read_rows(settings.sources), unit=" rows", disable=None, leave=False)
    write_pairs(settings.out, _kept(rows, cleaner, settings, report))
    if settings.report is not None:
        write_json(settings.report, report.as_json())
    return report


def read_held_out(paths: Sequence[Path], cleaning: CleaningSettings) -> HeldOut:
    """Read test sentences from text files, TSVs and aligned files.

    A file ``NAME.en`` is read together with its translation ``NAME.de`` beside it (likewise for
    other languages). Any other file holds a sentence a line, or a sentence, a tab and its
    translation.
    """
    rows: list[tuple[str, str | None]] = []
    for path in paths:
        translation = path.with_suffix(f".{cleaning.to_language}")
        if path.suffix == f".{cleaning.from_language}" and translation.exists():
            rows += [(pair.source, pair.target) for pair in read_pairs((path, translation))]
        else:
            rows += _held_out_lines(path)
    return HeldOut(rows)


def _kept(
    rows: Iterable[SentencePair | BrokenRow],
    cleaner: Cleaner,
    settings: PrepareSettings,
    report: Report,
) -> Iterator[SentencePair]:
    for row in rows:
        report.n_read += 1
        if isinstance(row, BrokenRow):
            report.count_dropped(row.reason, f"line {row.line}: {row.text}")
            continue
        pair, reason_to_drop = cleaner.clean(row)
        report.read_by_corpus[pair.corpus] += 1
        if reason_to_drop:
            report.count_dropped(reason_to_drop, f"{pair.source} | {pair.target}")
        else:
            report.count_kept(pair, settings.cleaning)
            yield pair
    if not report.n_kept:
        reason, n_rows = report.dropped.most_common(1)[0]
        msg = (
            f"expected pairs to train on, but nothing is left of the {report.n_read} rows of "
            f"{settings.sources[0]} ({n_rows} times: {reason}); check the file and --to-language"
        )
        raise CorpusError(msg)


def _held_out_lines(path: Path) -> Iterator[tuple[str, str | None]]:
    for n_line, line in enumerate(read_lines(path), start=1):
        try:
            source, _, rest = line.decode().partition("\t")
        except UnicodeDecodeError as error:
            msg = f"expected UTF-8 text, but {path} has {INVALID_UTF8} in line {n_line}; mend it"
            raise CorpusError(msg) from error
        yield source, rest.partition("\t")[0] or None


def _shortened(text: str) -> str:
    return text if len(text) <= _EXAMPLE_WIDTH else text[: _EXAMPLE_WIDTH - 1] + "…"
