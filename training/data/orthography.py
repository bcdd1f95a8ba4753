"""Scripts of languages, normalised text, and lengths that can be compared across languages.

Lengths are in words. In a script without spaces between words they are computed from characters.
"""

import html
import re
import tomllib
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from engine.metrics.units import is_spaced
from training.data.grammar import changed, compiled


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
