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
