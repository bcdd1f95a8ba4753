"""Faults of files of strangers, as clauses that lead to an act, by their codes.

Only what a user can act on has a code; what was found is a ``detail`` behind it, in English, that
is never translated. A reader refuses a file with a detail that continues a sentence about it
(``lacks 'slot_length'``), or with a fault where the file is not merely damaged.
"""

import contextlib
import enum
from collections.abc import Iterator
from typing import NoReturn

from engine.errors import message_of
from engine.messages import Code, Codes, Message, Value, tr

_LONGEST_DETAIL = 300  # characters


@enum.unique
class Fault(Codes):
    """A clause about an adapter or a model, whichever its files belong to."""

    DAMAGED = tr("it is damaged; get it again, or choose another one (detail: {detail})")
    OVERSIZED = tr("it is larger than can be read here; choose another one (detail: {detail})")
    UNSUPPORTED = tr("it is of no kind that is known here; choose another one (detail: {detail})")
    NAMES_CODE = tr(
        "it asks for code or for files that are never opened here; choose another one "
        "(detail: {detail})"
    )
    NEWER_FORMAT = tr("it was made for a newer Surtitle; update the program (detail: {detail})")
    WEIGHTS_PICKLED = tr(
        "its weights are a pickle ({name}), which can run code; save them as safetensors"
    )
    MODEL_PICKLED = tr(
        "its weights are a pickle ({name}), which can run code; name the model as on the hub "
        "(owner/name), and its safetensors are downloaded, or get them from a branch of it there"
    )

    # files
    HAS_NO = tr("it has no {name}; get it again whole, or choose another folder")
    NO_PLAIN_FILE = tr("its {name} is no plain file; put the file itself there")
    UNREADABLE = tr("its {name} cannot be read ({reason}); see to its permissions, or get it again")
    FOLDER_UNREADABLE = tr(
        "its folder cannot be read ({reason}); see to its permissions, or choose another one"
    )

    # an adapter and its model
    OTHER_BASE = tr(
        "it was made for {base}, another model than this; choose that model, or another adapter "
        "(detail: {detail})"
    )
    UNFIT = tr("it does not fit the model; choose another adapter (detail: {detail})")
    UNTRIED = tr(
        "it was not made for captions such as these; choose another adapter if they are poor "
        "(detail: {detail})"
    )
    NO_CARD = tr(
        "it has no {name}, so its base, its slot length, its policies, its languages and where it "
        "comes from are not known; choose another adapter if captions are poor"
    )


class FaultError(ValueError):
    """A file of a stranger cannot be used; its only argument is what ``refuse`` takes."""


def refuse(found: str | Message) -> NoReturn:
    """Raise a FaultError: of a damaged file by a detail, or of any other fault."""
    raise FaultError(found)


def fault_of(error: Exception, name: str = "") -> Message:
    """Return a clause about an adapter or a model for an error of a reader, or of the system.

    A detail of a damaged file continues a sentence about ``name``: the file, or a part of it.
    """
    message = message_of(error)
    if isinstance(error, FileNotFoundError):
        return Fault.HAS_NO(name=name)
    if isinstance(error, OSError):
        return Fault.UNREADABLE(name=name, reason=message)
    match message:
        case Message(code=Fault(), values={"detail": detail}):
            return Message(message.code, {**message.values, "detail": _detail(name, detail)})
        case Message(code=Code.AS_SAID):
            return Fault.DAMAGED(detail=_detail(name, message))
    return message


_DAMAGES = (
    *(Code.CANNOT_LOAD, Code.CONVERTED_WRONG, Code.FOLDER_HAS_NO),
    *(Code.WHISPER_NOT_LOADED, Code.WHISPER_UNFIT, Code.SPEECH_MODEL_CUT),
    *(Code.STREAMING_NOT_LOADED, Code.STREAMING_UNFIT),
)


def is_damage(message: Message) -> bool:
    """Return whether a model was refused for what its files are: whole ones may help."""
    return message.code in _DAMAGES


@contextlib.contextmanager
def about(name: str) -> Iterator[None]:
    """Make errors of reading the file ``name`` a FaultError whose detail begins with it."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise FaultError(fault_of(error, name)) from error


def detail_of(error: Exception) -> str:
    """Return what an error of a reader found, in English, for a sentence with its own act."""
    found: Value = message_of(error)
    while isinstance(found, Message):
        match found.values:
            case {"detail": inner} | {"reason": Message() as inner}:
                found = inner
            case _:
                break
    return _detail("", found)


def _detail(name: str, found: object) -> str:
    line = "".join(one if one.isprintable() else "?" for one in f"{name} {found}".strip())
    return line if len(line) <= _LONGEST_DETAIL else line[:_LONGEST_DETAIL] + "..."
