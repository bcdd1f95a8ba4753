"""Translate for other computers: ``surtitle serve``, or a deployment file of Ray Serve.

Exit codes as in ``exit_code_of``.
"""

import argparse
import contextlib
import importlib.util
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from app.cli.exit_codes import UsageError, exit_code_of, tell
from app.cli.translate import add_model_options, chosen_model, convert_first
from app.config.process import leaving_at_once
from app.config.text_io import TextError
from app.sharing.access import LOOPBACK
from engine.errors import first_line, message_of
from engine.files import own_folder
from engine.settings import ModelSettings, TranslationSettings

if TYPE_CHECKING:
    from app.serving.ray_replicas import ReplicaSettings
    from app.serving.server import ServingSettings

_NAME = "serve"
_PORT = 8754
_CLIENTS, _MOST_CLIENTS, _MOST_REPLICAS = 32, 1000, 1000


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        _NAME,
        help="translate for other computers in the house",
        description="Translate for other computers: their Surtitle sends words and gets captions. "
        "Nothing of them is kept. Ctrl+C ends it.",
    )
    parser.add_argument(
        "--host",
        default=LOOPBACK,
        metavar="ADDRESS",
        help="address of this computer at which others reach it (%(default)s: only this computer)",
    )
    parser.add_argument("--port", type=int, default=_PORT, help="(%(default)s)")
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="tokens that clients have to know, one a line; made with a random one if there is no "
        "such file",
    )
    parser.add_argument("--certificate", type=Path, metavar="FILE.pem", help="for TLS")
    parser.add_argument("--key", type=Path, metavar="FILE.pem", help="of the certificate")
    parser.add_argument(
        "--behind-proxy", action="store_true", help="a proxy at --host's network adds TLS"
    )
    parser.add_argument(
        "--ray",
        action="store_true",
        help="several copies of the model, on Ray Serve: pip install 'surtitle[serve-ray]'",
    )
    add_replica_options(parser)
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own

    def work() -> None:
        settings = serving_settings(arguments)
        _open_as_many_files_as_the_system_lets()
        if arguments.ray:
            check_ray()
        elif arguments.replicas is not None:
            msg = "--replicas are copies that Ray runs: add --ray"
            raise UsageError(msg)
        model, card = chosen_model(arguments, TranslationSettings())
        if arguments.ray:
            serve_with_ray(settings, model, card.name, replica_settings(arguments))
        else:
            serve(settings, model)

    return exit_code_of(_NAME, work)


def _open_as_many_files_as_the_system_lets() -> None:
    """A connection is a file, and the usual thousand is for programs of one person."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # as on Windows, and on macOS
        import resource  # noqa: PLC0415  there is none on Windows

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def serving_settings(arguments: argparse.Namespace) -> "ServingSettings":  # noqa: TID251  as above
    """Check the options: what others can reach has tokens, and TLS."""
    from app.serving.server import ServingSettings, read_tokens  # noqa: PLC0415  slow to import
    from app.sharing.server import TlsFiles  # noqa: PLC0415

    is_alone = arguments.host in (LOOPBACK, "localhost")
    certificate, key = arguments.certificate, arguments.key
    if not 0 <= arguments.port < 1 << 16:
        msg = f"--port is a number from 0 (any that is free) to 65535, got {arguments.port}"
        raise UsageError(msg)
    most_clients = n_clients(arguments)
    if (certificate is None) != (key is None):
        msg = "--certificate and --key belong together: name both files"
        raise UsageError(msg)
    if not is_alone and arguments.token_file is None:
        msg = f"others can reach {arguments.host}: name a --token-file, so that not all may ask"
        raise UsageError(msg)
    if not is_alone and certificate is None and not arguments.behind_proxy:
        msg = (
            f"others can reach {arguments.host}: name a --certificate with its --key, or say "
            "--behind-proxy if a proxy adds TLS"
        )
        raise UsageError(msg)
    return ServingSettings(
        host=arguments.host,
        port=arguments.port,
        tokens=() if arguments.token_file is None else read_tokens(arguments.token_file),
        tls=None if certificate is None else TlsFiles(certificate, key),
        most_clients=most_clients,
    )


def serve(settings: "ServingSettings", model: ModelSettings) -> None:
    """Serve until a signal ends it."""
    convert_first(model)
    with leaving_at_once():
        from app.serving.server import TranslationServer  # noqa: PLC0415  libraries take a while
        from engine.session.conversations import Conversations  # noqa: PLC0415
        from engine.session.loaded_model import LoadedModel  # noqa: PLC0415

        loaded = LoadedModel(model, lambda _progress: None)
        for note in loaded.notes:
            _tell(str(note))
        conversations = Conversations(loaded, settings.most_clients)
    with _ended_by_signals() as ended:
        with _told_if_nothing_listens(settings):
            server = TranslationServer(settings, conversations)
        name = loaded.weights.card.name
        _tell_all(f"{name} translates at {server.address}, for up to", settings, ended)
        server.close()
    if not conversations.has_stopped:
        _end_at_once()


def _end_at_once() -> None:
    """End without what Python does last: a library that still computes would abort the process."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def serve_with_ray(
    settings: "ServingSettings", model: ModelSettings, name: str, wanted: "ReplicaSettings"
) -> None:
    """Serve by replicas that Ray runs on this computer, until a signal ends it."""
    convert_first(model)
    with leaving_at_once():
        from app.serving.ray_replicas import prepare_ray, ray_folder, served_by_ray  # noqa: PLC0415  as above
        from app.sharing.server import listening_socket  # noqa: PLC0415
    with (
        _told_if_nothing_listens(settings),
        listening_socket(settings.host, settings.port) as free,
    ):
        settings = replace(settings, port=free.getsockname()[1])
    _tell("Ray starts, which takes a while")
    try:
        with contextlib.ExitStack() as opened:
            folder = opened.enter_context(ray_folder(own_folder("cache", "cache")))
            prepare_ray(os.environ, folder)  # noqa: TID251  Ray reads it when it is imported
            address = opened.enter_context(served_by_ray(settings, model, wanted, folder))
            ended = opened.enter_context(_ended_by_signals())  # after Ray's own handlers
            n = "-".join(map(str, sorted({wanted.fewest, wanted.most})))
            copies = "1 copy" if n == "1" else f"{n} copies"
            _tell_all(
                f"{name} translates at {address}, in {copies} each for up to", settings, ended
            )
    except (RuntimeError, OSError) as error:
        msg = f"Ray cannot serve: {first_line(error)}"
        raise TextError(msg) from error


@contextlib.contextmanager
def _told_if_nothing_listens(settings: "ServingSettings") -> Iterator[None]:
    try:
        yield
    except (OSError, OverflowError) as error:
        msg = f"nothing can be served at {settings.host}:{settings.port}: {message_of(error)}"
        raise TextError(msg) from error


def _tell_all(who: str, settings: "ServingSettings", ended: threading.Event) -> None:
    _tell(f"{who} {settings.most_clients} at once; Ctrl+C ends it")
    if not settings.tokens:
        _tell("without a --token-file every program on this computer may ask")
    ended.wait()
    _tell("what was asked is answered, then it ends")


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[threading.Event]:
    ended = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: ended.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield ended
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def _tell(sentence: str) -> None:
    tell(_NAME, sentence)


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
    from app.serving.server import read_tokens  # noqa: PLC0415

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
