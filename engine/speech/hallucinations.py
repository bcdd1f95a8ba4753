"""Tell words that were never said: what Whisper makes of silence, noise and its own echo.

Pure. The measures are those the model was released with (Radford et al. 2022,
https://arxiv.org/abs/2212.04356, section 4.5): probability of no speech, mean log probability,
compression ratio. To them come loops of n-grams and a list of sentences that stand under films of
the training data. Such a sentence may really be said, so it alone is no reason: it is dropped only
where the model is not sure of it.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from engine.speech.hypothesis import same_word_key

_PHRASES = (
    "thank you",
    "thank you very much",
    "thanks for watching",
    "thank you for watching",
    "thank you so much for watching",
    "please subscribe",
    "please like and subscribe",
    "subscribe to my channel",
    "don't forget to subscribe",
    "see you next time",
    "see you in the next video",
    "bye",
    "bye bye",
    "you",
    "the end",
    "subtitles by the amara.org community",
    "transcription by castingwords",
    "vielen dank",
    "vielen dank fürs zuschauen",
    "untertitel im auftrag des zdf",
    "untertitel der amara.org-community",
    "merci d'avoir regardé cette vidéo",
    "sous-titrage société radio-canada",
    "sous-titres réalisés par la communauté d'amara.org",
    "gracias por ver el video",
    "subtítulos realizados por la comunidad de amara.org",
    "sottotitoli creati dalla comunità amara.org",
    "sottotitoli e revisione a cura di qtss",
    "obrigado por assistir",
    "legendas pela comunidade amara.org",
    "ondertiteld door de amara.org gemeenschap",
    "napisy stworzone przez społeczność amara.org",
    "продолжение следует",
    "субтитры сделал dimatorzok",
    "спасибо за просмотр",
    "ご視聴ありがとうございました",
    "字幕by索兰娅",
    "请不吝点赞订阅转发打赏支持明镜与点点栏目",
    "시청해주셔서 감사합니다",
    "altyaz\u0131 m.k",
    "شكرا للمشاهدة",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HallucinationSettings:
    """When a segment is not believed.

    Attributes:
        no_speech: probability of no speech from which an unsure segment is dropped.
        log_probability: mean of the tokens below which the model counts as unsure.
        hopeless_log_probability: mean below which the segment is dropped whatever else it is.
        compression_ratio: of the text, above which it repeats itself.
        phrase_log_probability: mean below which a known hallucination is dropped.
        phrase_no_speech: probability of no speech from which a known hallucination is dropped.
        max_loops: times in a row that the same words may follow each other.
    """

    no_speech: float = 0.6
    log_probability: float = -1.0
    hopeless_log_probability: float = -2.0
    compression_ratio: float = 2.4
    phrase_log_probability: float = -0.4
    phrase_no_speech: float = 0.2
    max_loops: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentScores:
    """What the model says of a segment.

    Attributes:
        text: of the segment.
        no_speech: probability that nobody speaks, 0 to 1.
        log_probability: mean over the tokens, natural logarithm.
    """

    text: str
    no_speech: float
    log_probability: float


def is_hallucination(scores: SegmentScores, settings: HallucinationSettings) -> bool:
    """Tell whether a segment is to be dropped."""
    return (
        _is_silence(scores, settings)
        or compression_ratio(scores.text) > settings.compression_ratio
        or n_loops(scores.text.split()) > settings.max_loops
    )


def _is_silence(scores: SegmentScores, settings: HallucinationSettings) -> bool:
    unsure = scores.log_probability < settings.log_probability
    if unsure and scores.no_speech > settings.no_speech:
        return True
    if scores.log_probability < settings.hopeless_log_probability:
        return True
    doubtful = (
        scores.log_probability < settings.phrase_log_probability
        or scores.no_speech > settings.phrase_no_speech
    )
    return doubtful and is_known_phrase(scores.text)


def compression_ratio(text: str) -> float:
    """Divide the bytes of a text by its bytes when compressed (zlib); 0 for none."""
    data = text.strip().encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


def is_known_phrase(text: str) -> bool:
    """Tell whether a text is nothing but a sentence Whisper is known to hear in silence."""
    return _phrase_key(text) in _PHRASE_KEYS


def n_loops(words: Sequence[str], *, longest: int = 8) -> int:
    """Count how often, at most, a run of words follows itself; 1 for words without a loop.

    Args:
        words: whitespace words, compared without case and punctuation.
        longest: words of the longest run that is looked for.
    """
    keys = [same_word_key(word) for word in words]
    most = min(1, len(keys))
    for length in range(1, min(longest, len(keys) // 2) + 1):
        n_same = 0  # words in a row that equal the word one run before
        for i in range(length, len(keys)):
            n_same = n_same + 1 if keys[i] == keys[i - length] else 0
            most = max(most, n_same // length + 1)
    return most


def _phrase_key(text: str) -> str:
    return same_word_key("".join(text.split()))


_PHRASE_KEYS = frozenset(_phrase_key(phrase) for phrase in _PHRASES)
