"""Encodes sentences as ids, word by word; equal words have equal ids anywhere."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from engine.text.prompt import word_ids
from training.data.aligned_pairs import read_aligned
from training.samples.examples import Ids, TokenizedPair


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
        for aligned in read_aligned([path]):
            source, target = encode(aligned.pair.source), encode(aligned.pair.target)
            if sum(map(len, source)) + sum(map(len, target)) <= max_tokens:
                pair = TokenizedPair(source, target, aligned.needs)
                yield CorpusPair(pair, language, aligned.pair.corpus)
