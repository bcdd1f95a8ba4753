"""Start Surtitle: ``surtitle`` opens the window, its commands work in the terminal.

Help and version print at once: Qt is imported only to open a window, and the engine after that.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from app.cli import adapters, check, devices, listen, serve, translate
from app.cli.adapters import adapter_folder, open_library
from app.config.preferences import LaunchSettings
from app.config.process import leaving_at_once, name_temporary_folder, own_stdin
from engine.errors import PolicyError, SurtitleError
from engine.files import own_folder
from engine.hub.catalogue import NO_ADAPTER
from engine.libraries import keep_caches_in
from engine.models.resolve import check_policy
from engine.settings import DEVICES

_NO_SCREEN = (
    "surtitle: there is no screen here to open a window on (DISPLAY and WAYLAND_DISPLAY are not "
    "set); in the terminal, type: surtitle translate --to de\n"
)


def main(argv: list[str] | None = None) -> int:
    """Open the window or run a command.

    Args:
        argv: the command line without the program's name; that of the process when it is None.

    Returns:
        the exit code: 0, 1 for a failure, 2 for wrong usage.
    """
    with leaving_at_once():
        arguments = _parser().parse_args(argv)
        name_temporary_folder()
        keep_caches_in(own_folder("cache", "cache"))
    with own_stdin() as arguments.stdin:
        if arguments.command is not None:
            exit_code: int = arguments.run(arguments)
            return exit_code
        if arguments.remote_command is None and _lacks_screen():
            sys.stderr.write(_NO_SCREEN)
            return 1
        return _open_window(arguments)


class _Parser(argparse.ArgumentParser):
    """Reports unknown arguments itself: else a wrong option of a command prints our usage."""

    def parse_known_args(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog="surtitle",
        description="Live translated captions: without a command, a window opens to type in.",
    )
    parser.add_argument("--version", action=_Version, help="show the version and leave")
    parser.add_argument(
        "--model", type=Path, metavar="DIR|NAME", help="model folder, or owner/name on the hub"
    )
    parser.add_argument(
        "--adapter", default=None, metavar="NAME|DIR|none", help="LoRA adapter for the model"
    )
    parser.add_argument("--device", choices=DEVICES, default="auto", help="where to compute")
    parser.add_argument("--to", metavar="CODE", help=f"target language: {translate.CODES}")
    parser.add_argument("--policy", type=_policy, help=translate.POLICIES)
    parser.add_argument(
        "--reset-places", action="store_true", help="open the windows where they first were"
    )
    _add_remote_commands(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in (translate, listen, devices, adapters, check, serve):
        command.add_parser(commands)
    data = own_folder("data")
    parser.set_defaults(adapter_library=data / "adapters", model_library=data / "models")
    return parser


def _add_remote_commands(parser: argparse.ArgumentParser) -> None:
    """Add the commands for the running Surtitle, meant for shortcuts of the desktop."""
    group = parser.add_mutually_exclusive_group()
    for command, explanation in (
        ("toggle", "show or hide the overlay of the running Surtitle"),
        ("pause", "pause or resume its captions"),
        ("clear", "empty its overlay"),
        ("lock", "lock or unlock its overlay: clicks go through a locked one"),
    ):
        group.add_argument(
            f"--{command}",
            dest="remote_command",
            action="store_const",
            const=command,
            help=explanation,
        )


class _Version(argparse.Action):
    """Print the version, which is read only then."""

    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:  # noqa: A002  argparse's name
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        from importlib import metadata  # noqa: PLC0415  takes longer than all the rest here

        try:
            version = metadata.version("surtitle")
        except metadata.PackageNotFoundError:
            version = "from this folder, not installed"
        sys.stdout.write(f"surtitle {version}\n")
        parser.exit()


def _policy(text: str) -> str:
    try:
        return check_policy(text)
    except PolicyError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _lacks_screen() -> bool:
    """Return whether there is no screen; only Linux reports that before Qt starts."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return sys.platform == "linux" and not any(os.environ.get(name) for name in names)


def _open_window(arguments: argparse.Namespace) -> int:
    try:
        with leaving_at_once():
            from app.config.preferences import PreferencesFile  # noqa: PLC0415
            from app.config.window_system import platform_wanted  # noqa: PLC0415
            from app.controllers import startup  # noqa: PLC0415  terminal commands need no Qt
    except ImportError as error:
        sys.stderr.write(f"surtitle: the window needs a library that is missing: {error}\n")
        return 1
    try:
        no_adapter = arguments.adapter == NO_ADAPTER
        adapter = None
        if arguments.adapter is not None and not no_adapter:
            adapter = adapter_folder(arguments.adapter, open_library(arguments.adapter_library))
    except SurtitleError as error:
        sys.stderr.write(f"surtitle: {error}\n")
        return 1
    settings = LaunchSettings(
        preferences_file=own_folder("config") / "settings.toml",
        places_file=own_folder("state") / "places.toml",
        data_folder=own_folder("data"),
        log_folder=own_folder("log", "logs"),
        model=arguments.model,
        adapter=adapter,
        no_adapter=no_adapter,
        device=arguments.device,
        language=arguments.to,
        policy=arguments.policy,
        forget_places=arguments.reset_places,
        can_use_xwayland=platform_wanted(os.environ, through_xwayland=True) is not None,
    )
    if arguments.remote_command is not None:
        return startup.tell_running(settings, arguments.remote_command)
    chosen, _ = PreferencesFile(settings.preferences_file).read()
    through_xwayland = chosen.overlay.through_xwayland
    platform = platform_wanted(os.environ, through_xwayland=through_xwayland)
    if platform is not None:
        os.environ["QT_QPA_PLATFORM"] = platform
    return startup.run(settings)


if __name__ == "__main__":
    sys.exit(main())
