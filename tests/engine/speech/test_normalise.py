import pytest

from engine.speech.normalise import plain_word


@pytest.mark.parametrize(
    ("heard", "plain"),
    [
        (" Hello,", "Hello,"),
        ("don\N{RIGHT SINGLE QUOTATION MARK}t", "don't"),
        ("e\N{COMBINING ACUTE ACCENT}", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
        ("wait\N{HORIZONTAL ELLIPSIS}", "wait..."),
        ("$5", "$5"),
        ("-", ""),
        ("...", ""),
        ("[Music]", ""),
        ("(laughs)", ""),
        ("\N{EIGHTH NOTE}", ""),
        ("*sighs*", ""),
    ],
)
def test_words_are_written_plainly_and_noises_are_no_words(heard, plain):
    assert plain_word(heard) == plain
