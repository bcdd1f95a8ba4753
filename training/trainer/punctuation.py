"""Teach ``engine.text.punctuation`` case and punctuation from sentences that have both.

Sentences are said one after the other, as a recogniser hears them: small letters, no marks, now and
then a pause, mostly behind a sentence. Of half of the words the next one is not known.
"""

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from engine.text.punctuation import (
    MARKS,
    N_ROWS,
    N_SCORES,
    PAUSE,
    UNKNOWN,
    end_hash_of,
    hash_of,
    rows,
)
from training.errors import CorpusError

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_MARK_OF = {",": 1, ";": 1, ":": 1, ".": 2, "!": 2, "?": 3}
_LEAST_WORDS, _MOST_WORDS = 2, 60
_PAUSES_WITHIN, _PAUSES_BEHIND, _UNKNOWN_NEXT = 0.04, 0.6, 0.5
_BATCH = 8_192


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word as it is heard, and how it is written: a mark behind it, and its case."""

    text: str
    mark: int
    form: int


def spoken(sentence: str) -> list[SpokenWord]:
    """Return the words of a sentence; none where it does not end, or has what is not said."""
    words = list[SpokenWord]()
    tokens = sentence.split()
    for token in tokens:
        bare = token.strip("\"'“”‘’()[]")
        mark = _MARK_OF.get(bare[-1:], 0)
        text = bare.rstrip(",;:.!?").replace("’", "'")
        if not text or not _WORD.fullmatch(text):
            return []
        capital, capitals = text[0].isupper(), len(text) > 1 and text.isupper()
        words.append(SpokenWord(text.lower(), mark, 2 if capitals else int(capital)))
    fits = _LEAST_WORDS <= len(words) <= _MOST_WORDS
    return words if fits and words[-1].mark >= 2 else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """Rows of weights of each word, its mark, and its case: -1 where a sentence begins."""

    rows: npt.NDArray[np.int64]
    marks: npt.NDArray[np.int64]
    forms: npt.NDArray[np.int64]


def examples(sentences: Iterable[Sequence[SpokenWord]], rng: random.Random) -> Examples:
    """Let sentences be said one after the other."""
    words, firsts, n_since, marks, forms = [], [], [], [], []
    for sentence in sentences:
        begins = True
        n, first = 0, ""
        for word in sentence:
            if begins:
                n, first = 0, word.text
            words.append(word.text)
            firsts.append(hash_of(first))
            n_since.append(n)
            marks.append(word.mark)
            forms.append(-1 if begins else word.form)
            n += 1
            begins = word.mark >= 2
    if not words:
        msg = "expected sentences with punctuation, one a line, and found none"
        raise CorpusError(msg)
    following = [*words[1:], PAUSE]
    heard = [_next(word, mark, rng) for word, mark in zip(following, marks, strict=True)]
    hashes = np.array([0, 0, *map(hash_of, words)], np.uint64)
    hashes[:2] = hash_of("")
    return Examples(
        rows=rows(
            (hashes[1:-1], hashes[:-2]),
            (hashes[2:], np.array([*map(end_hash_of, words)], np.uint64)),
            (
                np.array([*map(hash_of, heard)], np.uint64),
                np.array([*map(end_hash_of, heard)], np.uint64),
            ),
            np.array(firsts, np.uint64),
            np.array(n_since),
        ),
        marks=np.array(marks),
        forms=np.array(forms),
    )


def _next(word: str, mark: int, rng: random.Random) -> str:
    if rng.random() < (_PAUSES_BEHIND if mark >= 2 else _PAUSES_WITHIN):
        return PAUSE
    return UNKNOWN if rng.random() < _UNKNOWN_NEXT else word


def teach(given: Examples, passes: int, seed: int = 1) -> tuple[npt.NDArray[np.int8], float]:
    """Return weights in 8 bits and what one of them counts."""
    torch.manual_seed(seed)
    weights = torch.nn.EmbeddingBag(N_ROWS, N_SCORES, mode="sum", sparse=True)
    torch.nn.init.zeros_(weights.weight)
    optimizer = torch.optim.Adagrad(weights.parameters(), lr=0.3)
    parts = [torch.from_numpy(part) for part in (given.rows, given.marks, given.forms)]
    with torch.sparse.check_sparse_tensor_invariants(enable=False):  # type: ignore[no-untyped-call]
        for _ in range(passes):
            for chosen in torch.split(torch.randperm(len(given.marks)), _BATCH):
                loss = _loss(weights, *(part[chosen] for part in parts))
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    found = weights.weight.detach()
    scale = float(found.abs().max()) / 127
    return (found / scale).round().to(torch.int8).numpy(), scale


def _loss(weights: torch.nn.EmbeddingBag, places: Tensor, marks: Tensor, forms: Tensor) -> Tensor:
    scores = weights(places)
    of_marks, of_forms = scores[:, : len(MARKS)], scores[:, len(MARKS) :]
    return F.cross_entropy(of_marks, marks) + F.cross_entropy(of_forms, forms, ignore_index=-1)
