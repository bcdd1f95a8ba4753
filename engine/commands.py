"""The commands of a session: frozen values, carried out in the order in which they are sent.

A passage is the text of one lane until ``EndPassage``. Typed words are in the lane without a name,
recognised words in the lanes of a listener.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from engine.settings import ModelSettings, TranslationSettings
from engine.words import TYPED, FedWord


@dataclass(frozen=True, slots=True)
class SetWords:
    """Replace the committed words of the typed passage; the session finds the changes."""

    lane: ClassVar[str] = TYPED
    words: tuple[FedWord, ...]


@dataclass(frozen=True, slots=True)
class FeedWords:
    """Append committed words to the passage of a lane; a whole sentence ends the passage."""

    words: tuple[FedWord, ...]
    lane: str = ""


@dataclass(frozen=True, slots=True)
class EndPassage:
    """End the passage of a lane and its last utterance; the next words begin a new one."""

    lane: str = ""


@dataclass(frozen=True, slots=True)
class Flush:
    """Report ``Flushed`` once all words so far are translated, as far as they allow it.

    The report has the number, so that each sender finds its own.
    """

    number: int


@dataclass(frozen=True, slots=True)
class Clear:
    """Drop the passages of all lanes but ``spares``, also those that have ended and wait.

    ``Cleared`` is reported then.
    """

    spares: str | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave whole sentences that wait without a caption, the ``typed`` ones too.

    So the newest words come next.
    """

    typed: bool = True


@dataclass(frozen=True, slots=True)
class Configure:
    """Change the settings of the next utterances."""

    translation: TranslationSettings


@dataclass(frozen=True, slots=True)
class FurtherLanguage:
    """One more target language, by its code; without a model, that of the session translates."""

    code: str
    model: ModelSettings | None = None


@dataclass(frozen=True, slots=True)
class UseLanguages:
    """Caption in these languages beside the one of the settings, and in no other.

    A model is loaded while captions go on; ``LanguagesChanged`` reports what is there.
    """

    further: tuple[FurtherLanguage, ...]


@dataclass(frozen=True, slots=True)
class MakeUp:
    """Caption a complete earlier sentence in a further language, once nothing else waits.

    Its number is below 0, which no utterance of the session has; languages are codes.
    """

    utterance: int
    language: str
    source: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadAdapter:
    """Load another adapter, and with ``use`` translate the next utterances by it."""

    folder: Path
    use: bool = True


@dataclass(frozen=True, slots=True)
class UseAdapter:
    """Translate the next utterances by a loaded adapter; None for the bare model."""

    name: str | None


@dataclass(frozen=True, slots=True)
class UnloadAdapter:
    """Unload an adapter that is not in use."""

    name: str


WordCommand = SetWords | FeedWords | EndPassage | Clear
"""The commands that change passages."""

HeardCommand = FeedWords | EndPassage | Flush
"""The commands of a listener."""

Command = (
    WordCommand
    | Flush
    | Skip
    | Configure
    | UseLanguages
    | MakeUp
    | LoadAdapter
    | UseAdapter
    | UnloadAdapter
)


def n_words(command: Command) -> int:
    return len(command.words) if isinstance(command, SetWords | FeedWords) else 0
