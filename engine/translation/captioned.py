"""An utterance and its captioner, as seen by the code that feeds words. Imports no model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from engine.events import Confidence
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Change:
    """A caption changed.

    Attributes:
        kept: characters of the caption that stay.
        text: what follows them.
        n_read: source words read.
    """

    kept: int
    text: str
    n_read: int


class Captioned(Protocol):
    """An utterance; only its captioner may change it.

    Attributes:
        number: never used again.
        finished: its caption is complete.
    """

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


Kind = TypeVar("Kind")
"""The utterances of one captioner; it is given only those that it opened."""


class Captioner(Protocol[Kind]):
    """Open utterances, set their words as they come, advance them."""

    @property
    def settings(self) -> TranslationSettings:
        """Those of utterances that are opened now."""

    def open(self) -> Kind:
        """Open an utterance with the current settings."""

    def set_source(
        self,
        utterance: Kind,
        words: Sequence[str],
        *,
        ended: bool,
        full_stop: str = "",
        end_alone: bool = False,
    ) -> bool:
        """Set the committed words of an utterance; return whether its caption was cut back.

        Words of people come by ``set_sentence``, which knows the last two arguments.

        Args:
            utterance: one of this captioner.
            words: all of them.
            ended: no word follows.
            full_stop: fed behind the last word of an ended utterance, though it stands in none; the
                caption then leaves the one out that it would end in.
            end_alone: read the end after the last word; otherwise with it, where both are new.
        """

    def advance(self, utterance: Kind) -> Change | None:
        """Continue until the caption grows; None where the committed words allow no more."""

    def confidence(self, utterance: Kind) -> Confidence | None:
        """Return how sure the model is of a caption; None where it was not calibrated for that."""

    def give_up(self, utterance: Kind) -> None:
        """Leave an utterance as it is after it could not be computed."""


def set_sentence(captioner: Captioner[Kind], utterance: Kind, sentence: Sentence) -> bool:
    """Set the source of an utterance, its end as all who feed words feed it.

    Invariant: the caption of an ended sentence is the same whether its words and its end came at
    once or one after another.

    Returns:
        whether the caption was cut back.
    """
    return captioner.set_source(
        utterance,
        sentence.words,
        ended=sentence.ended,
        full_stop=sentence.full_stop,
        end_alone=sentence.end_alone,
    )


def after_arrival(arrivals: Sequence[int], same: int, *ends: int) -> tuple[int, ...]:
    """Return where groups end that came together, once more has come.

    Args:
        arrivals: where they ended so far, rising.
        same: items from the first on that did not change.
        ends: of what came now, rising.
    """
    kept = [end for end in arrivals if end <= same]
    return tuple(dict.fromkeys([*kept, *(end for end in ends if end > max(kept, default=0))]))


def n_same(old: Sequence[object], new: Sequence[object]) -> int:
    """Count the items at the start that are the same."""
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return same
