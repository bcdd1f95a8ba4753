"""The one door of a source, typed, pasted, heard or from a file: what a model reads of it. Pure.

| in the source | what the model reads |
|---|---|
| letters in two characters (NFD), ligatures, full width | one letter (NFC), plain letters (NFKC) |
| ``&amp;``, ``Ã¼`` | ``&``, ``ü`` |
| characters that nobody sees | nothing; within emoji and other scripts they stay |
| quotes and blanks of typesetters, ``½`` | those of a keyboard, *half* |
| a sentence in capitals; DO NOT | small letters; names and acronyms as far as known |
| numbers, hours, years, money in digits or words | one form (``engine.text.quantities``) |
| emoji, words in scripts that the model cannot read | nothing: they stand in the caption |
| a word that no model can know | the word that is meant, or a name (``engine.text.spelling``) |
| nothing but *uh*, *um* | nothing |
| tags, placeholders, hashtags, @names, code, paths, rare signs | likewise |

Words become certain in their order: what is read of a beginning is the beginning of what is read of
the whole. So a word waits where the next one may belong to it.
"""

import contextlib
import html
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from engine.text.quantities import ENGLISH, Quantity, SourceWord, read
from engine.text.spelling import core, spelt

if TYPE_CHECKING:
    from engine.text.punctuation import Punctuation

_PLAIN = str.maketrans(
    {
        "\u00a0": " ",
        "\u2010": "-",
        "\u2011": "-",
        "…": "...",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
    }
)
_COMPATIBLE = re.compile("<(?:compat|wide|narrow|font|small)>")
_FRACTION = re.compile("([0-9]*)([¼-¾⅐-⅞])")
_TAG = re.compile(r"</?[A-Za-z][^<>\s]*/?>")
_ABOUT = re.compile("([~≈±])([0-9].*)")
_RARE = re.compile(
    r"[<>{}\[\]|\\^~`=*→¶†‡¬¦¤µ§]|#(?!\d)|\(\)|&&|%[a-z(]|^_|_$|^:\w+$|^[@/]\w|^(?:--|\.{1,2}/)\w|^[+@]$"
)
"""What stands in no word of a talk, and so is not in what models learn from."""

_MARKS = frozenset("-–—.…,;:!?'\"()&/%«»„“‚‘¿¡°+\u2212$€£¥")
_RARE_SIGNS = frozenset("#*<=>@[\\]^_`{|}~")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")
_FIRST_PICTOGRAPH = 0x2190
_LOUD = frozenset(ENGLISH["emphasised"])
_ACRONYMS = frozenset(ENGLISH["acronyms"])


@cache
def _punctuation() -> "Punctuation | None":
    from engine.text.punctuation import punctuation_for  # noqa: PLC0415  numpy, seldom needed

    return punctuation_for("en")


def _is_name(before: Sequence[str], core: str, first: str, n_before: int) -> bool:
    from engine.text.punctuation import UNKNOWN  # noqa: PLC0415  as above

    weights = _punctuation()
    return bool(weights and weights.chances(before, core, UNKNOWN, first, n_before)[1])


def read_source(
    words: Sequence[str],
    *,
    ended: bool,
    english: bool = True,
    any_script: bool = False,
    terms: Collection[str] | None = (),
) -> list[SourceWord]:
    """Read the words of a sentence, as far as they are certain.

    Args:
        words: without blanks.
        ended: there are no others.
        english: numbers and capitals are understood.
        any_script: the model reads other scripts than the Latin one, too.
        terms: words in small letters that are spelt as they should be; None: all are.
    """
    split = [_split(word, any_script=any_script) for word in words]
    if split and split[0].text in tuple("-–—"):  # of a dialogue
        split[0] = SourceWord("", (words[0],))
    texts = [one.text for one in split]
    if not english:
        return split
    if all(core(text)[1].casefold() in ENGLISH["hesitations"] for text in texts):
        return [SourceWord("") for _ in texts] if ended else []  # models write a lone full stop
    calm = _calm(texts, ended=ended)
    calm = [_spelt(word, before, terms) for before, word in zip(["", *calm], calm, strict=False)]
    found, at = list[SourceWord](), 0
    while at < len(calm):
        one = split[at]
        if one.text:
            number = read(calm, at, ended=ended)
            if number is None:
                break
            n = number.n_words
            one = replace(one, text=number.text, numbers=number.numbers, n_words=n)
            if n > 1:
                about = [it.before + it.after for it in split[at : at + n]]
                one = replace(one, before=(), after=sum(about, ()))
        found.append(one)
        at += one.n_words
    return found


@dataclass(frozen=True, slots=True)
class Heard:
    """The part of a source that a model has read: its text and the numbers in it."""

    text: str
    numbers: tuple[Quantity, ...] = ()


def heard(text: str) -> Heard:
    words = [one for one in read_source(text.split(), ended=True) if one.text]
    numbers = tuple(number for one in words for number in one.numbers)
    return Heard(" ".join(one.text for one in words), numbers)


def is_rare(char: str) -> bool:
    """Return whether a character is a sign that stands in no caption, unless in its source."""
    kind = unicodedata.category(char)
    return char in _RARE_SIGNS or (
        kind in ("Sm", "So", "Sc", "No", "Cn", "Co") and char not in "+°²³$€£¥"
    )


def plain(word: str) -> str:
    """Return a word in one form of Unicode, with the marks of a keyboard."""
    if word.isascii() and word.isprintable():
        return html.unescape(word) if ";" in word else word
    with contextlib.suppress(UnicodeError):  # UTF-8 that was read as Windows-1252: Ã¼
        word = b"".join(map(_windows_byte, word)).decode()
    kept = ""
    for char in unicodedata.normalize("NFC", word.replace("\ufffd", "")):
        if unicodedata.category(char) in ("Cf", "Cc"):
            kept += char if kept and not _is_plain(kept[-1]) else ""
        elif _COMPATIBLE.match(unicodedata.decomposition(char)) and char not in "…\u00a0":
            kept += unicodedata.normalize("NFKC", char)
        else:
            kept += char
    return _FRACTION.sub(_fraction, kept.translate(_PLAIN)).strip()


def _windows_byte(char: str) -> bytes:
    return char.encode("latin-1" if "\x80" <= char <= "\x9f" else "cp1252")  # which lacks five


def _fraction(match: re.Match[str]) -> str:
    whole, sign = match.groups()
    if whole:
        return f"{int(whole) + unicodedata.numeric(sign):.3g}"
    return "half" if sign == "½" else unicodedata.normalize("NFKC", sign).replace("\u2044", "/")


def _is_plain(char: str) -> bool:
    return char.isascii() or _is_latin(char) or unicodedata.category(char)[0] in "PZ"


@lru_cache(maxsize=4096)  # each word comes again with each that follows
def _split(word: str, *, any_script: bool) -> SourceWord:
    """Part what the model reads of a word from what passes it by."""
    text = plain(word)
    if tags := _TAG.findall(text):
        inner = _TAG.sub("", text)
        n_before = sum(text.find(tag) < text.find(inner) for tag in dict.fromkeys(tags))
        if inner and inner in text and not _RARE.search(inner):
            return SourceWord(inner, tuple(tags[:n_before]), tuple(tags[n_before:]))
        return SourceWord("", (word,))
    if (about := _ABOUT.fullmatch(text)) or text == "@":
        return SourceWord(about[2], (about[1],)) if about else SourceWord("at")
    is_odd = any(unicodedata.category(char) in ("Sm", "Sc") for char in set(text) - _MARKS)
    if is_odd or _RARE.search(text.lstrip("\"'(").rstrip(".,;:!?\"'")):
        return SourceWord("", (word,))
    pictures = "".join(filter(_is_pictograph, text))
    kept = "".join(char for char in text if not _is_pictograph(char))
    if any(map(_is_latin, kept)) or (any_script and any(map(str.isalpha, kept))):
        return SourceWord(kept, (), (pictures,) if pictures else ())
    is_passed = pictures or any(map(str.isalpha, text)) or set(text) - _MARKS
    return SourceWord("", (word,)) if is_passed else SourceWord(text)


def _is_pictograph(char: str) -> bool:
    category = unicodedata.category(char)
    is_symbol = category == "So" or (category == "Sk" and ord(char) > 0xFFFF)  # skin tones
    return char in _JOINERS or (is_symbol and ord(char) >= _FIRST_PICTOGRAPH)


def _is_latin(char: str) -> bool:
    if char.isdecimal():
        return True
    return char.isalpha() and unicodedata.name(char, "").startswith("LATIN")


def _calm(words: Sequence[str], *, ended: bool) -> list[str]:
    """Write a sentence in capitals in small letters, as far as it is certain.

    The first two words of several letters tell; one that is alone waits for the other.
    """
    cores = [re.sub("['-]", "", core(word)[1]) for word in words]
    long = [n for n, core in enumerate(cores) if len(core) > 1 and core.isalpha()]
    loud = [n for n in long[:2] if words[n].isupper()]
    if len(long) < 2 and loud and not ended:
        return list(words[: long[0]])
    is_shouted = bool(loud) and len(loud) == len(long[:2])
    calm = list[str]()
    for n, word in enumerate(words):
        small = word.lower()
        is_loud = word.isupper() and n in long and (is_shouted or core(small)[1] in _LOUD)
        calm.append(_named(calm, small, is_first=n == 0) if is_loud else word)
    return calm


def _spelt(word: str, before: str, terms: Collection[str] | None) -> str:
    if terms is None:
        return word
    lead, bare, trail = core(word)
    whose = "'s" if bare.endswith("'s") else ""
    bare = bare.removesuffix("'s")
    return word if bare in terms else lead + spelt(bare, core(before)[1]) + whose + trail


def _named(before: Sequence[str], small: str, *, is_first: bool) -> str:
    """Write a word that was in capitals: names keep the first one, abbreviations all."""
    lead, word, trail = core(small)
    if word in _ACRONYMS or not re.search("[aeiouy]", word):
        return small.upper()
    first = before[0] if before else small
    is_name = is_first or _is_name(before[-2:], word, first, len(before))
    return lead + word.capitalize() + trail if is_name else small
