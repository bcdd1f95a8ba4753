"""Encodes sentences as ids, word by word; equal words have equal ids anywhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from engine.metrics.units import is_spaced
from engine.text.prompt import word_ids, words_begun
from training.data.aligned_pairs import read_aligned
from training.trainer.samples.examples import Ids, TokenizedPair


@dataclass(frozen=True, slots=True)
class CorpusPair:
    """A tokenized pair, its target language and its corpus."""

    pair: TokenizedPair
    language: str
    corpus: str


def tokenize(
    data: Mapping[str, Path], tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> Iterator[CorpusPair]:
    """Encode aligned files; pairs over ``max_tokens``, source and target together, are left out."""
    known: dict[str, Ids] = {}

    def encode(text: str) -> tuple[Ids, ...]:
        words = text.split()
        for word in words:
            if word not in known:
                known[word] = tuple(word_ids(tokenizer, word))
        return tuple(known[word] for word in words)

    for language, path in data.items():
        begun = None if is_spaced(language) else words_begun(tokenizer, language)
        for aligned in read_aligned([path]):
            source, target = encode(aligned.pair.source), encode(aligned.pair.target)
            if sum(map(len, source)) + sum(map(len, target)) <= max_tokens:
                pair = TokenizedPair(source, target, aligned.needs)
                if begun is not None:
                    pair = by_characters(pair, begun)
                yield CorpusPair(pair, language, aligned.pair.corpus)


def by_characters(pair: TokenizedPair, begun: Sequence[int]) -> TokenizedPair:
    """Cut the words of a target into characters, for languages without blanks between words.

    A character needs as many source words as the word it is cut from. Where a token begins several
    characters, all but the first are words without tokens.

    Args:
        pair: with the target cut at blanks.
        begun: of every id, how many characters it begins.
    """
    target, needs = list[Ids](), list[int]()
    for index, word in enumerate(pair.target):
        characters = list(_characters(word, begun))
        target += characters
        needs += [0 if pair.needs is None else pair.needs[index]] * len(characters)
    return TokenizedPair(pair.source, tuple(target), None if pair.needs is None else tuple(needs))


def _characters(word: Ids, begun: Sequence[int]) -> Iterator[Ids]:
    """Yield the ids of each character; blanks and stray bytes belong to the one they stand at."""
    ids, n_begun = list[int](), 0
    for id_ in word:
        if n_begun and begun[id_]:
            yield from (tuple(ids), *[()] * (n_begun - 1))
            ids, n_begun = [], 0
        ids.append(id_)
        n_begun += begun[id_]
    yield from (tuple(ids), *[()] * (n_begun - 1))
