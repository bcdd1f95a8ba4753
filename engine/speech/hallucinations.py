"""Recognise hallucinations: words that Whisper writes for silence, noise and its own echo.

Pure. The measures are those the model was released with (Radford et al. 2022,
https://arxiv.org/abs/2212.04356, section 4.5): probability of no speech, mean log probability,
compression ratio. In addition there are loops of n-grams, and sentences of subtitles that were in
the training data (``assets/hallucinations.txt``). Such a sentence may really be said, so it is
dropped only where the model is not sure of it.
"""

import zlib
from collections.abc import Sequence

from engine.files import ASSETS
from engine.speech.hypothesis import same_word_key

_NO_SPEECH = 0.6  # probability of no speech above which an unsure segment is dropped
_UNSURE = -1.0  # mean log probability below which a segment is unsure
_HOPELESS = -2.0  # mean log probability below which any segment is dropped
_COMPRESSION_RATIO = 2.4  # above it the text repeats itself
_PHRASE_UNSURE = -0.4  # mean log probability below which a known phrase is dropped
_PHRASE_NO_SPEECH = 0.2  # probability of no speech above which a known phrase is dropped
_MAX_LOOPS = 4  # repetitions of the same words in a row
_LONGEST_LOOP = 8  # words


def is_hallucination(text: str, *, no_speech: float, log_probability: float) -> bool:
    """Return whether a segment should be dropped.

    Args:
        text: of the segment.
        no_speech: the model's probability that there is no speech, 0 to 1.
        log_probability: mean over the tokens, natural logarithm.
    """
    return (
        _is_silence(text, no_speech, log_probability)
        or compression_ratio(text) > _COMPRESSION_RATIO
        or n_loops(text.split()) > _MAX_LOOPS
    )


def _is_silence(text: str, no_speech: float, log_probability: float) -> bool:
    if log_probability < _UNSURE and no_speech > _NO_SPEECH:
        return True
    if log_probability < _HOPELESS:
        return True
    doubtful = log_probability < _PHRASE_UNSURE or no_speech > _PHRASE_NO_SPEECH
    return doubtful and is_known_phrase(text)


def compression_ratio(text: str) -> float:
    """Divide the bytes of a text by its bytes when compressed (zlib); 0 for an empty text."""
    data = text.strip().encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


def is_known_phrase(text: str) -> bool:
    """Return whether a text is exactly a sentence that Whisper is known to write for silence."""
    return _phrase_key(text) in _PHRASE_KEYS


def n_loops(words: Sequence[str]) -> int:
    """Return the largest number of times a run of words occurs in a row; 1 without a loop.

    Args:
        words: compared without case and punctuation.
    """
    keys = [same_word_key(word) for word in words]
    most = min(1, len(keys))
    for length in range(1, min(_LONGEST_LOOP, len(keys) // 2) + 1):
        n_same = 0  # words in a row that equal the word one run before
        for i in range(length, len(keys)):
            n_same = n_same + 1 if keys[i] == keys[i - length] else 0
            most = max(most, n_same // length + 1)
    return most


def _phrase_key(text: str) -> str:
    return same_word_key("".join(text.split()))


_PHRASE_KEYS = frozenset(
    map(_phrase_key, (ASSETS / "hallucinations.txt").read_text(encoding="utf-8").splitlines())
)
