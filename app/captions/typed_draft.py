"""Decides which words of the input line are committed, and when. Plain Python, no clock.

Appended words are committed at once. A correction waits until it is finished, so that captions do
not change with every key.
"""

import re

from engine.text.sentences import SENTENCE_END, committed_words

SENTENCE_PAUSE_MS = 700
"""A sentence mark with this much silence after it commits the last word without a space."""

CORRECTION_PAUSE_MS = 500
"""A correction counts as finished when its word was left alone for so long."""

_WORD = re.compile(r"\S+")

Words = tuple[str, ...]


class Draft:
    """Follow the input line. Methods return all committed words if they changed, else None.

    Invariant: the words returned last, up to ``finish``, are the words of the text.
    Times are milliseconds of any monotonic clock.
    """

    def __init__(self) -> None:
        self._text = ""
        self._caret = 0
        self._committed: Words = ()
        self._held: Words | None = None
        self._held_word: int | None = None
        self._due_ms: int | None = None

    @property
    def due_ms(self) -> int | None:
        """When to call ``wake``, or None if nothing is held back."""
        return self._due_ms

    def change(self, text: str, caret: int, now_ms: int) -> Words | None:
        self._text = text
        self._caret = caret
        self._release()
        wanted = self._wanted()
        appends = wanted[: len(self._committed)] == self._committed
        touched = self._touched_word()
        if not appends and touched is not None:
            self._hold(wanted, now_ms + CORRECTION_PAUSE_MS, word=touched)
            return None
        news = self._commit(wanted)
        whole = self._whole()
        if whole != self._committed and self._caret == len(text) and SENTENCE_END.search(text):
            self._hold(whole, now_ms + SENTENCE_PAUSE_MS, word=None)
        return news

    def move(self, caret: int) -> Words | None:
        """Follow a move of the caret; leaving a word ends its correction."""
        self._caret = caret
        if self._held_word is None or self._touched_word() == self._held_word:
            return None
        return self._commit_held()

    def wake(self, now_ms: int) -> Words | None:
        """Commit the words held back until now."""
        if self._due_ms is None or now_ms < self._due_ms:
            return None
        return self._commit_held()

    def finish(self) -> Words | None:
        """Commit every word of the text: Enter was pressed."""
        self._release()
        return self._commit(self._whole())

    def begin(self) -> None:
        self._text = ""
        self._caret = 0
        self._committed = ()
        self._release()

    def _whole(self) -> Words:
        return tuple(committed_words(self._text, finished=True))

    def _wanted(self) -> Words:
        """Return the words to commit, without the last one while it is being typed."""
        whole = self._whole()
        is_known = len(whole) <= len(self._committed)  # it was committed, and is being corrected
        is_left = self._caret < len(self._text) and whole[-1:] == self._committed[-1:]
        return whole if is_known or is_left else tuple(committed_words(self._text))

    def _touched_word(self) -> int | None:
        for index, word in enumerate(_WORD.finditer(self._text)):
            if word.start() <= self._caret <= word.end():
                return index
        return None

    def _commit(self, words: Words) -> Words | None:
        if words == self._committed:
            return None
        self._committed = words
        return words

    def _hold(self, words: Words, due_ms: int, *, word: int | None) -> None:
        self._held = words
        self._held_word = word
        self._due_ms = due_ms

    def _release(self) -> None:
        self._held = None
        self._held_word = None
        self._due_ms = None

    def _commit_held(self) -> Words | None:
        held = self._held
        self._release()
        return None if held is None else self._commit(held)
