"""A small M2M-100 that has learnt its texts, so that it chooses clearly.

It knows the beginnings of ``TEXTS``; what taught it them is in git until 2026-11-28.
"""

from pathlib import Path

_GERMAN = {
    "the": "das", "old": "alte", "house": "Haus", "is": "ist", "green": "grün", "and": "und",
    "we": "wir", "go": "gehen", "to": "zu", "see": "sehen", "12": "12", "books": "Bücher",
    "in": "in", "Rome": "Rom",
}  # fmt: skip
_FRENCH = dict(
    zip(
        _GERMAN,
        "la vieille maison est verte et nous allons pour voir 12 livres dans Rome".split(),
        strict=True,
    )
)
_POLISH = {
    "das": "to", "alte": "stary", "Haus": "dom", "ist": "jest", "grün": "zielony", "in": "w",
}  # fmt: skip
WORDS = {("en", "de"): _GERMAN, ("en", "fr"): _FRENCH, ("de", "pl"): _POLISH}
_ENGLISH = "the old house is green and we go to see 12 books in Rome."
TEXTS = {
    ("en", "de"): [_ENGLISH],
    ("en", "fr"): [_ENGLISH],
    ("de", "pl"): ["das alte Haus ist grün.", "das Haus grün"],
}
FOLDER = Path(__file__).parents[3] / "assets" / "tiny-m2m100"


def translated(text, source="en", target="de"):
    """Translate word by word, as the network learns it."""
    words = WORDS[source, target]
    whole = " ".join(words[word] for word in text.rstrip(".").split())
    return whole + "." * text.endswith(".")


def beginnings(text):
    words = text.split()
    return [" ".join(words[: n + 1]) for n in range(len(words))]
