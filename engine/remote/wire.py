"""The messages between a desktop and the computer that translates for it: JSON text, bounded.

A request holds all that is needed to answer it: the words of one sentence so far, and what is shown
of its caption. So it may be sent again, to the same computer or to another one, and only what is
missing comes back: no word is lost and none is doubled, whatever broke between.

::

    POST /v1/sessions    Opening                    -> Opened
    POST /v1/captions    Sentence of a session      -> lines: Changed ..., then Settled or Failure
    POST /v1/leave       the name of a session
    GET  /v1/model                                  -> Offer

Both sides are strangers to each other: sizes and types are checked, and nothing becomes a path or
code. Every fault is a ValueError. Other versions of this program may say more than is known here,
which is ignored; ``VERSION`` is raised when they would be misunderstood.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.events import Confidence
from engine.messages import Code, Message
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence
from engine.untrusted.faults import refuse
from engine.untrusted.strict_json import JsonObject, shown

VERSION = 1

MOST_REQUEST_BYTES = 1 << 17
"""Of a request; a glossary is nearly all of it."""

MOST_LINE_BYTES = 1 << 16
"""Of an answer, or of a line of one."""

_MOST_WORDS, _MOST_WORD, _MOST_SOURCE = 64, 200, 1000
"""Words of a sentence, characters of one, characters of all; ``UtteranceLimits`` cuts before."""

MOST_CAPTION = 8000
"""Characters; a write that goes on for longer is a loop."""

_MOST_HASTE = 8
_MOST_TERMS, _MOST_TERM, _MOST_CONTEXT = 1000, 100, 8
_LONGEST_NAME, _LONGEST_MESSAGE, _MOST_LANGUAGES = 200, 700, 1000
_SESSION = re.compile("[A-Za-z0-9_-]{22,64}")
_LANGUAGE = re.compile("[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8}){0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Open a session: sentences of one speaker with the same settings, under a random name.

    Layout and limits of its captions are the server's.
    """

    session: str
    settings: TranslationSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The session is open, with deviations from its settings for the user.

    ``context_rows``: rows of the prompt that the glossary takes.
    """

    context_rows: int = 0
    notices: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Translate a sentence as far as its words allow.

    Attributes:
        number: of the sentence in the session.
        sentence: all its words so far.
        arrivals: words after each group of them that came together; all at once where none.
        caption: what is shown of it.
        haste: how many times larger steps are read than the policy says.
    """

    session: str
    number: int
    sentence: Sentence
    arrivals: tuple[int, ...] = ()
    caption: str = ""
    haste: int = 1


@dataclass(frozen=True, slots=True)
class Changed:
    """``kept`` characters of the caption stay, ``text`` follows; ``n_read`` units are read."""

    kept: int
    text: str
    n_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The words allow no more for now; ``n_read`` units are read.

    Attributes:
        finished: the caption is complete.
        confidence: in a complete caption; None where the model was not calibrated for that.
    """

    n_read: int
    finished: bool
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The sentence could not be translated to its end, or a request was refused."""

    message: Message


Answer = Changed | Settled | Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The model of the server; attributes as of ``engine.events.Ready``."""

    model: str
    languages: Mapping[str, str]
    makes_drafts: bool = False
    notices: tuple[Message, ...] = ()


def is_session(name: str) -> bool:
    """Return whether a text may name a session."""
    return _SESSION.fullmatch(name) is not None


# from the desktop to the server


def write_opening(opening: Opening) -> bytes:
    """Write a request, without what a server does not let others choose."""
    settings = opening.settings
    return _write(
        version=VERSION,
        session=opening.session,
        target=settings.target_language,
        source=settings.source_language,
        policy=settings.policy,
        constrained=settings.constrained,
        context=settings.context_sentences,
        glossary=[list(pair) for pair in settings.glossary],
    )


def read_opening(content: bytes) -> Opening:
    values = _read_request(content)
    terms = values.values.get("glossary", [])
    if not isinstance(terms, list) or len(terms) > _MOST_TERMS:
        refuse(f"'glossary' should be a list of at most {_MOST_TERMS} terms, got {shown(terms)}")
    settings = TranslationSettings(
        target_language=_language(values, "target"),
        source_language=_language(values, "source"),
        policy=values.text("policy", most=40),
        constrained=values.flag("constrained", default=True),
        context_sentences=values.integer("context", most=_MOST_CONTEXT, default=0),
        glossary=tuple(map(_term, terms)),
    )
    return Opening(session=_session(values), settings=settings)


def write_asked(asked: Asked) -> bytes:
    sentence = asked.sentence
    return _write(
        version=VERSION,
        session=asked.session,
        number=asked.number,
        words=list(sentence.words),
        ended=sentence.ended,
        arrivals=list(asked.arrivals),
        caption=asked.caption,
        haste=asked.haste,
    )


def read_asked(content: bytes) -> Asked:
    values = _read_request(content)
    words = values.texts("words")
    is_bounded = len(words) <= _MOST_WORDS and sum(map(len, words)) <= _MOST_SOURCE
    if not is_bounded or not all(_is_word(word) for word in words):
        refuse(
            f"'words' should be at most {_MOST_WORDS} words of up to {_MOST_WORD} characters, "
            f"{_MOST_SOURCE} in all, got {shown(words)}"
        )
    arrivals = values.integers("arrivals", least=1, most=len(words), default=())
    if list(arrivals) != sorted(set(arrivals)):
        refuse(f"'arrivals' should be numbers of words that rise, got {shown(arrivals)}")
    return Asked(
        session=_session(values),
        number=values.integer("number"),
        sentence=Sentence(words, ended=values.flag("ended")),
        arrivals=arrivals,
        caption=values.text("caption", "", most=MOST_CAPTION),
        haste=values.integer("haste", least=1, most=_MOST_HASTE, default=1),
    )


def write_leave(session: str) -> bytes:
    return _write(version=VERSION, session=session)


def read_leave(content: bytes) -> str:
    return _session(_read_request(content))


# from the server to the desktop


def write_offer(offer: Offer) -> bytes:
    return _write(
        version=VERSION,
        model=offer.model,
        languages=dict(offer.languages),
        makes_drafts=offer.makes_drafts,
        notices=[notice.to_json() for notice in offer.notices],
    )


def read_offer(content: bytes) -> Offer:
    values = _read_answer(content)
    names = values.inner("languages")
    if len(names.values) > _MOST_LANGUAGES:
        refuse(f"names more than {_MOST_LANGUAGES} languages")
    if any(not _LANGUAGE.fullmatch(code) for code in names.values):
        refuse(f"should name languages by their codes, got {shown(list(names.values))}")
    return Offer(
        model=_printable(values.text("model", most=_LONGEST_NAME)),
        languages={code: _printable(names.text(code, most=_LONGEST_NAME)) for code in names.values},
        makes_drafts=values.flag("makes_drafts"),
        notices=_messages(values),
    )


def write_opened(opened: Opened) -> bytes:
    notices = [notice.to_json() for notice in opened.notices]
    return _write(version=VERSION, context_rows=opened.context_rows, notices=notices)


def read_opened(content: bytes) -> Opened:
    values = _read_answer(content)
    return Opened(context_rows=values.integer("context_rows"), notices=_messages(values))


def write_answer(answer: Answer) -> bytes:
    match answer:
        case Changed(kept, text, n_read):
            return _write(kept=kept, text=text, n_read=n_read)
        case Settled(n_read=n_read, finished=finished, confidence=confidence):
            if confidence is None:
                return _write(finished=finished, n_read=n_read)
            sure = {"value": confidence.value, "is_low": confidence.is_low}
            return _write(finished=finished, n_read=n_read, confidence=sure)
        case Failure(message):
            return _write(failed=message.to_json())


def read_answer(line: bytes) -> Answer:
    values = _parse(line, MOST_LINE_BYTES)
    if "failed" in values:
        unknown = Code.SERVER_MISUNDERSTOOD(detail="its reason is not known here")
        return Failure(_message(values.values["failed"]) or unknown)
    if "text" in values:
        text = values.text("text", most=MOST_CAPTION)
        kept = values.integer("kept", most=MOST_CAPTION)
        return Changed(kept, text, values.integer("n_read"))
    confidence = None
    if "confidence" in values:
        sure = values.inner("confidence")
        confidence = Confidence(sure.number("value", least=0, most=1), sure.flag("is_low"))
    return Settled(
        n_read=values.integer("n_read"), finished=values.flag("finished"), confidence=confidence
    )


def _write(**values: object) -> bytes:
    """Write one line; it holds no line break, since JSON escapes those in texts."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _parse(content: bytes, most: int) -> JsonObject:
    if len(content) > most:
        refuse(f"is longer than {most} bytes")
    return JsonObject.parse(content)


def _read_request(content: bytes) -> JsonObject:
    return _versioned(_parse(content, MOST_REQUEST_BYTES))


def _read_answer(content: bytes) -> JsonObject:
    return _versioned(_parse(content, MOST_LINE_BYTES))


def _versioned(values: JsonObject) -> JsonObject:
    version = values.integer("version")
    if version != VERSION:
        refuse(f"is of version {version}, and this Surtitle speaks version {VERSION}")
    return values


def _session(values: JsonObject) -> str:
    name = values.text("session")
    if not is_session(name):
        refuse(f"'session' should be 22 to 64 letters and digits, got {shown(name)}")
    return name


def _language(values: JsonObject, key: str) -> str:
    code = values.text(key)
    if not _LANGUAGE.fullmatch(code):
        refuse(f"{shown(key)} should be the code of a language, got {shown(code)}")
    return code


def _term(pair: object) -> tuple[str, str]:
    match pair:
        case [str(term), str(translation)] if _is_term(term) and _is_term(translation):
            return term, translation
    return refuse(
        f"a term should be two texts of at most {_MOST_TERM} characters, got {shown(pair)}"
    )


def _is_term(text: str) -> bool:
    return 0 < len(text) <= _MOST_TERM and text.isprintable()


def _is_word(word: str) -> bool:
    return 0 < len(word) <= _MOST_WORD and not any(map(str.isspace, word))


def _printable(text: str) -> str:
    if not text.isprintable():
        refuse(f"holds a name that cannot be shown: {shown(text)}")
    return text


def _messages(values: JsonObject) -> tuple[Message, ...]:
    """Read messages; those of a later version, which are not known here, are left out."""
    given = values.values.get("notices", [])
    if not isinstance(given, list) or len(given) > _MOST_TERMS:
        refuse(f"'notices' should be a list, got {shown(given)}")
    return tuple(filter(None, map(_message, given)))


def _message(content: object) -> Message | None:
    """Read a message; None where it is not known here, or is not one sentence that can be shown."""
    try:
        message = Message.from_json(content)
    except RecursionError:
        return None
    told = "" if message is None else str(message)
    return message if told.isprintable() and len(told) <= _LONGEST_MESSAGE else None
