"""Test lagging on segments against figures of simulstream and against OmniSTEval itself."""

import pytest

from training.research.talks import make_segments, resegment, stream_laal

# Delays (s) of simulstream's test of StreamLAAL, with and without computing; its words are numbered
# here, since only their being equal matters.
WORD_SPANS = [(12.61, 4.07), (16.9, 5.14)]
WORD_REFERENCES = [
    "0 1 2 3 0 4 5 6 7 8 9 10 11",
    "12 13 14 15 16 14 17 18 19 20 21 5 22 23 5 24 25",
]
WORD_TRANSLATION = "26 0 1 2 3 27 4 28 29 30 31 32 33 10 11 12 13 34 35 15 16 34 35 36 37"
WORD_COUNTS = [4, 9, 8, 4]  # words with one delay
WORD_DELAYS = ([14, 16, 18, 20], [18.22, 19.93, 23.01, 27.3])

CHARACTER_SPANS = [(12.61, 3.07), (16.9, 3.14), (21.0, 0.5), (21.5, 2.0)]
CHARACTER_REFERENCES = ["甲乙丙丁戊己庚，", "辛壬癸戊子丑寅卯辰巳。", "Amy", "甲乙午未己庚"]
CHARACTER_TRANSLATION = "甲乙丙己申酉，辛壬癸戊子戌寅亥辰巳。Amy 甲乙午未己庚"
CHARACTER_DELAYS = (
    [14, 14, 14, 15, 15, 16, 17, 17, 17, 18, 18, 19, 19, 20, 20, 21, 21, 21, 22, 22, 22] + [24] * 6,
    [14.5, 14.5, 14.5, 15.2, 15.2, 16.8, 17.5, 18, 18.5, 18.5, 18.5, 20.1, 20.1, 21.3, 21.3]
    + [22, 22, 22, 23, 23, 23]
    + [25] * 6,
)


def lagging(translation, references, spans, delays, language):
    parts = resegment(translation, references, language)
    return stream_laal(make_segments(parts, references, spans, delays), language)


@pytest.mark.parametrize(("which", "expected"), [(0, 0.868587), (1, 5.86)])
def test_stream_laal_of_words_is_simulstreams(which, expected):
    pytest.importorskip("mweralign")
    delays = [
        delay
        for delay, count in zip(WORD_DELAYS[which], WORD_COUNTS, strict=True)
        for _ in range(count)
    ]
    found = lagging(WORD_TRANSLATION, WORD_REFERENCES, WORD_SPANS, delays, "it")
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("which", "expected"), [(0, 1.333312), (1, 2.074095)])
def test_stream_laal_of_characters_is_simulstreams(which, expected):
    pytest.importorskip("mweralign")
    found = lagging(
        CHARACTER_TRANSLATION,
        CHARACTER_REFERENCES,
        CHARACTER_SPANS,
        CHARACTER_DELAYS[which],
        "zh",
    )
    assert found == pytest.approx(expected, abs=1e-6)
