"""The words and commands that go into a session, and the events it reports: frozen values.

Commands are carried out in the order in which they are sent. A passage is the text of one lane
until ``EndPassage``: typed words are in the lane without a name, recognised words in those of a
listener.

A caption is append-only except after edits: ``CaptionChanged.kept`` is then shorter than the
caption was.
"""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from engine.messages import Message
from engine.settings import ModelSettings, TranslationSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TYPED = ""
"""The lane of typed words in the window; in the terminal it may be that of the only source."""


@dataclass(frozen=True, slots=True)
class FedWord:
    """A committed word with its times; the parts of a long word have those of the whole.

    Attributes:
        number: of the words of its lane in the window, counted from 1; 0 where nobody counts them.
        committed_at_s: when it became certain, by the clock of all these times.
        spoken_at_s: when its end was spoken; None if it was not heard.
        start_s, end_s: on the lane's timeline.
        vectors: of a block of sound in the place of a word, float32, shape (positions, width); it
            has no text.
    """

    text: str
    _: KW_ONLY
    number: int = 0
    committed_at_s: float = 0.0
    spoken_at_s: float | None = None
    start_s: float = 0.0
    end_s: float = 0.0
    vectors: "NDArray[np.float32] | None" = field(default=None, compare=False, repr=False)

    @property
    def begun_at_s(self) -> float:
        """When its start was spoken, or when it was typed."""
        if self.spoken_at_s is None:
            return self.committed_at_s
        return self.spoken_at_s - (self.end_s - self.start_s)


def untimed(words: Iterable[str]) -> tuple[FedWord, ...]:
    """Return words without times, such as those of a text."""
    return tuple(map(FedWord, words))


def text_of(words: Iterable[FedWord]) -> str:
    """Join words to a text; blocks of sound have none."""
    return " ".join(word.text for word in words if word.text)


def n_same(old: Sequence[object], new: Sequence[object]) -> int:
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return same


def n_same_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Count the leading items that are equal, and the trailing ones of the rest."""
    head = n_same(old, new)
    return head, n_same(old[head:][::-1], new[head:][::-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgress:
    """Progress of loading, 0 to 1; ``message`` is FETCHING, LOADING or MAKING_CACHE."""

    message: Message
    fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The model is loaded and translates.

    Attributes:
        languages: names of the target languages by code.
        load_s: seconds since the start.
        notices: deviations from the request, for the user.
        makes_drafts: all words are translated again and again, so that ``stable:N`` can be chosen.
    """

    model: str
    languages: dict[str, str]
    load_s: float
    notices: tuple[Message, ...] = ()
    makes_drafts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Loading or translating failed; the session has stopped."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A command was refused; the session continues as before."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A message for the user; the session continues."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterChanged:
    """The loaded adapters changed, or another one translates from the next utterance on.

    ``used`` is None for the bare model; the rest as for ``Ready``.
    """

    names: tuple[str, ...]
    used: str | None
    languages: dict[str, str]
    makes_drafts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceOpened:
    """A new utterance in a passage; its number is never used again.

    Attributes:
        before: the utterance that follows it, or None if it is the last.
        lane: the speaker, if there are two.
        languages: codes of those of the source and of the caption.
    """

    utterance: int
    before: int | None = None
    lane: str = ""
    languages: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChanged:
    """The source words of an utterance changed to these, with the times that they were fed with."""

    utterance: int
    words: tuple[FedWord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionChanged:
    """A caption grew, or was cut back by an edit and grew.

    Attributes:
        kept: characters of the caption that stay, all of them unless a word was edited.
        text: the text after them.
        n_read: source words the caption is based on.
        language: code of a further language; empty for the first one.
    """

    utterance: int
    kept: int
    text: str
    n_read: int
    language: str = ""


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely a caption of a calibrated model is good, 0 to 1, and whether that is too low.

    The card of the model has the threshold.
    """

    value: float
    is_low: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceEnded:
    """An utterance is translated to its end; only an edit can still change it.

    Attributes:
        confidence: None from a model that was not calibrated.
        language: code of a further language; empty for the first one.
    """

    utterance: int
    confidence: Confidence | None = None
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherCaptionLeftOut:
    """A further language that is far behind leaves an utterance out until nothing else waits."""

    utterance: int
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguagesChanged:
    """The further languages that the session captions in changed to these."""

    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageFailed:
    """The session cannot caption in a further language; its other captions go on."""

    language: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTranslated:
    """An utterance is in a script that the model cannot read, so only its source is shown."""

    utterance: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceDropped:
    """An edit removed an utterance with its source and caption."""

    utterance: int


@dataclass(frozen=True, slots=True)
class Cleared:
    """All words before a ``Clear`` are gone; what is reported now comes of words after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed:
    """All words before the ``Flush`` of this number are translated, as far as they allow it."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Counters since the session started, and the delay of the newest word.

    Attributes:
        tokens_fed: rows computed, each once.
        tokens_recomputed: rows computed again after an edit in an earlier utterance; else 0.
        probes: wait-k rows computed to look at their successor, then taken back.
        cached_rows: rows in the slot cache now.
        ms_per_word: time from the newest source word's arrival to its last caption change.
        loops_cut: writes that were ended because they repeated themselves.
        backlog_words: committed source words that are not read yet.
        context_rows: rows of glossary and earlier sentences in the prompt.
    """

    tokens_fed: int
    forwards: int
    tokens_recomputed: int
    probes: int
    cached_rows: int
    ms_per_word: float
    loops_cut: int = 0
    backlog_words: int = 0
    context_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceChanged:
    """The step size changed because words wait, or no longer wait.

    Attributes:
        factor: of the policy's own step; 1 once all is caught up.
        backlog_words: committed source words that are not read yet.
    """

    factor: int
    backlog_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChanged:
    """The glossary changed for the next utterances; it takes ``rows`` of the prompt."""

    rows: int


Event = (
    LoadProgress
    | Ready
    | Failed
    | Refused
    | Notice
    | AdapterChanged
    | UtteranceOpened
    | SourceChanged
    | CaptionChanged
    | UtteranceEnded
    | FurtherCaptionLeftOut
    | LanguagesChanged
    | LanguageFailed
    | NotTranslated
    | UtteranceDropped
    | Cleared
    | Flushed
    | Statistics
    | PaceChanged
    | ContextChanged
)
"""Everything a session reports."""


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
