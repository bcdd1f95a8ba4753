"""Convert a translation model for this computer: ``surtitle convert DIR``.

The commands that translate do so too when they first load such a model. The original of a
downloaded one is then deleted. Exit codes as in ``exit_code_of``.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from app.captions.model_names import fetched_model
from app.cli.exit_codes import exit_code_of, standard_output
from app.config.system.early_interrupt import leaving_at_once
from app.config.system.progress_line import progress_line
from app.config.system.text_io import printable, send
from engine.errors import ModelError
from engine.files import bytes_text
from engine.messages import Code
from engine.models.encoder_decoder.original import is_encoder_decoder
from engine.models.encoder_decoder.record import converted_folder
from engine.settings import DEVICES, ModelSettings
from engine.untrusted.safe_names import is_download

if TYPE_CHECKING:
    from engine.runtime.ctranslate2.encoder_decoder_loader import EncoderDecoderWeights

_NAME = "convert"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``convert`` to the commands of ``surtitle``."""
    parser = subparsers.add_parser(
        _NAME,
        help="convert a translation model for this computer",
        description="Convert a Marian, M2M-100, NLLB or MADLAD model, once. Commands that "
        "translate do so, too, when they first load one.",
    )
    parser.add_argument(
        "folder", type=Path, metavar="DIR|NAME", help="model folder, or owner/name on the hub"
    )
    parser.add_argument(
        "--device",
        choices=DEVICES,
        default=argparse.SUPPRESS,  # the window accepts it, too, before the command
        help="where it will be computed: float16 for cuda, else int8",
    )
    parser.add_argument(
        "--accept-licence",
        action="store_true",
        help="accept, once, that the model's licence forbids commercial use",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    """Run the command and return its exit code."""

    def work() -> None:
        folder = fetched_model(arguments.folder, arguments.model_library)
        settings = ModelSettings(
            directory=folder,
            device=arguments.device,
            accepts_licence=arguments.accept_licence,
            is_download=is_download(folder, arguments.model_library),
        )
        convert(settings)

    return exit_code_of(_NAME, work)


def convert(settings: ModelSettings) -> None:
    """Convert and load a model; write its size to standard output.

    Raises:
        ModelError: it cannot be converted or loaded.
    """
    folder = settings.directory
    if not is_encoder_decoder(folder):
        raise ModelError(Code.NO_ENCODER_DECODER(folder=str(folder)))
    out = standard_output()
    weights = _loaded(settings)
    size = bytes_text(weights.report.needed_bytes)
    send(out, f"{printable(weights.card.name)}: {size}\n")


def convert_first(settings: ModelSettings) -> None:
    """Convert a model that must be and is not yet; Ctrl+C then leaves nothing half-written."""
    folder = settings.directory
    if converted_folder(folder, "") is None and is_encoder_decoder(folder):
        _loaded(settings)


def _loaded(settings: ModelSettings) -> "EncoderDecoderWeights":
    with leaving_at_once():
        from engine.runtime.ctranslate2.encoder_decoder_loader import load_encoder_decoder  # noqa: PLC0415  slow to import
    with progress_line() as show:
        return load_encoder_decoder(
            settings, lambda name, part: show(str(Code.CONVERTING(name=name, done=part)))
        )
