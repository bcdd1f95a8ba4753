"""Recognise hallucinations: words that Whisper writes for silence, noise and its own echo.

Pure. The measures are those the model was released with (Radford et al. 2022,
https://arxiv.org/abs/2212.04356, section 4.5): probability of no speech, mean log probability,
compression ratio. In addition there are loops of n-grams, and sentences of subtitles that were in
the training data (``assets/hallucinations.txt``). Such a sentence may really be said, so it is
dropped only where the model is not sure of it. Other words beside a loop stay.
"""

import re
import zlib
from collections.abc import Sequence

from engine.files import ASSETS
from engine.speech.hypothesis import RecognizedWord, same_word_key

_NO_SPEECH = 0.6  # probability of no speech above which an unsure segment is dropped
_UNSURE = -1.0  # mean log probability below which a segment is unsure
_HOPELESS = -2.0  # mean log probability below which any segment is dropped
_COMPRESSION_RATIO = 2.4  # above it the text repeats itself
_PHRASE_NO_SPEECH = 0.2  # probability of no speech above which a known phrase is dropped
_SHORT = 3  # words: an invention as a whole, or what people say several times in a row
_SHORT_NO_SPEECH, _SHORT_UNSURE = 0.5, -0.6
_REPEATED_WORD, _REPEATED_WORDS = 8, 4  # times in a row that people say a word, or several
_LONGEST_LOOP = 16  # words
_LONG = 20  # words of a segment that is nothing but a loop
_NOTE = re.compile(r"[\[(*♪♫]+[^\W\d]*\W*|[^\W\d_]+[\])♪♫]+[.,!?]*|[^\W\d_]{2,}\*\W*|[\W_]*")
_SIGNS = frozenset("+=&%@$€£#<>")


def heard_words(
    words: Sequence[RecognizedWord], *, no_speech: float, log_probability: float
) -> Sequence[RecognizedWord]:
    """Return the words of a segment that were said, as far as can be told.

    Args:
        no_speech: the model's probability that there is no speech, 0 to 1.
        log_probability: mean over the tokens, natural logarithm.
    """
    kept = without_loops(words)
    text = " ".join(word.text for word in kept)
    if _is_silence(text, no_speech, log_probability):
        return ()
    return () if compression_ratio(text) > _COMPRESSION_RATIO else kept


def repeats_itself(words: Sequence[RecognizedWord]) -> bool:
    """Return whether words are a loop, as a model writes it that takes up its own prompt."""
    text = " ".join(word.text for word in words)
    return len(without_loops(words)) < len(words) or compression_ratio(text) > _COMPRESSION_RATIO


def _is_silence(text: str, no_speech: float, log_probability: float) -> bool:
    is_short = len(text.split()) <= _SHORT
    if is_short and log_probability < _SHORT_UNSURE and no_speech > _SHORT_NO_SPEECH:
        return True
    if log_probability < _UNSURE and no_speech > _NO_SPEECH:
        return True
    if log_probability < _HOPELESS:
        return True
    doubtful = log_probability < _UNSURE or no_speech > _PHRASE_NO_SPEECH
    return doubtful and is_known_phrase(text)


def compression_ratio(text: str) -> float:
    """Divide the bytes of a text by its bytes when compressed (zlib); 0 for an empty text."""
    data = text.strip().encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


def is_known_phrase(text: str) -> bool:
    """Return whether a text is a sentence that Whisper is known to write for silence.

    A word before or behind it, as in *We'll see you next time*, makes it no other.
    """
    words = text.split()
    longer = [words[1:], words[:-1]] if len(words) > _SHORT else []
    return any(_phrase_key(" ".join(part)) in _PHRASE_KEYS for part in (words, *longer))


def without_loops(words: Sequence[RecognizedWord]) -> Sequence[RecognizedWord]:
    """Leave out what is repeated more often than people do; all of a long loop and nothing else.

    Words are compared without case and punctuation.
    """
    kept, keys = list(words), [same_word_key(word.text) for word in words]
    for length in range(1, _LONGEST_LOOP + 1):
        most, begin = (_REPEATED_WORD if length == 1 else _REPEATED_WORDS) * length, 0
        while begin + most < len(kept):
            end = begin + length
            while end < len(kept) and keys[end] == keys[end - length]:
                end += 1
            if end - begin >= most + length:
                if end - begin == len(kept) >= _LONG:
                    return ()
                rest = begin + (length if length > _SHORT else most)
                del kept[rest:end], keys[rest:end]
                begin = rest
            else:
                begin += 1
    return kept


def said_word(text: str) -> str:
    """Return a recognised word; empty if it is no word.

    Recognisers write noises in brackets, between stars or notes: such a word is letters with one of
    these marks around it. ``401(k)``, ``(202)``, ``A*`` are words. A lone dash or dot is none: it
    would be translated as one; a sign that is read aloud, ``+``, is.
    """
    word = text.strip()
    is_sign = len(word) == 1 and word in _SIGNS
    return word if is_sign or not _NOTE.fullmatch(word) else ""


def _phrase_key(text: str) -> str:
    return same_word_key("".join(text.split()))


_PHRASE_KEYS = frozenset(
    map(_phrase_key, (ASSETS / "hallucinations.txt").read_text(encoding="utf-8").splitlines())
)
