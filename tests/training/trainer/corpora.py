"""Corpora of a few words, English and German, where scripts/train-bundled looks for them."""

import lzma
import random
from pathlib import Path

ROOT = Path(__file__).parents[3]
DEV = "The station is behind the old church\tDer Bahnhof ist hinter der alten Kirche"
WORDS = {"we": "wir", "see": "sehen", "Anna": "Anna", "today": "heute", "a": "ein", "dog": "Hund"}


def sentence(rng):
    words = rng.choices(list(WORDS), k=rng.randint(3, 6))
    return " ".join(words), " ".join(WORDS[word] for word in words)


def write_data(folder):
    """Make corpora as scripts/train-bundled takes them; return pairs that are held out."""
    rng = random.Random(0)
    parallel, dev = folder / "parallel", folder / "dev" / "little"
    parallel.mkdir(parents=True)
    dev.mkdir(parents=True)
    meeting = (ROOT / "benchmarks/meetings/en-de.tsv").read_text("utf-8").split("\n", 1)[0]
    held_out = [DEV, "\t".join(meeting.split("\t")[:2])]
    for name, lines in (("train", held_out), ("more", [])):
        pairs = ["\t".join(sentence(rng)) for _ in range(40)]
        text = "".join(f"{line}\t{name}\n" for line in [*pairs, *lines])
        (parallel / f"{name}.en-de.tsv.xz").write_bytes(lzma.compress(text.encode()))
    pairs = [DEV.split("\t"), *(sentence(rng) for _ in range(5))]
    for column, code in enumerate(("en", "de")):
        text = "".join(f"{pair[column]}\n" for pair in pairs)
        (dev / f"en-de.{code}").write_text(text, "utf-8")
    return held_out
