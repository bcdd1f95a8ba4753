"""What a session reports. Frozen values; whoever receives them may keep them.

A caption is append-only but for edits: ``CaptionChanged.kept`` is then shorter than the caption
was.
"""

from dataclasses import dataclass

from engine.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgress:
    """Loading goes on.

    Attributes:
        message: what is done now: ``Code.FETCHING``, ``LOADING`` or ``MAKING_CACHE``.
        fraction: 0 to 1.
    """

    message: Message
    fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The model is loaded and translates.

    Attributes:
        model: its name.
        languages: names of the target languages by code.
        load_s: seconds from start to here.
        notices: what a person should read: what was done otherwise than wanted.
    """

    model: str
    languages: dict[str, str]
    load_s: float
    notices: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Loading or translating failed; the session has stopped.

    Attributes:
        message: what was expected, what came, what to do.
    """

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A command could not be obeyed; the session goes on as before.

    Attributes:
        message: what was expected, what came, what to do.
    """

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the person should know; everything goes on.

    Attributes:
        message: what.
    """

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterChanged:
    """Other adapters are loaded, or another one translates from the next utterance on.

    Attributes:
        names: of the adapters that are loaded.
        used: the one that translates, or None for the model without one.
        languages: names of the target languages by code.
    """

    names: tuple[str, ...]
    used: str | None
    languages: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceOpened:
    """A new utterance stands in the passage.

    Attributes:
        utterance: its number, never used again.
        before: the utterance that follows it, or None when it is the last.
        lane: who speaks, where two are told apart.
    """

    utterance: int
    before: int | None = None
    lane: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChanged:
    """The source words of an utterance are now these."""

    utterance: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionChanged:
    """A caption grew, or was cut back by an edit and grew.

    Attributes:
        utterance: whose caption.
        kept: characters of the caption so far that stay, all of them unless a word was edited.
        text: what follows them.
        n_read: source words the caption rests on.
    """

    utterance: int
    kept: int
    text: str
    n_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceEnded:
    """An utterance is translated to its end; only an edit can still change it."""

    utterance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTranslated:
    """An utterance is in letters that the model cannot read: its source is all there is of it.

    Attributes:
        utterance: its number.
        source: its words so far.
    """

    utterance: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceDropped:
    """An edit removed an utterance; its source and caption are gone."""

    utterance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Counters since the session started, and the delay of the newest word.

    Attributes:
        tokens_fed: rows computed, each once.
        forwards: forward passes.
        tokens_recomputed: rows computed again after an edit in an earlier utterance; else 0.
        probes: wait-k rows computed to look at their successor, then taken back.
        cached_rows: rows in the slot cache now.
        ms_per_word: time from the newest source word's arrival to its last caption change.
        ms_per_token: computing time of the newest translation for each row it computed.
        loops_cut: writes that were ended because they said the same again and again.
        backlog_words: committed source words that are not read yet.
        context_rows: rows of the prompt that glossary and earlier sentences take.
    """

    tokens_fed: int
    forwards: int
    tokens_recomputed: int
    probes: int
    cached_rows: int
    ms_per_word: float
    ms_per_token: float = 0.0
    loops_cut: int = 0
    backlog_words: int = 0
    context_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceChanged:
    """Words wait, so larger steps are read, or none waits any more.

    Attributes:
        factor: how many times larger than the policy says; 1: all is caught up.
        backlog_words: committed source words that are not read yet.
    """

    factor: int
    backlog_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChanged:
    """The glossary is another one from the next utterance on.

    Attributes:
        rows: of the prompt that it takes now.
    """

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
    | NotTranslated
    | UtteranceDropped
    | Statistics
    | PaceChanged
    | ContextChanged
)
"""Everything a session reports."""
