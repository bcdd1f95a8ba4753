"""Catch up without dropping words: while words wait, the policy's steps are larger.

Larger steps cost fewer forward passes a word, but captions appear in larger pieces.
"""

MOST = 8
"""The largest factor; more would hardly be faster."""


class CatchUp:
    """The factor of the steps by the number of waiting words.

    Invariant: the factor does not decrease while words wait.
    """

    def __init__(self) -> None:
        self.factor = 1

    def update(self, backlog_words: int, limit: int | None) -> bool:
        """Update the factor; return whether it changed.

        Args:
            backlog_words: committed and not read.
            limit: more words than this make the steps twice as large, more than twice this four
                times, and so on; None: never.
        """
        before = self.factor
        if backlog_words == 0 or limit is None:
            self.factor = 1
        while limit is not None and self.factor < MOST and backlog_words > limit * self.factor:
            self.factor *= 2
        return self.factor != before
