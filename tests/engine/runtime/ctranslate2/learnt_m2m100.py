"""A small M2M-100 that has learnt its texts, so that it chooses clearly.

    .venv/bin/python -m tests.engine.runtime.ctranslate2.learnt_m2m100 tests/assets/tiny-m2m100

makes the folder that tests translate with, in some seconds. It knows the beginnings of ``TEXTS``.
"""

import json
import random
import sys
from pathlib import Path

import sentencepiece
import torch

from tests.engine.runtime.ctranslate2.tiny_models import LANGUAGES, m2m100_of

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

_STEPS, _RATE = 300, 5e-3
_PAD, _END, _IGNORED = 1, 2, -100


def translated(text, source="en", target="de"):
    """Translate word by word, as the network learns it."""
    words = WORDS[source, target]
    whole = " ".join(words[word] for word in text.rstrip(".").split())
    return whole + "." * text.endswith(".")


def beginnings(text):
    words = text.split()
    return [" ".join(words[: n + 1]) for n in range(len(words))]


def make(folder):
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    words = [" ".join([*words, *words.values(), "."]) for words in WORDS.values()]
    network = m2m100_of(folder, " ".join(words), n_pieces=300, width=64)
    encode, rng = _encoder(folder), random.Random(0)
    pairs = [
        (encode(source, part), encode(target, translated(part, source, target)))
        for (source, target), whole in TEXTS.items()
        for text in whole
        for part in beginnings(text)
    ]
    optimiser = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=0)
    for step in range(_STEPS):
        for group in optimiser.param_groups:
            group["lr"] = _RATE * min(1, (_STEPS - step) / 200)
        loss = _loss(network, rng.choices(pairs, k=16))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    network.half().save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\nMade for tests.\n")


def _encoder(folder):
    """Return a function from a language and a text to ids; languages stand behind the pieces."""
    pieces = sentencepiece.SentencePieceProcessor(str(folder / "sentencepiece.bpe.model"))
    numbers = json.loads((folder / "vocab.json").read_text())
    languages = {code: len(numbers) + n for n, code in enumerate(LANGUAGES["m2m100"])}

    def encode(language, text):
        ids = [numbers[piece] for piece in pieces.encode(text, out_type=str)]
        return [languages[language], *ids, _END]

    return encode


def _loss(network, pairs):
    sources = _padded([source for source, _ in pairs], _PAD)
    inputs = _padded([[_END, *target[:-1]] for _, target in pairs], _PAD)
    labels = _padded([target for _, target in pairs], _IGNORED)
    mask = (sources != _PAD).long()
    network.eval()
    return network(
        input_ids=sources, attention_mask=mask, decoder_input_ids=inputs, labels=labels
    ).loss


def _padded(rows, value):
    longest = max(map(len, rows))
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


if __name__ == "__main__":
    make(Path(sys.argv[1]))
