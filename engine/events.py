"""The events that a session reports: frozen values, which receivers may keep.

A caption is append-only except after edits: ``CaptionChanged.kept`` is then shorter than the
caption was.
"""

from dataclasses import dataclass

from engine.messages import Message
from engine.words import FedWord


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
