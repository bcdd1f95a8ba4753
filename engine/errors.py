"""The errors a caller of the engine may catch.

    SurtitleError
    ├── ModelError            a model folder, adapter or device that cannot be used
    │   ├── AdapterError      an adapter that is damaged, hostile, or made for another base
    │   ├── HubError          a model that cannot be fetched from the hub
    │   │   └── FetchCancelledError   cancelled by the user
    │   └── ServerError       a computer that translates for others refuses
    │       └── ServerGoneError   it does not answer, for now
    ├── PolicyError           a policy that is written wrongly
    ├── ContextError          a glossary that cannot be read or is too long
    ├── AudioError            a sound device or a recording that cannot be used
    │   ├── NoSoundError      nothing can be recorded on this computer, for now
    │   └── TapEndedError     the recording of a device has ended
    ├── ScoringError          a log or a tokenizer that scores need cannot be used
    └── CacheFullError        more rows than the capacity of the cache

Wrong arguments in code are ``ValueError`` where they are used. Every message is one sentence with
the expected value, the actual one, and the remedy.
"""

import errno
import socket

from engine.messages import Code, Message

SYSTEM_CODES = {
    errno.ENOSPC: Code.NO_SPACE,
    errno.EDQUOT: Code.NO_QUOTA,
    errno.EFBIG: Code.FILE_LIMIT,
    errno.EROFS: Code.READ_ONLY,
    errno.EACCES: Code.NO_PERMISSION,
    errno.EPERM: Code.NOT_PERMITTED,
    errno.ENOENT: Code.NO_SUCH_FILE,
    errno.EISDIR: Code.IS_A_FOLDER,
    errno.ENOTDIR: Code.NOT_A_FOLDER,
    errno.ENAMETOOLONG: Code.NAME_TOO_LONG,
    errno.EIO: Code.DISK_FAILED,
    errno.EBUSY: Code.IN_USE,
    errno.ECONNREFUSED: Code.CONNECTION_REFUSED,
    errno.ECONNRESET: Code.CONNECTION_RESET,
    errno.ENETUNREACH: Code.NO_NETWORK,
    errno.EHOSTUNREACH: Code.NO_ROUTE,
    errno.EADDRINUSE: Code.ADDRESS_IN_USE,
}
"""What the system says by its numbers, so that windows can translate it."""


class SurtitleError(Exception):
    """Base of all errors that are reported to the user, by a message that windows translate."""

    def __init__(self, message: str | Message = "") -> None:
        super().__init__(str(message))
        coded = message if isinstance(message, Message) else Code.AS_SAID(sentence=message)
        self.message: Message = coded


class ModelError(SurtitleError):
    """A model, adapter or device cannot be used."""


class AdapterError(ModelError):
    """An adapter cannot be used, added or removed."""


class HubError(ModelError):
    """A model cannot be fetched from the hub."""


class FetchCancelledError(HubError):
    """Fetching was cancelled; the fetched bytes are kept."""


class ServerError(ModelError):
    """A computer that translates for others refuses, or is not one."""


class ServerGoneError(ServerError):
    """The computer that translates does not answer, or cannot take more, for now."""


class PolicyError(SurtitleError, ValueError):
    """A policy was not written as ``read:N``, ``wait:K`` or ``offline``."""


class ContextError(SurtitleError):
    """A glossary cannot be read, or is too long."""


class AudioError(SurtitleError):
    """A sound device, or a file with sound in it, cannot be used."""


class NoSoundError(AudioError):
    """The sound server does not answer, or there is none."""


class TapEndedError(AudioError):
    """The recording of a device has ended."""


class ScoringError(SurtitleError):
    """A log is garbled, or sacreBLEU lacks a tokenizer."""


class CacheFullError(SurtitleError):
    """More rows were fed than the capacity of the cache."""

    def __init__(self, *, capacity: int, wanted: int) -> None:
        super().__init__(
            f"the slot cache holds {capacity} rows and {wanted} were wanted: shorten the utterance"
        )
        self.capacity = capacity
        self.wanted = wanted


def is_failure(error: BaseException) -> bool:
    """Return whether this is a failure, not a request to exit.

    Panics of Rust libraries are failures, although they are derived from BaseException.
    """
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def first_line(error: BaseException) -> str:
    """Return the first line of an error of a library, or its type if it has no text."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def message_of(error: Exception) -> Message:
    """Return the message of one of our errors, or the first line of a library's."""
    match error:
        case SurtitleError():
            return error.message
        case ValueError(args=[Message() as message, *_]):
            return message
        case socket.gaierror():  # its numbers are others than the system's
            return Code.NAME_NOT_FOUND()
        case OSError(errno=number) if number in SYSTEM_CODES:
            return SYSTEM_CODES[number]()
        case OSError() if error.strerror:
            return Code.AS_SAID(sentence=error.strerror)
    return Code.AS_SAID(sentence=first_line(error))
