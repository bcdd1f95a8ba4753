"""Captioners as the code that feeds words sees them, and the one that needs no model.

It imports no model library.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.events import Confidence, n_same
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence
from engine.untrusted.strict_json import Count


@dataclass(frozen=True, slots=True)
class Change:
    """Of a caption ``kept`` characters stay, ``text`` follows; ``n_read`` source words are read."""

    kept: Count
    text: str
    n_read: Count


class Captioned(Protocol):
    """An utterance: its words come in, its caption grows; its number is never used again."""

    number: int
    finished: bool

    @property
    def words(self) -> tuple[str, ...]:
        """Its source."""

    @property
    def ended(self) -> bool:
        """Whether no word follows."""

    @property
    def caption(self) -> str:
        """The committed text."""

    @property
    def n_words_read(self) -> int:
        """Source words read."""

    def set_source(self, sentence: Sentence) -> bool:
        """Set all its committed words; return whether its caption was cut back.

        Invariant: the caption of an ended sentence is the same whether its words and its end came
        at once or one after another. Where its full stop stands in no word, the caption leaves the
        one out that it would end in.
        """

    def advance(self) -> Change | None:
        """Continue until the caption grows; None where the committed words allow no more."""

    @property
    def confidence(self) -> Confidence | None:
        """How sure the model is of the caption; None where it was not calibrated for that."""

    def give_up(self) -> None:
        """Stay as it is after it could not be computed."""


class Captioner(Protocol):
    """Opens utterances; ``haste``: how many times larger steps are read than the policy says."""

    haste: int

    @property
    def reads_any_script(self) -> bool:
        """Whether texts in other scripts than the Latin one have captions, too."""

    @property
    def settings(self) -> TranslationSettings:
        """Those of utterances that are opened now."""

    @property
    def context_rows(self) -> int:
        """Rows of the prompt that glossary and earlier sentences take."""

    def configure(self, settings: TranslationSettings) -> None:
        """Use these settings for utterances that are opened from now on, or refuse them.

        Raises:
            SurtitleError: they cannot be used, and the ones before stay.
        """

    def open(self) -> Captioned:
        """Open an utterance with the current settings."""

    def close(self) -> None:
        """Release what it holds of another computer; nothing more is asked."""


def after_arrival(arrivals: Sequence[int], same: int, *ends: int) -> tuple[int, ...]:
    """Return where groups end that came together, once more has come.

    Args:
        arrivals: where they ended so far, rising.
        same: items from the first on that did not change.
        ends: of what came now, rising.
    """
    kept = [end for end in arrivals if end <= same]
    return tuple(dict.fromkeys([*kept, *(end for end in ends if end > max(kept, default=0))]))


class SourceUtterance:
    """An utterance whose caption is its source, in its own language."""

    confidence = None

    def __init__(self, number: int) -> None:
        self.number = number
        self.words: tuple[str, ...] = ()
        self.ended = self.finished = False
        self.caption = ""

    @property
    def n_words_read(self) -> int:
        return len(self.caption.split())

    def set_source(self, sentence: Sentence) -> bool:
        self.words, self.ended, self.finished = sentence.words, sentence.ended, False
        kept = n_same(self.caption, " ".join(sentence.words))
        is_cut = kept < len(self.caption)
        self.caption = self.caption[:kept]
        return is_cut

    def advance(self) -> Change | None:
        self.finished = self.ended
        kept, source = len(self.caption), " ".join(self.words)
        if kept == len(source):
            return None
        self.caption = source
        return Change(kept=kept, text=source[kept:], n_read=len(self.words))

    def give_up(self) -> None:
        self.finished = True


class SourceCaptioner:
    """Captions each utterance with its own words."""

    haste = 1
    context_rows = 0
    reads_any_script = True

    def __init__(self, settings: TranslationSettings) -> None:
        self.configure(settings)
        self._n_utterances = 0

    def configure(self, settings: TranslationSettings) -> None:
        source = settings.source_language
        self.settings = replace(settings, target_language=source, catch_up_words=None)

    def open(self) -> SourceUtterance:
        self._n_utterances += 1
        return SourceUtterance(self._n_utterances)

    def close(self) -> None:
        pass
