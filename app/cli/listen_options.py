"""The options of ``surtitle listen``, and the sources they name."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.captions.export import WRITTEN
from app.cli.exit_codes import UsageError
from app.cli.translate import TerminalSettings, add_options, chosen_settings
from app.config.preferences import LANES
from engine.audio.devices import AudioNotice, DeviceKind, WantedDevice
from engine.hub.catalogue import (
    MOONSHINE,
    NO_ADAPTER,
    STANDARD_WHISPER,
    STREAMING_MODELS,
    standard_speech_model,
    suited_speech_model,
)
from engine.models.resolve import POLICY_OF_RECORDINGS
from engine.settings import DEVICES, SOUND, ModelSettings

if TYPE_CHECKING:
    from engine.audio.chunks import AudioSource

_PATIENCE_S = 20.0  # with a sound server that has never answered
_KINDS = {"mic": DeviceKind.MICROPHONE, "system": DeviceKind.SYSTEM}
_MOST_SOURCES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenSource:
    """A source of the command line.

    Attributes:
        source: ``mic``, ``system`` or a file.
        device: name of the device as the user wrote it; None is the default.
        lane: label of its captions if there are two sources, else empty.
    """

    source: str
    device: str | None = None
    lane: str = ""

    @property
    def is_file(self) -> bool:
        return self.source not in _KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenSettings:
    """Sources, models and outputs of one run.

    Attributes:
        translation: model, language, policy and log.
        sources: one or two.
        recognizer: name, id or folder of the speech model.
        real_time: play a file at its own pace.
        track: which audio track of a file, from 1; None: the one in what is spoken, or its own
            choice.
        subtitles: files by format.
        is_recording: nobody waits for the captions: all sources are files, at full speed.
    """

    translation: TerminalSettings
    sources: tuple[ChosenSource, ...]
    recognizer: str
    library: Path
    real_time: bool
    track: int | None
    is_recording: bool
    subtitles: dict[str, Path]

    @property
    def hears(self) -> bool:
        """Whether the model translates straight from the sound, without a recogniser."""
        model = self.translation.model
        return isinstance(model, ModelSettings) and model.system == SOUND


def add_listening_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that ``listen_settings`` reads."""
    parser.add_argument(
        "--source",
        dest="sources",
        action="append",
        required=True,
        metavar="mic|system|FILE",
        help="what to listen to; given twice, both are, labelled me and them",
    )
    parser.add_argument(
        "--sound-device",
        dest="sound_devices",
        action="append",
        default=[],
        metavar="NAME",
        help="which microphone or output, for each source in turn (see surtitle devices)",
    )
    parser.add_argument(
        "--asr",
        default="",
        metavar="MODEL",
        help=f"speech model: {MOONSHINE} (English, comes with Surtitle), a Whisper (tiny.en ... "
        f"large-v3, or an id on huggingface.co), {', '.join(STREAMING_MODELS)} (words at once), "
        f"or a folder; by itself {MOONSHINE} where it is installed, else {STANDARD_WHISPER}, and "
        "one that knows the language where --from is not English",
    )
    parser.add_argument(
        "--direct",
        dest="system",
        action="store_const",
        const=SOUND,
        default=argparse.SUPPRESS,  # that of --system counts
        help="translate straight from the sound, without a speech model: --model is a folder that "
        "was trained for it",
    )
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="play a file at its own pace; else each piece of it is heard once, and each sentence "
        f"read to its end (--policy {POLICY_OF_RECORDINGS})",
    )
    parser.add_argument(
        "--track",
        type=int,
        metavar="N",
        help="which audio track of a file, from 1 (the one in the language of --from, else the "
        "default one)",
    )
    for form in WRITTEN:
        parser.add_argument(
            f"--{form}", type=Path, metavar="FILE", help=f"write the captions as {form} too"
        )
    add_options(parser)
    parser.set_defaults(source="-", live=False)  # of surtitle translate


def listen_settings(arguments: argparse.Namespace) -> ListenSettings:  # noqa: TID251  an entry point's
    if arguments.device not in DEVICES:
        msg = (
            f"--device is where to compute ({', '.join(DEVICES)}), got {arguments.device!r}: "
            "to name a microphone or output: --sound-device"
        )
        raise UsageError(msg)
    arguments.asr = arguments.asr or standard_speech_model()
    hears = arguments.system == SOUND
    named = ("server", "adapter", "glossary", "context")
    wrong = ", ".join(f"--{name}" for name in named if getattr(arguments, name))
    if hears and wrong:
        msg = f"--direct is for a model that reads no words: leave out {wrong}"
        raise UsageError(msg)
    if hears:
        arguments.adapter = NO_ADAPTER
    files: dict[str, Path | None] = {form: getattr(arguments, form) for form in WRITTEN}
    sources = _chosen(arguments.sources, arguments.sound_devices)
    is_recording = not arguments.real_time and all(it.is_file for it in sources)
    if is_recording and not hears and not arguments.policy:
        arguments.policy = POLICY_OF_RECORDINGS
    translation = chosen_settings(arguments)
    return ListenSettings(
        translation=translation,
        sources=sources,
        recognizer=suited_speech_model(arguments.asr, translation.translation.source_language),
        library=arguments.model_library,
        real_time=arguments.real_time,
        track=arguments.track,
        is_recording=is_recording,
        subtitles={form: path for form, path in files.items() if path is not None},
    )


def _chosen(sources: list[str], devices: list[str]) -> tuple[ChosenSource, ...]:
    if len(sources) > _MOST_SOURCES or len(set(sources)) != len(sources):
        msg = f"expected one --source or two different ones, got {', '.join(sources)}"
        raise UsageError(msg)
    if len(devices) > len(sources):
        msg = f"expected a --sound-device for each --source at most, got {len(devices)} of them"
        raise UsageError(msg)
    named = [*devices, *([None] * (len(sources) - len(devices)))]
    together = len(sources) > 1
    chosen = tuple(
        ChosenSource(source=source, device=device, lane=_lane(source) if together else "")
        for source, device in zip(sources, named, strict=True)
    )
    for it in chosen:
        if it.is_file and not Path(it.source).is_file():
            msg = f"{it.source}: no such file (use mic, system or an audio file)"
            raise UsageError(msg)
        if it.is_file and it.device is not None:
            msg = f"{it.source} is a file: leave --sound-device out, or name another --source"
            raise UsageError(msg)
    return chosen


def _lane(source: str) -> str:
    return LANES[_KINDS[source]] if source in _KINDS else Path(source).stem


def make_source(
    chosen: ChosenSource, report: Callable[[AudioNotice], None], settings: ListenSettings
) -> "AudioSource":
    """Return a source that is not started."""
    from engine.audio.sources import AudioSources, find_device  # noqa: PLC0415  numpy slows the help down

    sources = AudioSources()
    if chosen.is_file:
        return sources.file(
            Path(chosen.source),
            report,
            real_time=settings.real_time,
            track=settings.track,
            language=settings.translation.translation.source_language,
        )
    kind = _KINDS[chosen.source]
    name = None
    if chosen.device is not None:
        name = find_device(sources.devices(), kind, chosen.device).name
    return sources.live(WantedDevice(kind=kind, name=name), report, patience_s=_PATIENCE_S)
