"""Translate for others by replicas of Ray Serve: ``surtitle serve --ray``, or a deployment file."""

import argparse
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from app.cli.exit_codes import UsageError
from app.cli.translate import add_model_options, chosen_model
from app.config.text_io import TextError
from engine.folders import own_folder
from engine.settings import TranslationSettings

if TYPE_CHECKING:
    from app.serving.ray_replicas import ReplicaSettings

_CLIENTS, _MOST_CLIENTS, _MOST_REPLICAS = 32, 1000, 1000


def add_replica_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that ``replica_settings`` reads."""
    parser.add_argument(
        "--replicas",
        metavar="N|N-M",
        help="with Ray: how many copies of the model, as few as N while M are not needed (1 to as "
        "many as this computer has cores)",
    )
    parser.add_argument(
        "--clients",
        type=int,
        default=_CLIENTS,
        metavar="N",
        help="at once; with Ray, of each copy (%(default)s)",
    )


def check_ray() -> None:
    """Raise TextError where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        msg = "--ray needs Ray, which is not installed: pip install 'surtitle[serve-ray]'"
        raise TextError(msg)


def n_clients(arguments: argparse.Namespace) -> int:  # noqa: TID251  an entry point's
    """Check how many sessions are served at once."""
    n: int = arguments.clients
    if not 1 <= n <= _MOST_CLIENTS:
        msg = f"--clients is a number from 1 to {_MOST_CLIENTS}, got {n}"
        raise UsageError(msg)
    return n


def replica_settings(arguments: argparse.Namespace) -> "ReplicaSettings":  # noqa: TID251  an entry point's
    from app.serving.ray_replicas import ReplicaSettings  # noqa: PLC0415  slow to import

    text = arguments.replicas or f"1-{os.cpu_count() or 1}"
    first, dash, last = text.partition("-")
    numbers = [first, last] if dash else [first, first]
    if all(one.isascii() and one.isdigit() for one in numbers):
        fewest, most = map(int, numbers)
        if 1 <= fewest <= most <= _MOST_REPLICAS:
            return ReplicaSettings(fewest=fewest, most=most, sessions=n_clients(arguments))
    msg = f"--replicas is a number from 1 to {_MOST_REPLICAS}, or two, as 2-8, got {text!r}"
    raise UsageError(msg)


class _Strict(argparse.ArgumentParser):
    """Raises where another parser would print its usage and end the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def application(arguments: Mapping[str, object]) -> object:
    """Build what a deployment file of Ray Serve names as its ``import_path``.

    Args:
        arguments: options of ``surtitle serve`` without their dashes: ``token-file``, which is
            needed, ``clients``, ``replicas``, ``model``, ``adapter``, ``device``, ``quantize``.

    Raises:
        UsageError: there is no such option, or its value cannot be used.
        SurtitleError: the model cannot be used.
        TextError: nor the file of tokens.
    """
    from app.serving.ray_replicas import replicas  # noqa: PLC0415  slow to import
    from app.serving.tokens import read_tokens  # noqa: PLC0415

    parser = _Strict(prog="args", add_help=False)
    parser.add_argument("--token-file", type=Path, required=True)
    add_replica_options(parser)
    add_model_options(parser)
    data = own_folder("data")
    parser.set_defaults(
        model=None,
        adapter=None,
        device="auto",
        adapter_library=data / "adapters",
        model_library=data / "models",
    )
    parsed = parser.parse_args([f"--{name}={value}" for name, value in arguments.items()])
    model, _ = chosen_model(parsed, TranslationSettings())
    return replicas(model, read_tokens(parsed.token_file), replica_settings(parsed))
