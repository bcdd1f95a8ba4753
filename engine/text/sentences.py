"""Split words into utterances: at sentence ends, or where a text without any is too long.

``SourceLanguage`` notices that a source is in another language than expected, by its most frequent
words (``assets/stop_words.toml``). Where few letters tell languages apart, as in names and numbers,
nothing is noticed; other scripts are ``is_strange``.
"""

import re
import tomllib
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from engine.files import ASSETS
from engine.messages import Code, Message
from engine.metrics.event_log import is_spaced
from engine.settings import UtteranceLimits
from engine.text.quantities import ENGLISH
from engine.text.source import plain

_MARKS, _CLOSING = ".!?…。！？｡؟۔।॥።၊။", r"\"'”’»)\]」』"

SENTENCE_END = re.compile(rf"[{_MARKS}]+[{_CLOSING}]*\Z")
"""The end of the last word of a sentence, in any language."""

CAPTION_END = re.compile(rf"[{_MARKS}]+[{_CLOSING}“‘«]*\Z")
"""The same in a caption, which may be in a language that closes with what others open with."""

_FULL_STOPS = {
    "CJK": "。", "HIRAGANA": "。", "KATAKANA": "。", "DEVANAGARI": "।", "BENGALI": "।",
    "ETHIOPIC": "።", "MYANMAR": "။",
}  # fmt: skip
"""Full stops by the first word of a letter's Unicode name, if other than for Latin letters."""

_FULL_STOPS_AT_END = re.compile(r"[.。।۔።။]+\Z")
_CLAUSE_END = re.compile(r"[,;:–—،；，][\"'”’»)\]]*$")
_NEVER_ENDS, _SELDOM_ENDS, _UNITS, _DAYS, _STARTERS = (
    frozenset(ENGLISH[name])
    for name in ("never_end", "seldom_end", "end_after_digits", "end_in_small", "starters")
)
_AFTER_HOURS = ENGLISH["after_hours"]
_INITIALS = re.compile(r"(?:[a-z]\.)+[a-z]?\.?|ph\.d\.")
_OPENING = "\"'“‘«(["
_MAX_WORD_BYTES = 160


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words that are translated together; ``ended``: no further word belongs to them."""

    words: tuple[str, ...]
    ended: bool

    @property
    def full_stop(self) -> str:
        """The full stop to feed after the words if they end without a mark; else empty.

        Models are trained on sentences with marks: without one they wait for more words, and hold
        back the end of the translation.
        """
        if not self.ended or not self.words or SENTENCE_END.search(self.words[-1]):
            return ""
        letters = (letter for letter in reversed(self.words[-1]) if letter.isalpha())
        script = unicodedata.name(next(letters, "A"), "").partition(" ")[0].partition("-")[0]
        return _FULL_STOPS.get(script, ".")

    @property
    def end_alone(self) -> bool:
        """Whether the end is read after the last word, as one that is typed or heard later.

        So it is with every end that the last word does not show by its punctuation. When an end
        becomes known then changes nothing: a text has one translation, however it comes.
        """
        return self.ended and not (self.words and _ends(self.words, len(self.words) - 1))


def is_strange(words: Sequence[str]) -> bool:
    """Return whether no model here can read a text as its source: most letters are not Latin.

    So is a text without any letter or digit: models turn emoji into meaningless numbers.
    """
    letters = [letter for word in words for letter in word if letter.isalpha()]
    if not letters:
        return not any(character.isalnum() for word in words for character in word)
    n_latin = sum("LATIN" in unicodedata.name(letter, "") for letter in letters)
    return 2 * n_latin < len(letters)


def cut_full_stops(text: str) -> tuple[str, str]:
    """Split a text into its body and the full stops at its end."""
    match = _FULL_STOPS_AT_END.search(text)
    return (text, "") if match is None else (text[: match.start()], match.group())


def without_full_stop(text: str) -> str:
    """Remove the full stop at the end of a text; several are an ellipsis and stay."""
    rest, stops = cut_full_stops(text)
    return rest if len(stops) == 1 else text


def ends_sentence(word: str) -> bool:
    """Return whether a word ends a sentence by its punctuation, whatever stands beside it."""
    return _ends((word,), 0)


def _ends(words: Sequence[str], n: int, start: int = 0) -> bool:
    """Return whether a sentence ends with its word ``n``; an abbreviation waits for the next word.

    ``words`` are as far as they have come, ``start`` is the first one of the sentence.
    """
    word = plain(words[n]).lstrip(_OPENING)
    small, short = word.lower(), word.lower().removesuffix(".")
    if not SENTENCE_END.search(word) or short in _NEVER_ENDS:
        return False
    is_amount = n > start and plain(words[n - 1])[:1].isdecimal()
    is_other = (short in _UNITS and not is_amount) or (short in _DAYS and word == small)
    if is_other or not (short in _SELDOM_ENDS or _INITIALS.fullmatch(small)):
        return True
    if n + 1 == len(words):
        return small == "no." and n == start
    after = plain(words[n + 1]).lstrip(_OPENING)
    if small == "no.":
        return not after[:1].isdecimal()
    if small in ("a.m.", "p.m."):
        return after[:1].isupper() and not (after[:2].isupper() or after.startswith(_AFTER_HOURS))
    return after[:1].isupper() and re.split(r"[^\w]", after)[0].lower() in _STARTERS


def split_sentences(
    words: Sequence[str], limits: UtteranceLimits, *, finished: bool
) -> list[Sentence]:
    """Split words into sentences, deterministically; one of over 160 bytes becomes several.

    With ``finished`` the last sentence has ended too, with or without punctuation.
    """
    sentences = list[Sentence]()
    current = list[str]()
    n_bytes = 0
    parts = [part for whole in words for part in word_parts(whole)]
    for n, word in enumerate(parts):
        size = len(word.encode()) + 1
        if current and n_bytes + size > limits.max_bytes:
            sentences.append(Sentence(tuple(current), ended=True))
            current, n_bytes = [], 0
        current.append(word)
        n_bytes += size
        if _ends(parts, n, n + 1 - len(current)) or _too_long(current, limits):
            sentences.append(Sentence(tuple(current), ended=True))
            current, n_bytes = [], 0
    if current:
        sentences.append(Sentence(tuple(current), ended=finished))
    return sentences


def _too_long(words: Sequence[str], limits: UtteranceLimits) -> bool:
    at_clause = len(words) >= limits.soft_words and _CLAUSE_END.search(words[-1]) is not None
    return at_clause or len(words) >= limits.max_words


def word_parts(word: str) -> list[str]:
    """Split a word that is too long; a character has at most four bytes."""
    if len(word.encode()) <= _MAX_WORD_BYTES:
        return [word]
    step = _MAX_WORD_BYTES // 4
    return [word[start : start + step] for start in range(0, len(word), step)]


def well_formed(word: str) -> str:
    """Replace halves of surrogate pairs, which have no UTF-8."""
    return word.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def committed_words(text: str, *, finished: bool = False) -> list[str]:
    """List the whitespace words of a line; the last one only if it cannot grow any more.

    With ``finished`` the last word counts although no blank follows it.
    """
    words = text.split()
    if words and not finished and not text[-1].isspace():
        words.pop()
    return words


def cut_line(line: str, limits: UtteranceLimits) -> list[Sentence]:
    """Return the utterances of a line, all ended: one unless it is over the limits."""
    words = tuple(part for word in line.split() for part in word_parts(word))
    n_bytes = sum(len(word.encode()) + 1 for word in words)
    if words and len(words) <= limits.max_words and n_bytes <= limits.max_bytes:
        return [Sentence(words, ended=True)]
    return split_sentences(words, limits, finished=True)


_LISTS = ASSETS / "stop_words.toml"
_N_WORDS = 24  # the newest ones count: about two sentences
_LEAST = 4  # words of another language
_TIMES = 2  # as many as of the expected one, and more
_WORD = re.compile(r"[^\W\d_]+")


class SourceLanguage:
    """Follow the words of one speaker, which should be in a language, by its code.

    ``feed`` returns the language that the newest words are in, unless it is the expected one or
    none that is known by its words.
    """

    def __init__(self, expected: str) -> None:
        self._expected = expected
        self._newest = deque[str](maxlen=_N_WORDS)

    def feed(self, words: Iterable[str]) -> str | None:
        self._newest.extend(match.lower() for match in _WORD.findall(" ".join(words)))
        known = _stop_words()
        expected = known.get(self._expected)
        if expected is None:
            return None
        n_expected = sum(word in expected for word in self._newest)
        others = Counter[str]()
        for language, stop_words in known.items():
            if language != self._expected:
                others[language] = sum(
                    word in stop_words and word not in expected for word in self._newest
                )
        (first, n_first), (_, n_second) = others.most_common(2)
        is_other = n_first >= _LEAST and n_first > max(n_second, _TIMES * n_expected)
        return first if is_other else None


@cache
def _stop_words() -> dict[str, frozenset[str]]:
    lists = tomllib.loads(_LISTS.read_text(encoding="utf-8"))
    return {language: frozenset(words.split()) for language, words in lists.items()}


def source_notice(language: str) -> Message | None:
    """Return a notice if a source language has no blanks, at which words are separated here."""
    return None if is_spaced(language) else Code.SOURCE_UNSPACED()
