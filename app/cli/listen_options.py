"""What ``surtitle listen`` is asked for, and the sources it hears."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.captions.lanes import LANES
from app.cli.exit_codes import UsageError
from app.cli.translate import TerminalSettings, add_options, chosen_settings
from app.history.subtitle_writer import FORMATS
from engine.audio.devices import AudioNotice, DeviceKind, WantedDevice
from engine.hub.catalogue import STANDARD_WHISPER

if TYPE_CHECKING:
    from engine.audio.chunks import AudioSource

_KINDS = {"mic": DeviceKind.MICROPHONE, "system": DeviceKind.SYSTEM}
_MOST_SOURCES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be heard.

    Attributes:
        source: ``mic``, ``system`` or a file.
        device: what a person calls the device; None is the default.
        lane: how it is told apart, where two are heard; else empty.
    """

    source: str
    device: str | None = None
    lane: str = ""

    @property
    def is_file(self) -> bool:
        """Tell whether a file is heard."""
        return self.source not in _KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenSettings:
    """What one run hears, and where it writes.

    Attributes:
        translation: model, language, policy and log.
        wanted: one source or two.
        whisper: name, id or folder of the recogniser.
        library: where recognisers that are fetched lie.
        real_time: a file is heard at its own pace.
        subtitles: files by format.
    """

    translation: TerminalSettings
    wanted: tuple[Wanted, ...]
    whisper: str
    library: Path
    real_time: bool
    subtitles: dict[str, Path]


def add_listening_options(parser: argparse.ArgumentParser) -> None:
    """Add all that ``listen_settings`` reads."""
    parser.add_argument(
        "--source",
        dest="sources",
        action="append",
        required=True,
        metavar="mic|system|FILE",
        help="what is heard; given twice, both are, told apart as me and them",
    )
    parser.add_argument(
        "--device",
        dest="sound_devices",
        action="append",
        default=[],
        metavar="NAME",
        help="which microphone or output, for each source in turn (see surtitle devices)",
    )
    parser.add_argument(
        "--asr",
        default=STANDARD_WHISPER,
        metavar="MODEL",
        help="Whisper that recognises: tiny.en ... large-v3, an id on huggingface.co, or a folder "
        f"({STANDARD_WHISPER})",
    )
    parser.add_argument(
        "--real-time", action="store_true", help="hear a file at its own pace, not at full speed"
    )
    for form in FORMATS:
        parser.add_argument(
            f"--{form}", type=Path, metavar="FILE", help=f"write the captions as {form} too"
        )
    add_options(parser, device="--compute")
    parser.set_defaults(source="-", live=False)  # of surtitle translate


def listen_settings(arguments: argparse.Namespace) -> ListenSettings:  # noqa: TID251  an entry point's
    """Check what the command line says.

    Raises:
        UsageError: a value is wrong, or a file is not there.
        SurtitleError: the model folder cannot be used.
        TextError: no model was named and none comes with the program.
    """
    wanted = _wanted(arguments.sources, arguments.sound_devices)
    forms = {form: getattr(arguments, form) for form in FORMATS}
    return ListenSettings(
        translation=chosen_settings(arguments),
        wanted=wanted,
        whisper=arguments.asr,
        library=arguments.model_library,
        real_time=arguments.real_time,
        subtitles={form: path for form, path in forms.items() if path is not None},
    )


def _wanted(sources: list[str], devices: list[str]) -> tuple[Wanted, ...]:
    if len(sources) > _MOST_SOURCES or len(set(sources)) != len(sources):
        msg = f"expected one --source or two different ones, got {', '.join(sources)}"
        raise UsageError(msg)
    if len(devices) > len(sources):
        msg = f"expected a --device for each --source at most, got {len(devices)} of them"
        raise UsageError(msg)
    named = [*devices, *([None] * (len(sources) - len(devices)))]
    together = len(sources) > 1
    found = tuple(
        Wanted(
            source=source,
            device=device,
            lane=_lane(source) if together else "",
        )
        for source, device in zip(sources, named, strict=True)
    )
    for one in found:
        if one.is_file and not Path(one.source).is_file():
            msg = f"expected mic, system or a file with sound, but {one.source} is no file"
            raise UsageError(msg)
        if one.is_file and one.device is not None:
            msg = f"{one.source} is a file: leave --device out, or name another --source"
            raise UsageError(msg)
    return found


def _lane(source: str) -> str:
    return LANES[_KINDS[source]] if source in _KINDS else Path(source).stem


def make_source(
    wanted: Wanted, report: Callable[[AudioNotice], None], *, real_time: bool
) -> "AudioSource":
    """Make a source; it is not started.

    Raises:
        AudioError: nothing can be recorded, no device is called so, or a library is missing.
    """
    from engine.audio.sources import AudioSources, find_device  # noqa: PLC0415  numpy slows the help down

    sources = AudioSources()
    if wanted.is_file:
        return sources.file(Path(wanted.source), report, real_time=real_time)
    kind = _KINDS[wanted.source]
    name = None
    if wanted.device is not None:
        name = find_device(sources.devices(), kind, wanted.device).name
    return sources.live(WantedDevice(kind=kind, name=name), report)
