"""Word error rate of recognised speech."""

import re

_NO_WORD = re.compile(r"[^\w']+")


def word_error_rate(hypothesis: str, reference: str) -> float:
    """Return the word errors for each word of the reference; 0 is perfect, 1 is bad.

    Errors are insertions, deletions and substitutions (Levenshtein), in lower case and without
    punctuation.

    Raises:
        ValueError: the reference has no word.
    """
    recognised, spoken = _plain_words(hypothesis), _plain_words(reference)
    if not spoken:
        msg = "a word error rate needs a reference with words"
        raise ValueError(msg)
    costs = list(range(len(recognised) + 1))
    for row, word in enumerate(spoken, start=1):
        diagonal, costs[0] = costs[0], row
        for column, guess in enumerate(recognised, start=1):
            best = min(costs[column] + 1, costs[column - 1] + 1, diagonal + (word != guess))
            diagonal, costs[column] = costs[column], best
    return costs[-1] / len(spoken)


def _plain_words(text: str) -> list[str]:
    return _NO_WORD.sub(" ", text.lower().replace("’", "'")).split()
