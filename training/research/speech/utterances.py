"""Utterances of a spoken corpus become labelled rows, by the planner and policies of live sound.

A block of sound is one unit of the source, as a word of a text is (``engine.translation.sound``):
its rows carry ids from -1 down. A schedule in words becomes one in blocks by the times at which
words end: a word is known when its block has ended.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.layout.rows import IGNORE, Row
from engine.policy import Offline, Policy
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt, word_ids
from engine.text.tokenizer import WordTokenizer
from training.research.methods import LEVELS, nested_boundaries
from training.research.speech.sound_corpus import Line
from training.trainer.samples.examples import Ids, TokenizedPair, build_samples
from training.trainer.samples.mixture import AlignedReads

NOT_ASKED = -1
"""Of a row after which nothing is decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """An utterance as ids.

    Attributes:
        line: of the corpus.
        n_blocks: of its sound, the last one filled up.
        pair: its source words are blocks.
        words: ids of what is said, for CTC.
    """

    line: Line
    n_blocks: int
    pair: TokenizedPair
    words: Ids


def spoken(line: Line, tokenizer: WordTokenizer, block_samples: int, positions: int) -> Spoken:
    """Encode an utterance.

    Args:
        line: of the corpus.
        tokenizer: of the translator.
        block_samples: samples of a block.
        positions: vectors of a block.
    """
    n_blocks = math.ceil(line.n_samples / block_samples)
    return Spoken(
        line=line,
        n_blocks=n_blocks,
        pair=TokenizedPair(
            source=tuple(
                tuple(range(-1 - positions * block, -1 - positions * (block + 1), -1))
                for block in range(n_blocks)
            ),
            target=tuple(tuple(word_ids(tokenizer, word)) for word in line.target.split()),
            needs=needed_blocks(line, n_blocks, block_samples),
        ),
        words=tuple(id_ for word in line.source.split() for id_ in word_ids(tokenizer, word)),
    )


def needed_blocks(line: Line, n_blocks: int, block_samples: int) -> tuple[int, ...] | None:
    """Return how many blocks each target word needs; None if it is unknown."""
    if not (line.needs and line.ends_ms):
        return None
    block_ms = 1000 * block_samples / SAMPLE_RATE_HZ
    ends = (math.ceil(line.ends_ms[n - 1] / block_ms) for n in line.needs)
    return tuple(min(n_blocks, max(1, end)) for end in ends)


def offline_rows(one: Spoken, prompt: Prompt, layout: LayoutSettings) -> Sequence[Row]:
    """Return the rows of a translation of the whole utterance, labels set."""
    return _rows(one.pair, Offline(), prompt, layout)


def draw_reads(pair: TokenizedPair, rng: random.Random) -> Policy:
    """Draw the level at which an utterance is read in parts; its schedule must be known."""
    assert pair.needs is not None
    return AlignedReads(nested_boundaries(pair.needs, rng.choice(LEVELS)))


def live_rows(
    one: Spoken, policy: Policy, prompt: Prompt, layout: LayoutSettings
) -> tuple[Sequence[Row], tuple[int, ...]]:
    """Return the rows of a translation that is written in parts, and what is decided after each.

    Decisions are those of equation 8 of EASiST: 0 at the last row of the blocks of a part but its
    last, 1 at that of the last, and 1 at all rows that choose a token of its translation.

    Returns:
        rows, labels set; for each 0, 1 or ``NOT_ASKED``.
    """
    rows = _rows(one.pair, policy, prompt, layout)
    positions = len(one.pair.source[0])
    decided = [NOT_ASKED] * len(rows)
    newest: int | None = None  # the last row of the newest block
    for index, row in enumerate(rows):
        if row.id < 0:
            if -row.id % positions == 0:
                newest, decided[index] = index, 0
        elif row.label not in (IGNORE, prompt.end_of_write):
            decided[index] = 1
            if newest is not None:
                decided[newest] = 1
    if newest is not None:
        decided[newest] = 1  # the speech ends here, whatever is left to say
    return rows, tuple(decided)


def _rows(
    pair: TokenizedPair, policy: Policy, prompt: Prompt, layout: LayoutSettings
) -> Sequence[Row]:
    # the marker comes after the sound, since a speech ends when its last block was heard
    (rows,) = build_samples(pair, policy, prompt, layout, marker_alone=True)
    return rows
