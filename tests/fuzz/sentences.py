"""What may be said of a stranger's file, and text of every kind."""

PIECES = [
    "Hello", " ", "  ", "there", ".", "!", "\n", "\t", "Straße", "é", "e\u0301", "漢字", "🙂",
    "👩\u200d👩", "\u202e", "\u200b", "\ufeff", "\u2028", "\x00", "\x07", "\x1b[2J", "\x7f",
    "\x85", "<|de|>", "<s>", "{{ x }}", "%s", "../x", "#", "'", '"', "\\", "0", "1e999", "-",
    "مرحبا", "שלום", "\U000e0041", "\U0010ffff",
]  # fmt: skip
"""Of which texts are made."""


def text(rng, most=12):
    """Make a text of a few pieces."""
    return "".join(rng.choices(PIECES, k=rng.randint(0, most)))


def check(sentence, most=700):
    """Hold a sentence for people to what one is: short, in one line, in nobody else's words."""
    told = str(sentence)
    assert told, "nothing is said"
    assert len(told) <= most, f"{len(told)} characters: {told[:200]!r}"
    assert "\n" not in told, told
    assert told.isprintable(), ascii(told)
    for foreign in ("Traceback", "object has no attribute", "argument must be", "sys.set_int"):
        assert foreign not in told, told
