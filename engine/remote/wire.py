"""The messages between a desktop and the computer that translates for it: JSON text, bounded.

A request holds all that is needed to answer it: the words of one sentence so far, and what is shown
of its caption. So it may be sent again, to the same computer or to another one, and only what is
missing comes back: no word is lost and none is doubled, whatever broke between.

::

    POST /v1/sessions    Opening    -> Opened
    POST /v1/captions    Asked      -> lines: Change ..., then Settled or Failure
    POST /v1/leave       Leaving

Both sides are strangers to each other: sizes and types are checked, and nothing becomes a path or
code. Every fault is a ValueError. Other versions of this program may say more than is known here,
which is ignored; ``VERSION`` is raised when they would be misunderstood.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, TypeVar

from engine.events import Confidence
from engine.messages import Code, Message
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.captioner import Change
from engine.untrusted.faults import refuse
from engine.untrusted.strict_json import (
    NEEDED,
    Between,
    Count,
    Form,
    JsonObject,
    read_object,
    shown,
)

VERSION = 1

MOST_REQUEST_BYTES = 1 << 17
"""Of a request; a glossary is nearly all of it."""

MOST_LINE_BYTES = 1 << 16
"""Of an answer, or of a line of one."""

_MOST_WORDS, _MOST_WORD, _MOST_SOURCE = 64, 200, 1000
"""Words of a sentence, characters of one, characters of all; ``UtteranceLimits`` cuts before."""

MOST_CAPTION = 8000
"""Characters; a write that goes on for longer is a loop."""

_MOST_TERMS, _MOST_LANGUAGES, _LONGEST_MESSAGE = 1000, 1000, 700
_LANGUAGE = "[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8}){0,3}"


def _known_version(version: int) -> int:
    if version != VERSION:
        refuse(f"is of version {version}, and this Surtitle speaks version {VERSION}")
    return version


def _languages(names: Mapping[str, str]) -> Mapping[str, str]:
    if len(names) > _MOST_LANGUAGES:
        refuse(f"names more than {_MOST_LANGUAGES} languages")
    for code in names:
        if not re.fullmatch(_LANGUAGE, code):
            refuse(f"should name languages by their codes, got {shown(code)}")
    return names


def _printable(text: str) -> str:
    if not text.isprintable():
        refuse(f"holds what cannot be shown: {shown(text)}")
    return text


def _few(terms: "tuple[Term, ...]") -> "tuple[Term, ...]":
    if len(terms) > _MOST_TERMS:
        refuse(f"'glossary' should have at most {_MOST_TERMS} terms, got {len(terms)}")
    return terms


def _of_a_sentence(words: tuple[str, ...]) -> tuple[str, ...]:
    is_bounded = len(words) <= _MOST_WORDS and sum(map(len, words)) <= _MOST_SOURCE
    if not is_bounded or not all(map(_is_word, words)):
        refuse(
            f"'words' should be at most {_MOST_WORDS} words of up to {_MOST_WORD} characters, "
            f"{_MOST_SOURCE} in all, got {shown(words)}"
        )
    return words


def _is_word(word: str) -> bool:
    return 0 < len(word) <= _MOST_WORD and not any(map(str.isspace, word))


def _rising(numbers: tuple[int, ...]) -> tuple[int, ...]:
    bounded = [0, *numbers, _MOST_WORDS + 1]
    if bounded != sorted(set(bounded)):
        refuse(f"'arrivals' should be numbers of words that rise, got {shown(numbers)}")
    return numbers


Version = Annotated[int, _known_version, NEEDED]
Session = Annotated[str, Form("[A-Za-z0-9_-]{22,64}", "22 to 64 letters and digits")]
Language = Annotated[str, Form(_LANGUAGE, "the code of a language")]
Name = Annotated[str, Between(0, 200), _printable]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a glossary, with its translation."""

    term: Annotated[str, Between(1, 100), _printable]
    translation: Annotated[str, Between(1, 100), _printable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Open a session: sentences of one speaker with the same settings, under a random name.

    Layout and limits of its captions are the server's. ``takes_any_language``: one whose model does
    not know the target may choose another.
    """

    version: Version = VERSION
    session: Session
    target: Language
    source: Language
    policy: Annotated[str, Between(0, 40)]
    constrained: bool = True
    context: Annotated[int, Between(0, 8)] = 0
    glossary: Annotated[tuple[Term, ...], _few] = ()
    takes_any_language: bool = False

    @property
    def settings(self) -> TranslationSettings:
        return TranslationSettings(
            target_language=self.target,
            source_language=self.source,
            policy=self.policy,
            constrained=self.constrained,
            context_sentences=self.context,
            glossary=tuple((one.term, one.translation) for one in self.glossary),
        )


def opening(
    session: str, settings: TranslationSettings, *, takes_any_language: bool = False
) -> Opening:
    """Return a request for settings, without what a server does not let others choose."""
    return Opening(
        session=session,
        target=settings.target_language,
        source=settings.source_language,
        policy=settings.policy,
        constrained=settings.constrained,
        context=settings.context_sentences,
        glossary=tuple(Term(*pair) for pair in settings.glossary),
        takes_any_language=takes_any_language,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The session is open: model, languages and the rest as of ``engine.events.Ready``.

    Attributes:
        target: the language of its captions.
        context_rows: rows of the prompt that the glossary takes.
    """

    version: Version = VERSION
    model: Name
    languages: Annotated[Mapping[str, Name], _languages]
    target: Language
    makes_drafts: bool = False
    context_rows: Count = 0
    notices: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Translate a sentence as far as its words allow.

    Attributes:
        number: of the sentence in the session.
        words: all of it so far.
        arrivals: words after each group of them that came together; all at once where none.
        caption: what is shown of it.
        haste: how many times larger steps are read than the policy says.
    """

    version: Version = VERSION
    session: Session
    number: Count
    words: Annotated[tuple[str, ...], _of_a_sentence]
    ended: bool
    arrivals: Annotated[tuple[int, ...], _rising] = ()
    caption: Annotated[str, Between(0, MOST_CAPTION)] = ""
    haste: Annotated[int, Between(1, 8)] = 1

    @property
    def sentence(self) -> Sentence:
        return Sentence(self.words, ended=self.ended)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """Close a session."""

    version: Version = VERSION
    session: Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The words allow no more for now; ``n_read`` units are read.

    Attributes:
        finished: the caption is complete.
        confidence: in a complete caption; None where the model was not calibrated for that.
    """

    n_read: Count
    finished: bool
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The sentence could not be translated to its end, or a request was refused."""

    message: Message


Request = Opening | Asked | Leaving
Answer = Change | Settled | Failure
Kind = TypeVar("Kind", Opening, Asked, Leaving)


def write(form: Request | Opened | Answer) -> bytes:
    """Write one line; it holds no line break, since JSON escapes those in texts."""
    return (
        json.dumps(_plain(form), ensure_ascii=False, allow_nan=False, default=_plain).encode()
        + b"\n"
    )


def _plain(value: object) -> object:
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, Mapping):
        return dict(value)
    assert is_dataclass(value), "all else is plain"
    return {one.name: getattr(value, one.name) for one in fields(value)}


def read_request(kind: type[Kind], content: bytes) -> Kind:
    return read_object(kind, _parse(content, MOST_REQUEST_BYTES).values)


def read_opened(content: bytes) -> Opened:
    """Read an answer; messages of a later version, which are not known here, are left out."""
    values = _parse(content, MOST_LINE_BYTES)
    given = values.values.get("notices", [])
    if not isinstance(given, list):
        refuse(f"'notices' should be a list, got {shown(given)}")
    notices = tuple(filter(None, map(_message, given)))
    return read_object(Opened, values.values, given={"notices": notices})


def read_answer(line: bytes) -> Answer:
    values = _parse(line, MOST_LINE_BYTES)
    if "message" in values:
        unknown = Code.SERVER_MISUNDERSTOOD(detail="its reason is not known here")
        return Failure(_message(values.values["message"]) or unknown)
    if "text" in values:
        return read_object(Change, values.values)
    settled = read_object(Settled, values.values)
    if settled.confidence is not None and not 0 <= settled.confidence.value <= 1:
        refuse(f"'confidence' should be from 0 to 1, got {settled.confidence.value}")
    return settled


def _parse(content: bytes, most: int) -> JsonObject:
    if len(content) > most:
        refuse(f"is longer than {most} bytes")
    return JsonObject.parse(content)


def _message(content: object) -> Message | None:
    """Read a message; None where it is not known here, or is not one sentence that can be shown."""
    try:
        message = Message.from_json(content)
    except RecursionError:
        return None
    told = "" if message is None else str(message)
    return message if told.isprintable() and len(told) <= _LONGEST_MESSAGE else None
