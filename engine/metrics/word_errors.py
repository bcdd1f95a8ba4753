"""Word error rate of recognised speech."""

import re

_NO_WORD = re.compile(r"[^\w']+")


def word_error_rate(hypothesis: str, reference: str) -> float:
    """Return how many words were heard wrongly, for each that was said; 0 is perfect, 1 is bad.

    Words that are inserted, deleted or substituted (Levenshtein), in lower case and without
    punctuation.

    Raises:
        ValueError: the reference has no word.
    """
    heard, said = _plain_words(hypothesis), _plain_words(reference)
    if not said:
        msg = "a word error rate needs a reference with words"
        raise ValueError(msg)
    costs = list(range(len(heard) + 1))
    for row, word in enumerate(said, start=1):
        diagonal, costs[0] = costs[0], row
        for column, other in enumerate(heard, start=1):
            best = min(costs[column] + 1, costs[column - 1] + 1, diagonal + (word != other))
            diagonal, costs[column] = costs[column], best
    return costs[-1] / len(said)


def _plain_words(text: str) -> list[str]:
    return _NO_WORD.sub(" ", text.lower().replace("’", "'")).split()
