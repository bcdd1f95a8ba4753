"""Catch up without leaving anything out: while words wait, larger steps are read.

Larger steps cost fewer forward passes a word, and some of what a person would see sooner.
"""

MOST = 8
"""Times the policy's own steps; more would hardly be faster."""


class CatchUp:
    """How many times larger the steps are, by how many words wait.

    Invariant: once they are larger, they get no smaller before nothing waits any more.
    """

    def __init__(self) -> None:
        self.factor = 1

    def update(self, backlog_words: int, limit: int | None) -> bool:
        """Take note of the words that wait; tell whether the factor changed.

        Args:
            backlog_words: committed and not read.
            limit: more than these make the steps twice as large, more than twice these four times,
                and so on; None: never.
        """
        before = self.factor
        if backlog_words == 0 or limit is None:
            self.factor = 1
        while limit is not None and self.factor < MOST and backlog_words > limit * self.factor:
            self.factor *= 2
        return self.factor != before
