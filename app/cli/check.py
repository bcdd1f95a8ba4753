"""Check this computer: ``surtitle check``; the setup wizard runs it with ``--json``.

By default it reports processor, memory and graphics card, the models that are here, and which of
the known models would fit. With ``--to`` it lists the translators into that language, the best for
this computer first. Exit codes as for ``surtitle translate``.
"""

import argparse
import contextlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from app.captions.models import MachineReport, known_offers
from app.cli.exit_codes import UsageError, exit_code_of
from app.cli.translate import CODES
from app.config.process import leaving_at_once
from app.config.text_io import printable
from engine.errors import SurtitleError, message_of
from engine.files import bytes_text
from engine.hub.catalogue import KNOWN_MODELS, SPEECH_MODELS, STANDARD_WHISPER, bundled_models
from engine.messages import Code
from engine.models.model_card import LANGUAGE_NAMES, read_card
from engine.settings import DEVICES, ModelSettings

_NAME = "check"

Report = Callable[[str, Mapping[str, object]], None]
"""Called with the kind of a result and its values."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        _NAME,
        help="check what this computer can do",
        description="Show the hardware of this computer and which models fit.",
    )
    parser.add_argument("--json", action="store_true", help="write JSON lines, for programs")
    usual = argparse.SUPPRESS  # the same options before the command count here, too
    parser.add_argument("--to", default=usual, metavar="CODE", help=f"target language: {CODES}")
    parser.add_argument(
        "--from", dest="spoken", default="en", metavar="CODE", help="its source (%(default)s)"
    )
    parser.add_argument(
        "--device", default=usual, metavar="NAME", help=f"where to compute: {', '.join(DEVICES)}"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    report = write_json if arguments.json else _write_text

    def work() -> None:
        with reported_failures(as_json=arguments.json), leaving_at_once():
            languages = (arguments.spoken, arguments.to)
            check_machine(arguments.device, arguments.model_library, report, languages)

    return exit_code_of(_NAME, work)


@contextlib.contextmanager
def reported_failures(*, as_json: bool) -> Iterator[None]:
    """Write a failure as a JSON line, for programs; else let it pass."""
    try:
        yield
    except (SurtitleError, UsageError) as error:
        if not as_json:
            raise
        write_json("failed", {"message": str(error), **message_of(error).to_json()})


def check_machine(
    device: str, library: Path, report: Report, languages: tuple[str, str | None] = ("en", None)
) -> None:
    """Report the hardware, the models that are here, and how each known model would be loaded.

    Args:
        device: where models would be loaded to.
        library: folder of downloaded models.
        languages: between which translators are wanted; the second is None for all.
    """
    from engine.runtime.processor import look_around  # noqa: PLC0415

    machine = look_around()
    report("machine", asdict(machine))
    for folder in bundled_models():
        card = read_card(folder)
        report("bundled", {"model": card.name, "languages": [*card.languages]})
    report("recognisers", {"found": _recognisers(library)})
    from engine.speech.speed import computer_gflops  # noqa: PLC0415  numpy is slow to import

    gflops = computer_gflops()
    report("computing", {"gflops": gflops})
    _report_translators(MachineReport(machine=machine, gflops=gflops), languages, report)
    if importlib.util.find_spec("torch") is None:
        _report_unfit(report)
        return
    from engine.runtime.load_plan import load_plans  # noqa: PLC0415  torch takes seconds to import

    for model in KNOWN_MODELS:
        if model.footprint is None:
            continue
        settings = ModelSettings(directory=Path(model.name), device=device)
        plans = load_plans(settings, model.footprint)
        best = next((plan for plan in plans if plan.fits), None)
        plan = best or min(plans, key=lambda plan: plan.needed_bytes)
        report(
            "fit",
            {
                "model": model.name,
                "fits": best is not None,
                "words": str(plan.kept if best else plan.shortage),
                "needed_bytes": plan.needed_bytes,
                "device": plan.device.type,
            },
        )


def _report_translators(
    machine: MachineReport, languages: tuple[str, str | None], report: Report
) -> None:
    source, target = languages
    offers = [offer for offer in known_offers() if offer.is_dedicated]
    if target is None:
        offers = [it for it in offers if it.known is not None and source in it.known.sources]
    else:
        offers = machine.ranked(offers, source, target)
    for offer in offers:
        targets = [] if offer.known is None else [*offer.known.targets]
        report(
            "translator",
            {
                "model": offer.name,
                "source": source,
                "targets": [code for code in targets if code != source],
                "download_bytes": offer.n_bytes,
                "keeps_up": machine.keeps_up(offer),
            },
        )


def _report_unfit(report: Report) -> None:
    """Report that the known models, which carry no graph, need torch."""
    for model in KNOWN_MODELS:
        values = {"model": model.name, "fits": False, "words": str(Code.TORCH_MISSING())}
        report("fit", values | {"needed_bytes": model.download_bytes, "device": "cpu"})


def _recognisers(library: Path) -> list[str]:
    from engine.speech.speech_models import found_speech_model  # noqa: PLC0415  the hub's library is slow

    return [name for name in SPEECH_MODELS if found_speech_model(name, library) is not None]


def write_json(kind: str, values: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps({"kind": kind, **values}) + "\n")
    sys.stdout.flush()


def _write_text(kind: str, values: Mapping[str, object]) -> None:
    match kind:
        case "machine":
            text = _machine_text(values)
        case "bundled":
            text = _translator_text(values)
        case "translator":
            text = _offer_text(values)
        case "recognisers":
            text = _recogniser_text(values)
        case "fit":
            fits = "fits" if values["fits"] else "does not fit:"
            speed = ", speed not known" if values["fits"] else ""
            text = f"Chat model: {values['model']} {fits} {values['words']}{speed}"
        case _:
            return
    sys.stdout.write("\n".join(map(printable, text.split("\n"))) + "\n")


def _machine_text(values: Mapping[str, object]) -> str:
    gpu = (
        f"{values['gpu']}, {_bytes(values['gpu_free_bytes'])} of {_bytes(values['gpu_bytes'])} free"
    )
    card = gpu if values["gpu"] else "none that torch can use"
    if values["trouble"]:
        card = f"there is a graphics card that cannot be used: {values['trouble']}"
    free = f"{_bytes(values['free_bytes'])} of {_bytes(values['memory_bytes'])} free"
    cores = f"{values['cores']} core{'' if values['cores'] == 1 else 's'}"
    return f"Processor: {values['processor']}, {cores}\nMemory: {free}\nGraphics card: {card}"


def _translator_text(values: Mapping[str, object]) -> str:
    languages = values["languages"]
    names = ", ".join(map(_named, languages)) if isinstance(languages, list) else ""
    return f"Translator: {values['model']}, English (en) to {names}, comes with Surtitle"


def _offer_text(values: Mapping[str, object]) -> str:
    targets = values["targets"] if isinstance(values["targets"], list) else []
    target = _named(targets[0]) if len(targets) == 1 else f"{len(targets)} languages"
    words = [
        f"Translator: {values['model']}",
        f"{_named(values['source'])} to {target}",
        f"{_bytes(values['download_bytes'])} to download",
    ]
    if values["keeps_up"] is not None:
        words.append("keeps up here" if values["keeps_up"] else "too slow here")
    return ", ".join(words)


def _named(code: object) -> str:
    """Return a language as a person writes it, with the code that ``--to`` takes."""
    name = LANGUAGE_NAMES.get(str(code))
    return f"{name} ({code})" if name else str(code)


def _recogniser_text(values: Mapping[str, object]) -> str:
    names = values["found"]
    if isinstance(names, list) and names:
        return f"Speech recogniser: {', '.join(names)}"
    return f"Speech recogniser: none yet; surtitle listen downloads {STANDARD_WHISPER}"


def _bytes(n_bytes: object) -> str:
    return bytes_text(n_bytes) if isinstance(n_bytes, int) else "?"
