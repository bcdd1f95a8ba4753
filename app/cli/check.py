"""What this computer can do: ``surtitle check``, which the window asks, too, by ``--json``.

Without more it tells processor, memory and graphics card, which model and which recognisers are
here, and which of the models that are known by name would fit. With ``--speed`` it measures for
some seconds and tells how far captions will lag behind a person who
speaks. Exit codes as for ``surtitle translate``.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from app.cli.exit_codes import exit_code_of
from app.cli.translate import TerminalSettings, add_options, chosen_settings
from app.system.early_interrupt import leaving_at_once
from app.system.text_io import printable
from engine.errors import SurtitleError
from engine.files import bytes_text
from engine.hub.bundled import bundled_models
from engine.hub.catalogue import KNOWN_MODELS, STANDARD_WHISPER, WHISPER_MODELS
from engine.models.model_card import read_card
from engine.settings import ModelSettings

_NAME = "check"
_LIVE, _SOURCE = False, "-"  # of surtitle translate

Report = Callable[[str, Mapping[str, object]], None]
"""Is told what kind of thing was found, and its values."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``check`` to the commands of ``surtitle``."""
    parser = subparsers.add_parser(
        _NAME,
        help="see what this computer can do",
        description="See what this computer has and which models fit; with --speed, measure how "
        "far captions will lag behind.",
    )
    parser.add_argument(
        "--speed", action="store_true", help="measure with the model, for 20 seconds at most"
    )
    parser.add_argument("--json", action="store_true", help="write JSON lines, for programs")
    add_options(parser)
    parser.set_defaults(run=run, source=_SOURCE, live=_LIVE)


def run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    """Obey the command line.

    Returns:
        the exit code.
    """
    report = write_json if arguments.json else _write_words

    def work() -> None:
        try:
            if arguments.speed:
                settings = chosen_settings(arguments)
                with leaving_at_once():
                    check_speed(settings, report)
            else:
                with leaving_at_once():
                    check_machine(arguments.device, arguments.model_library, report)
        except SurtitleError as error:
            if not arguments.json:
                raise
            report("failed", {"message": str(error)})

    return exit_code_of(_NAME, work)


def check_machine(device: str, library: Path, report: Report) -> None:
    """Tell what the computer has, what is here, and of each known model how it would be loaded.

    Args:
        device: where models would be loaded to.
        library: of models that were fetched.
        report: is told.

    Raises:
        ModelError: the device that is asked for is not there.
    """
    from engine.loading.hardware import look_around  # noqa: PLC0415
    from engine.loading.load_plan import load_plans  # noqa: PLC0415  torch takes seconds to import

    report("machine", asdict(look_around()))
    for folder in bundled_models():
        card = read_card(folder)
        names = [language.name for language in card.languages.values()]
        report("bundled", {"model": card.name, "languages": names})
    report("recognisers", {"found": _recognisers(library)})
    for model in KNOWN_MODELS:
        settings = ModelSettings(directory=Path(model.name), device=device)
        plans = load_plans(settings, model.footprint)
        best = next((plan for plan in plans if plan.fits), None)
        told = min(plans, key=lambda plan: plan.needed_bytes) if best is None else best
        report(
            "fit",
            {
                "model": model.name,
                "fits": best is not None,
                "words": str(told.kept if best else told.shortage),
                "needed_bytes": told.needed_bytes,
                "device": told.device.type,
            },
        )


def _recognisers(library: Path) -> list[str]:
    """Name the recognisers of speech that are on this computer."""
    from engine.speech.whisper_models import found_whisper  # noqa: PLC0415  the hub's library is slow

    return [name for name in WHISPER_MODELS if found_whisper(name, library) is not None]


def check_speed(settings: TerminalSettings, report: Report) -> None:
    """Load a model, measure it, and tell how far captions will lag.

    Raises:
        SurtitleError: the model cannot be loaded.
    """
    from engine.loading.loader import load_weights  # noqa: PLC0415
    from engine.metrics.event_log import EventLog  # noqa: PLC0415  as above
    from engine.session.lag_forecast import forecast, measure_steps  # noqa: PLC0415
    from engine.translation.factory import make_system  # noqa: PLC0415

    report("stage", {"stage": "loading"})
    weights = load_weights(settings.model)
    name, capacity = settings.model.system, settings.model.capacity
    system = make_system(name, weights, settings.translation, capacity=capacity, log=EventLog())
    report("stage", {"stage": "measuring"})
    found = forecast(measure_steps(system))
    report("forecast", {**asdict(found), "model": weights.card.name})


def write_json(kind: str, values: Mapping[str, object]) -> None:
    """Write one line for a program."""
    sys.stdout.write(json.dumps({"kind": kind, **values}) + "\n")
    sys.stdout.flush()


def _write_words(kind: str, values: Mapping[str, object]) -> None:
    """Write for a person."""
    match kind:
        case "machine":
            text = _machine_words(values)
        case "bundled":
            text = _translator_words(values)
        case "recognisers":
            text = _recogniser_words(values)
        case "fit":
            fits = "fits" if values["fits"] else "does not fit:"
            text = f"{values['model']} {fits} {values['words']}"
        case "forecast":
            text = (
                f"{values['model']}: captions {values['median_s']:.1f} s behind who speaks, "
                f"{values['p95_s']:.1f} s for the slowest words; {values['load']:.2f} s of "
                "computing for each second of speech"
            )
        case _:
            return
    sys.stdout.write("\n".join(map(printable, text.split("\n"))) + "\n")


def _machine_words(values: Mapping[str, object]) -> str:
    gpu = (
        f"{values['gpu']}, {_bytes(values['gpu_free_bytes'])} of {_bytes(values['gpu_bytes'])} free"
    )
    card = gpu if values["gpu"] else values["trouble"] or "none that torch can use"
    free = f"{_bytes(values['free_bytes'])} of {_bytes(values['memory_bytes'])} free"
    cores = f"{values['cores']} core{'' if values['cores'] == 1 else 's'}"
    return f"Processor: {values['processor']}, {cores}\nMemory: {free}\nGraphics card: {card}"


def _translator_words(values: Mapping[str, object]) -> str:
    languages = values["languages"]
    names = ", ".join(map(str, languages)) if isinstance(languages, list) else ""
    return f"Translator: {values['model']}, English to {names}, comes with Surtitle"


def _recogniser_words(values: Mapping[str, object]) -> str:
    found = values["found"]
    if isinstance(found, list) and found:
        return f"Recogniser of speech: {', '.join(found)}"
    return f"Recogniser of speech: none yet; surtitle listen fetches {STANDARD_WHISPER}"


def _bytes(n_bytes: object) -> str:
    return bytes_text(n_bytes) if isinstance(n_bytes, int) else "?"
