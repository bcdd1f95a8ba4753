"""Notice that a translation has begun to loop, while it is being written.

A small model repeats a phrase for ever once it has repeated it a few times. The systems end the
write there, before the phrase is whole once more; with wait-k it reads on, and writes when it has
something else to say.

The rule is ours. It looks at token ids alone, so it needs no text and costs a few comparisons.
"""

from collections.abc import Sequence

LONGEST_PHRASE = 16
"""Tokens; what comes again after more is seldom a loop."""

_TOKEN_TIMES = 5
"""How often in a row one token may stand, whatever the source; a longer phrase: three times."""


def is_loop(target: Sequence[int], source: Sequence[int]) -> bool:
    """Tell whether the newest target token makes a phrase that was said too often in a row.

    Two times more than any phrase of the source is never too often: what the source repeats its
    translation may ("no, no, no, no, no!").

    Args:
        target: ids chosen so far and the one in question, markers left out.
        source: ids read so far.
    """
    for size in range(1, min(LONGEST_PHRASE, len(target) // 2) + 1):
        repeats = _repeats_at_end(target, size)
        enough = repeats > _TOKEN_TIMES if size == 1 else repeats > 3
        if enough and repeats > 2 + _most_repeats(source):
            return True
    return False


def _repeats_at_end(ids: Sequence[int], size: int) -> int:
    """Count how often in a row the last phrase of a size stands at the end."""
    phrase = tuple(ids[-size:])
    repeats, end = 1, len(ids) - size
    while end >= size and tuple(ids[end - size : end]) == phrase:
        repeats += 1
        end -= size
    return repeats


def _most_repeats(ids: Sequence[int]) -> int:
    """Count how often in a row any phrase stands anywhere; 1 where none is repeated."""
    most = 1
    for size in range(1, min(LONGEST_PHRASE, len(ids) // 2) + 1):
        same = 0  # ids in a row that equal the one a phrase earlier
        for earlier, later in zip(ids, ids[size:], strict=False):
            same = same + 1 if earlier == later else 0
            most = max(most, 1 + same // size)
    return most
