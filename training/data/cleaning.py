"""Make a clean training file of parallel text, with a reason for each pair that is dropped.

``prepare`` reads a TSV or two aligned text files, and writes the pairs that are fit to train on. A
pair is normalised (``tidy``, ``spelt``). The rules of ``_RULES`` then judge it on its own, and
``Cleaner`` against earlier text: test sentences, duplicates, too many translations of one sentence.
Nothing is random: equal rows in equal order give equal results. The rules resemble Moses'
clean-corpus-n and Bicleaner's hard rules (Sánchez-Cartagena et al. 2018,
https://aclanthology.org/W18-6488), tuned by hand on chat, everyday sentences and web prose: spoken
language stays, numbers and spelt names included. No rule judges whether a translation is right.
Lengths are in words; in a script without spaces they are computed from characters.
"""

import html
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path

from tqdm import tqdm

from engine.metrics.event_log import is_spaced
from engine.settings import at_least
from training.data.corpus import (
    INVALID_UTF8,
    BrokenRow,
    SentencePair,
    read_lines,
    read_pairs,
    read_rows,
    write_pairs,
)
from training.data.invented_facts import changed, compiled
from training.errors import CorpusError

_RATIO_SLACK = 6.0  # words the longer side may have beyond the ratio: short sentences vary
_MIN_LETTER_SHARE = 0.25  # of all characters but spaces and digits
_MAX_SYMBOL_SHARE = 0.1  # of all characters but spaces; symbols are those of code
_COPIED_WORDS = 3  # a copy of at most so many words may be names
_HELD_OUT_WORDS = 4  # shorter test sentences count only with their translation


class Reason(StrEnum):
    """Why a pair is dropped, as the report prints it."""

    EMPTY = "empty side"
    DAMAGED = "replacement character"
    TOO_LONG = "too long"
    FEW_LETTERS = "too few letters"
    MARKUP = "markup or URLs"
    SCRIPT = "wrong script"
    COPIED = "source copied"
    RATIO = "length ratio"
    HELD_OUT = "held out"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near-duplicate"
    MANY_TARGETS = "too many targets"


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningSettings:
    """Limits of the rules."""

    from_language: str = "en"
    to_language: str
    max_words: int = 80
    max_ratio: float = 2.0  # longer side to shorter side
    max_url_share: float = 0.4  # of all characters but spaces
    max_targets: int = 3  # translations kept of one source sentence

    def __post_init__(self) -> None:
        for language in (self.from_language, self.to_language):
            if language not in ORTHOGRAPHIES:
                known = " ".join(sorted(ORTHOGRAPHIES))
                msg = f"expected a language out of {known}, got {language!r}"
                raise ValueError(msg)
        for name in ("max_words", "max_targets"):
            at_least(name, getattr(self, name), 1)
        if not 0 <= self.max_url_share <= 1:
            msg = f"expected a share from 0 to 1, got {self.max_url_share}"
            raise ValueError(msg)
        if not self.max_ratio >= 1:  # this order catches nan
            msg = f"expected a ratio of 1 or more, got {self.max_ratio}"
            raise ValueError(msg)


class HeldOut:
    """A set of test sentences, which training pairs must not contain.

    A short sentence ("Good morning.") is in every corpus and reveals nothing by itself; it counts
    only together with its translation.
    """

    def __init__(self, rows: Iterable[tuple[str, str | None]] = ()) -> None:
        """Take source sentences, each with its translation if that is known."""
        self._sentences: set[str] = set()
        self._short_pairs: set[tuple[str, str]] = set()
        for source, target in rows:
            sentence = bare(tidy(source))
            if len(sentence.split()) >= _HELD_OUT_WORDS:
                self._sentences.add(sentence)
            elif target is not None:
                self._short_pairs.add((sentence, bare(tidy(target))))

    def holds(self, bare_source: str, bare_target: str) -> bool:
        """Return whether a pair, both sides ``bare``, contains a test sentence."""
        return bare_source in self._sentences or (bare_source, bare_target) in self._short_pairs


class Cleaner:
    """Clean pairs one after the other; of similar pairs, the first is kept.

    Owns the digests, 12 bytes each, of the pairs it kept.
    """

    def __init__(self, settings: CleaningSettings, held_out: HeldOut | None = None) -> None:
        self._settings = settings
        self._held_out = held_out or HeldOut()
        self._pairs: set[bytes] = set()
        self._bare_pairs: set[bytes] = set()
        self._n_targets: Counter[bytes] = Counter()

    def clean(self, pair: SentencePair) -> tuple[SentencePair, Reason | None]:
        """Return the normalised pair, and the reason to drop it or None."""
        source, target = (
            spelt(tidy(text), language)
            for text, language in (
                (pair.source, self._settings.from_language),
                (pair.target, self._settings.to_language),
            )
        )
        tidied = SentencePair(source, target, tidy(pair.corpus))
        return tidied, judge(tidied, self._settings) or self._judge_by_earlier_pairs(tidied)

    def _judge_by_earlier_pairs(self, pair: SentencePair) -> Reason | None:
        source, target = bare(pair.source), bare(pair.target)
        if self._held_out.holds(source, target):
            return Reason.HELD_OUT
        exact, alike = _digest(pair.source, pair.target), _digest(source, target)
        same_source = _digest(source)
        if exact in self._pairs:
            return Reason.DUPLICATE
        if alike in self._bare_pairs:
            return Reason.NEAR_DUPLICATE
        if self._n_targets[same_source] >= self._settings.max_targets:
            return Reason.MANY_TARGETS
        self._pairs.add(exact)
        self._bare_pairs.add(alike)
        self._n_targets[same_source] += 1
        return None


def judge(pair: SentencePair, settings: CleaningSettings) -> Reason | None:
    """Return the reason of the first rule that a tidy pair breaks on its own."""
    return next((reason for reason, breaks in _RULES if breaks(pair, settings)), None)


_SYMBOL = re.compile(r"[<>{}\[\]|\\/~^=#@_+&`]")
_FEW_SYMBOLS = 2  # "Date & time" and "1 GB/month" are short, but no code
_URL = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+|\w*(?:/\w+){2,}", re.IGNORECASE)
_MARKUP = re.compile(
    r"""
    < \s* /? \s* [a-z!] [^<>]* >      # a tag, also one taken apart: < ref >
    | \]\( | \[\[ | \]\]              # links of Markdown and wikis
    | \\[*_\[\]()`\#]                 # escapes of Markdown
    | \*\*\w | \b__\S | ```           # bold, fences
    | ^ (?: \#{1,6}\s | \| )          # headings, tables
    | \{\{ | \}\} | \{% | \$\{        # templates
    """,
    re.IGNORECASE | re.VERBOSE,
)


def _digest(*texts: str) -> bytes:
    return blake2b("\t".join(texts).encode(), digest_size=12).digest()


def _is_too_long(pair: SentencePair, settings: CleaningSettings) -> bool:
    n_most = max(
        n_words(pair.source, settings.from_language), n_words(pair.target, settings.to_language)
    )
    return n_most > settings.max_words


def _has_few_letters(pair: SentencePair) -> bool:
    counts = [n_letters(text) for text in (pair.source, pair.target)]
    if not any(counts):  # a telephone number is worth learning to copy
        return not bare(pair.source) or bare(pair.source) != bare(pair.target)
    for text, count in zip((pair.source, pair.target), counts, strict=True):
        n_no_digits = n_characters(text) - sum(map(str.isdigit, text))
        if count == 0 or count < _MIN_LETTER_SHARE * n_no_digits:
            return True
    return False


def _has_markup(pair: SentencePair, settings: CleaningSettings) -> bool:
    for text in (pair.source, pair.target):
        n_symbols, n_url = len(_SYMBOL.findall(text)), sum(map(len, _URL.findall(text)))
        if (
            _MARKUP.search(text)
            or text.count("`") % 2
            or n_symbols > max(_FEW_SYMBOLS, _MAX_SYMBOL_SHARE * n_characters(text))
            or n_url > settings.max_url_share * n_characters(text)
        ):
            return True
    return False


def _is_in_wrong_script(pair: SentencePair, settings: CleaningSettings) -> bool:
    return not (
        is_in_script(pair.source, settings.from_language)
        and is_in_script(pair.target, settings.to_language)
    )


def _is_copied(pair: SentencePair) -> bool:
    source = bare(pair.source)
    if source != bare(pair.target):
        return False
    # A name that is spelt letter by letter is a right copy.
    return sum(n_letters(word) > 1 for word in source.split()) > _COPIED_WORDS


def _has_odd_ratio(pair: SentencePair, settings: CleaningSettings) -> bool:
    shorter, longer = sorted(
        (length(pair.source, settings.from_language), length(pair.target, settings.to_language))
    )
    return longer > settings.max_ratio * shorter + _RATIO_SLACK


_RULES: tuple[tuple[Reason, Callable[[SentencePair, CleaningSettings], bool]], ...] = (
    (Reason.EMPTY, lambda pair, _: not pair.source or not pair.target),
    (Reason.DAMAGED, lambda pair, _: "\ufffd" in pair.source + pair.target),
    (Reason.TOO_LONG, _is_too_long),
    (Reason.FEW_LETTERS, lambda pair, _: _has_few_letters(pair)),
    (Reason.MARKUP, _has_markup),
    (Reason.SCRIPT, _is_in_wrong_script),
    (Reason.COPIED, lambda pair, _: _is_copied(pair)),
    (Reason.RATIO, _has_odd_ratio),
)


@dataclass(frozen=True, slots=True)
class Orthography:
    """Script and word length of a language."""

    letters: re.Pattern[str]
    letters_per_word: float = 5.0
    min_share: float = 0.7  # of the words of a text; the rest may be names in other scripts


_LATIN = Orthography(
    re.compile("[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]")
)
_CYRILLIC = Orthography(re.compile("[\u0400-\u052f]"))
_LATIN_LANGUAGES = "ca cs da de en es et fi fr hr hu it lt lv nl no pl pt ro sk sl sv tr vi"
_HAN = "々〇㐀-䶿一-鿿豈-龎𠀀-𳎯"
_KANA = "\u3041-\u30ff"

ORTHOGRAPHIES: dict[str, Orthography] = {
    **dict.fromkeys(_LATIN_LANGUAGES.split(), _LATIN),
    **dict.fromkeys(("be", "bg", "mk", "ru", "uk"), _CYRILLIC),
    "ar": Orthography(re.compile("[\u0620-\u06ff\u0750-\u077f]")),
    "el": Orthography(re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    "he": Orthography(re.compile("[\u05d0-\u05ea]")),
    "hi": Orthography(re.compile("[\u0900-\u097f]")),
    "ja": Orthography(re.compile(f"[{_HAN}{_KANA}]"), letters_per_word=2.3, min_share=0.2),
    "ko": Orthography(re.compile("[\uac00-\ud7a3]"), letters_per_word=2.5),
    "zh": Orthography(re.compile(f"[{_HAN}]"), letters_per_word=1.7, min_share=0.2),
}

_SPELLING = {
    language: compiled(table["rules"])
    for language, table in tomllib.loads(
        Path(__file__).with_name("spelling.toml").read_text(encoding="utf-8")
    ).items()
}

_INVISIBLE = dict.fromkeys(
    (
        *(*range(0x20), *range(0x7F, 0xA0)),  # control characters
        *(0xAD, 0x180E, 0xFEFF, *range(0x200B, 0x200E), *range(0x2060, 0x2070)),  # zero width
        *(0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F)),  # marks of direction
    )
)
_ENTITY = re.compile(r"&(?:[A-Za-z]+[0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);")
_ANCHOR = re.compile(r"(?<=\S)(?:\[\[[a-z0-9_-]+\]\])+$")
_LETTER = re.compile(r"[^\W\d_]")
_NO_WORD = re.compile(r"[\W_]+")


def tidy(text: str) -> str:
    """Normalise text: NFC, no invisible characters, single spaces, none at the ends.

    HTML entities become their characters; the anchor after a heading
    (``Mask filling[[mask-filling]]``) is removed. So are joiners, which splits the emoji of a
    family.
    """
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    text = " ".join(text.split())  # tabs and line ends are spaces, too
    if not (text.isascii() and text.isprintable()):
        text = " ".join(unicodedata.normalize("NFC", text.translate(_INVISIBLE)).split())
    return _ANCHOR.sub("", text)


def spelt(text: str, language: str) -> str:
    """Spell tidy text as its language mostly is: marks have their blanks, apostrophes one shape."""
    return changed(text, _SPELLING.get(language, ()))


def bare(text: str) -> str:
    """Reduce tidy text to its words, without case and punctuation, for comparison."""
    return _NO_WORD.sub(" ", text.casefold()).strip()


def n_characters(text: str) -> int:
    """Count the characters of tidy text, without spaces."""
    return len(text) - text.count(" ")


def n_letters(text: str) -> int:
    """Count the letters of any script."""
    return len(_LETTER.findall(text))


def n_words(text: str, language: str) -> float:
    """Count the words of tidy text; in a script without spaces, by its characters."""
    return len(text.split()) if is_spaced(language) else length(text, language)


def length(text: str, language: str) -> float:
    """Measure tidy text in words by its characters: long words count more."""
    n_own = _n_own_letters(text, language)
    n_others = n_characters(text) - n_own
    return n_own / ORTHOGRAPHIES[language].letters_per_word + n_others / _LATIN.letters_per_word


def is_in_script(text: str, language: str) -> bool:
    """Return whether enough letters are of the language; text without letters is in any script."""
    n_own = _n_own_letters(text, language)
    own = n_own / ORTHOGRAPHIES[language].letters_per_word
    others = (n_letters(text) - n_own) / _LATIN.letters_per_word
    return own >= ORTHOGRAPHIES[language].min_share * (own + others)


def _n_own_letters(text: str, language: str) -> int:
    return len(ORTHOGRAPHIES[language].letters.findall(text))


# One run ------------------------------------------------------------------------------------------

_N_EXAMPLES = 2
_EXAMPLE_WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareSettings:
    """Input, rules and output of one run."""

    sources: tuple[Path, ...]  # one TSV or two aligned text files
    out: Path
    cleaning: CleaningSettings
    held_out: tuple[Path, ...] = ()

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
