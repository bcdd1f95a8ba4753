"""Tokens of a server: who knows one may have text translated."""

import hashlib
import logging
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from app.config.text_io import TextError
from app.sharing.access import is_same
from engine.errors import message_of

_log = logging.getLogger(__name__)

_SHORTEST, _LONGEST, _MOST = 20, 200, 1000
_FEWEST_LETTERS = 8  # that differ in a token
_MOST_BYTES = 1 << 18
_RANDOM_BYTES = 24


class Tokens:
    """The tokens that a server knows; without any, everybody who reaches it may ask."""

    def __init__(self, tokens: Sequence[str] = ()) -> None:
        self._tokens = tuple(tokens)

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def whose(self, authorization: str) -> str | None:
        """Return a name for the sender of this header; None where its token is not known.

        All tokens are compared, each in a time that does not tell how much of it is right.
        """
        if not self._tokens:
            return ""
        scheme, _, given = authorization.partition(" ")
        found = [is_same(given, token) for token in self._tokens]
        if scheme.lower() != "bearer" or not any(found):
            return None
        return hashlib.sha256(given.encode()).hexdigest()[:16]


def read_tokens(path: Path) -> tuple[str, ...]:
    """Read a file with a token on each line; make one where there is no file.

    Empty lines, and lines that begin with ``#``, are skipped.

    Raises:
        TextError: it cannot be read or made, or a token could be guessed.
    """
    try:
        if not path.exists():
            _make(path)
        with path.open("rb") as file:
            if os.name != "nt" and os.fstat(file.fileno()).st_mode & 0o077:
                _log.warning("others can read the tokens in %s: chmod 600 %s", path, path)
            lines = file.read(_MOST_BYTES).decode().splitlines()
    except (OSError, UnicodeError) as error:
        msg = f"the tokens in {path} cannot be read: {message_of(error)}"
        raise TextError(msg) from error
    told = [line.strip() for line in lines]
    tokens = tuple(line for line in told if line and not line.startswith("#"))
    for number, token in enumerate(tokens, start=1):
        is_plain = token.isascii() and token.isprintable() and _SHORTEST <= len(token) <= _LONGEST
        if not is_plain or len(set(token)) < _FEWEST_LETTERS:
            msg = (
                f"token {number} in {path} should be {_SHORTEST} to {_LONGEST} letters and digits, "
                f"{_FEWEST_LETTERS} of them different; delete the file, and it is made with a "
                "random one"
            )
            raise TextError(msg)
    if not 0 < len(tokens) <= _MOST:
        msg = f"{path} should have a token on each line, up to {_MOST}, got {len(tokens)}"
        raise TextError(msg)
    return tokens


def _make(path: Path) -> None:
    """Write a file that only its owner can read."""
    token = secrets.token_urlsafe(_RANDOM_BYTES)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{token}\n")
