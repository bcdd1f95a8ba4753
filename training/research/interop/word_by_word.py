"""Translate a line whose words come one by one from a foreign loop, and return whole words."""

import re
from typing import TYPE_CHECKING

from engine.text.sentences import Sentence, word_parts
from engine.translation.captioned import set_sentence
from engine.translation.feed import changes

if TYPE_CHECKING:
    from engine.translation.base import AnySystem
    from engine.translation.captioned import Captioned

_NEWEST_WORD = re.compile(r"\S*\Z")


class WholeWords:
    """Hold back the newest word of a growing text until the next word begins or the text ends.

    The end of a write does not complete a word: after more source words the model may extend it by
    its other half, a comma, a hyphen.

    Invariant: everything ``feed`` returned, followed by ``flush``, is the text that was fed. No
    returned text ends within a word.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Take text; return the words that became whole, often none."""
        text = self._held + text
        newest = _NEWEST_WORD.search(text)
        assert newest is not None  # it may be empty
        self._held = newest.group()
        return text[: newest.start()]

    def flush(self) -> str:
        """Return the rest and start a new text."""
        left, self._held = self._held, ""
        return left


class WordByWord:
    """Feed a system as ``engine.translation.feed`` does, without knowing the words to come.

    Invariant: the texts that ``feed`` returned for the words of a line, joined, are its caption.
    Text is returned at once, though it may end within a word (see ``WholeWords``).

    One thing differs: a line over the engine's limits becomes several utterances.
    ``engine.translation.feed``, which knows the whole line, cuts it at sentence ends; here it is
    cut before the first word over the limit.
    """

    def __init__(self, system: "AnySystem") -> None:
        self._system = system
        self.reset()

    def reset(self) -> None:
        """Forget the line, whether it has ended or not."""
        self._utterance: Captioned | None = None
        self._words: list[str] = []  # of the utterance

    def feed(self, word: str, *, ended: bool) -> str:
        """Take a word; return what it adds to the caption, often nothing.

        Args:
            word: without blanks.
            ended: it is the line's last word; the next word begins a new line.
        """
        parts = word_parts(word)
        text = "".join(self._feed_part(part) for part in parts[:-1])
        text += self._feed_part(parts[-1], ended=ended)
        if ended:
            self.reset()
        return text

    def _feed_part(self, part: str, *, ended: bool = False) -> str:
        text = ""
        if self._words and self._is_full(part):
            text = self._advance(ended=True) + " "
            self.reset()
        self._words.append(part)
        return text + self._advance(ended=ended)

    def _advance(self, *, ended: bool) -> str:
        if self._utterance is None:
            self._utterance = self._system.open()
        set_sentence(self._system, self._utterance, Sentence(tuple(self._words), ended=ended))
        return "".join(change.text for change in changes(self._system, self._utterance))

    def _is_full(self, part: str) -> bool:
        limits = self._system.settings.limits
        n_bytes = sum(len(word.encode()) + 1 for word in [*self._words, part])
        return len(self._words) == limits.max_words or n_bytes > limits.max_bytes
