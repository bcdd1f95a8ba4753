"""Detect loops in a translation while it is being written.

A small model repeats a phrase for ever once it has repeated it a few times. The systems end the
write before the phrase is complete once more; wait-k then reads on until the model predicts another
token.

The rule is ours. It uses token ids alone, so it needs no text and costs a few comparisons.
"""

from collections.abc import Sequence

LONGEST_PHRASE = 16
"""Tokens; longer repetitions are rarely loops."""

_TOKEN_TIMES = 5
"""Allowed repetitions of one token for any source; a longer phrase: three."""


def is_loop(target: Sequence[int], source: Sequence[int]) -> bool:
    """Return whether the newest target token completes a phrase repeated too often in a row.

    Two repetitions more than any phrase of the source are allowed: a translation may repeat what
    the source repeats ("no, no, no, no, no!").

    Args:
        target: ids chosen so far and the new one, without markers.
        source: ids read so far.
    """
    for size in range(1, min(LONGEST_PHRASE, len(target) // 2) + 1):
        repeats = _repeats_at_end(target, size)
        enough = repeats > _TOKEN_TIMES if size == 1 else repeats > 3
        if enough and repeats > 2 + _most_repeats(source):
            return True
    return False


def _repeats_at_end(ids: Sequence[int], size: int) -> int:
    """Return how often in a row the last phrase of a size occurs at the end."""
    phrase = tuple(ids[-size:])
    repeats, end = 1, len(ids) - size
    while end >= size and tuple(ids[end - size : end]) == phrase:
        repeats += 1
        end -= size
    return repeats


def _most_repeats(ids: Sequence[int]) -> int:
    """Return how often in a row any phrase occurs; 1 if none is repeated."""
    most = 1
    for size in range(1, min(LONGEST_PHRASE, len(ids) // 2) + 1):
        same = 0  # ids in a row that equal the one a phrase earlier
        for earlier, later in zip(ids, ids[size:], strict=False):
            same = same + 1 if earlier == later else 0
            most = max(most, 1 + same // size)
    return most
