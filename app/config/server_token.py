"""The token of the server that translates, in a file that only its owner can read."""

from pathlib import Path

from app.config.system.messages import AppCode
from engine.errors import message_of
from engine.files import write_file
from engine.messages import Message

MOST_TOKEN = 200
"""Characters."""


def read_token(path: Path) -> str:
    """Return the token; empty where there is none that can be used."""
    try:
        with path.open("rb") as file:
            token = file.read(MOST_TOKEN + 2).decode("ascii").strip()
    except (OSError, UnicodeError):
        return ""  # the server says that it does not know it
    return token if is_token(token) else ""


def is_token(text: str) -> bool:
    """Return whether a text can be sent as a token."""
    return len(text) <= MOST_TOKEN and text.isascii() and text.isprintable()


def write_token(path: Path, token: str) -> Message | None:
    """Store a token; return a message for the user if that failed."""
    if token == read_token(path):
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, f"{token}\n")
    except OSError as error:
        return AppCode.SETTINGS_UNWRITABLE(path=str(path), reason=message_of(error))
    return None
