"""Translate a line whose words somebody else's loop hands in, and hand whole words over."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.text.sentences import word_parts
from engine.translation.feed import changes

if TYPE_CHECKING:
    from engine.translation.base import AnySystem, Captioned

_NEWEST_WORD = re.compile(r"\S*\Z")


@dataclass(slots=True)
class _Open:
    """The utterance that words go to, and those it has."""

    utterance: "Captioned"
    words: list[str] = field(default_factory=list)


class WholeWords:
    """Hold the newest word of a growing text back until it is whole: another begins, or none does.

    The end of a write does not make a word whole. The model may go on with it when it has read on:
    with its other half, a comma, a hyphen.

    Invariant: everything ``feed`` returned, followed by ``flush``, is what was fed. Nothing that is
    returned ends within a word.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Take text; return what became whole, often nothing."""
        text = self._held + text
        newest = _NEWEST_WORD.search(text)
        assert newest is not None  # it may be empty
        self._held = newest.group()
        return text[: newest.start()]

    def flush(self) -> str:
        """Return what is left; another text begins then."""
        left, self._held = self._held, ""
        return left


class WordByWord:
    """Feed a system as ``engine.translation.feed`` does, without knowing what comes.

    Invariant: what ``feed`` returned for the words of a line, put together, is the line's caption.
    What is written is handed over at once, though it may end within a word (``WholeWords``).

    One thing differs: a line over the engine's limits becomes several utterances, and
    ``engine.translation.feed`` cuts it at sentence ends. That asks for the whole line; here it is
    cut at the word that is too many.
    """

    def __init__(self, system: "AnySystem") -> None:
        self._system = system
        self._open: _Open | None = None

    def reset(self) -> None:
        """Forget the line, whether it has ended or not."""
        self._open = None

    def feed(self, word: str, *, ended: bool) -> str:
        """Take a word; return what it adds to the caption, often nothing.

        Args:
            word: without blanks.
            ended: it is the line's last; the next one begins a new line.
        """
        parts = word_parts(word)
        text = "".join(self._feed_part(part) for part in parts[:-1])
        text += self._feed_part(parts[-1], ended=ended)
        if ended:
            self._open = None
        return text

    def _feed_part(self, part: str, *, ended: bool = False) -> str:
        text = ""
        if self._open is not None and self._is_full(self._open, part):
            text = self._advance(self._open, ended=True) + " "
            self._open = None
        if self._open is None:
            self._open = _Open(self._system.open())
        self._open.words.append(part)
        return text + self._advance(self._open, ended=ended)

    def _advance(self, open_: _Open, *, ended: bool) -> str:
        system, utterance = self._system, open_.utterance
        system.set_source(utterance, open_.words, ended=ended)
        return "".join(change.text for change in changes(system, utterance))

    def _is_full(self, open_: _Open, part: str) -> bool:
        limits = self._system.settings.limits
        n_bytes = sum(len(word.encode()) + 1 for word in [*open_.words, part])
        return len(open_.words) == limits.max_words or n_bytes > limits.max_bytes
