"""The computer that translates for a terminal command: ``--server``."""

import argparse
from pathlib import Path

from app.cli.exit_codes import UsageError
from app.config.text_io import TextError
from engine.errors import message_of
from engine.settings import ServerSettings

_LONGEST_TOKEN = 1000
_OF_MODELS = ("model", "adapter", "quantize", "slot", "system", "log")
_UNSAID = {"quantize": "auto", "system": "auto"}


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that ``server_settings`` reads."""
    parser.add_argument(
        "--server",
        metavar="https://NAME:PORT",
        help="let another computer translate, where surtitle serve runs; words and captions are "
        "sent there, sound is not",
    )
    parser.add_argument(
        "--server-token-file", type=Path, metavar="FILE", help="the token that it asks for"
    )
    parser.add_argument(
        "--server-certificate",
        type=Path,
        metavar="FILE",
        help="its certificate, or that of its authority, where the system trusts neither",
    )


def server_settings(arguments: argparse.Namespace) -> ServerSettings | None:  # noqa: TID251  an entry point's
    """Check the options; None where this computer translates."""
    token, certificate = arguments.server_token_file, arguments.server_certificate
    if arguments.server is None:
        if token or certificate:
            msg = "--server-token-file and --server-certificate are for a server: add --server"
            raise UsageError(msg)
        return None
    for name in _OF_MODELS:
        if getattr(arguments, name) not in (None, _UNSAID.get(name)):
            msg = f"the server has a model of its own: leave --{name} or --server out"
            raise UsageError(msg)
    return ServerSettings(
        address=arguments.server,
        token="" if token is None else _token(token),
        certificate=certificate,
    )


def _token(path: Path) -> str:
    """Return the first line of a file that is no comment."""
    try:
        with path.open("rb") as file:
            lines = file.read(_LONGEST_TOKEN).decode("ascii").splitlines()
    except (OSError, UnicodeError) as error:
        msg = f"the token in {path} cannot be read: {message_of(error)}"
        raise TextError(msg) from error
    return next((line.strip() for line in lines if line.strip() and line[0] != "#"), "")
