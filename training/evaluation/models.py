"""The model of a command, its folder and its card: named, or the bundled one of a language."""

from pathlib import Path

from engine.errors import ModelError, SurtitleError
from engine.hub.catalogue import bundled_models
from engine.models.adapters.adapter import (
    AdapterCard,
    model_card,
    read_adapter_card,
    usable_adapter,
)
from engine.models.encoder_decoder.original import is_encoder_decoder
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import ModelCard
from engine.models.resolve import AUTO
from engine.settings import ModelSettings
from training.errors import TrainingError, UsageError


def find_model(
    directory: Path | None, language: str, adapter: Path | None = None, source: str = "en"
) -> tuple[Path, ModelCard]:
    """Read the card of a model folder, or find the bundled model of a language.

    With an adapter, the card is the adapter's: languages, slots and layout are as it was trained.
    """
    if directory is None:
        known = ((path, card_in_use(path, adapter)) for path in bundled_models())
        for path, card in known:
            if language in card.languages:
                return path, card
        msg = f"no bundled model translates to {language!r}: name a model folder with --model"
        raise UsageError(msg)
    card = card_in_use(directory, adapter)
    try:
        card.check_pair(source, language)
    except ModelError as error:
        raise UsageError(str(error)) from error
    return directory, card


def measured_model(
    directory: Path,
    adapter: Path | None,
    device: str,
    system: str = AUTO,
    quantise: str | None = None,
) -> ModelSettings:
    """Make settings for a model that is measured: on a CPU its weights stay whole by default.

    Quantised weights would be faster there, but outputs of two machines could not be compared.
    """
    return ModelSettings(
        directory=directory,
        adapter=adapter,
        device=device,
        quantise=quantise or ("none" if device == "cpu" else "auto"),
        system=system,
    )


def convert_once(model: ModelSettings) -> None:
    """Convert a model with an encoder and a decoder before processes share it; else do nothing."""
    if not is_encoder_decoder(model.directory):
        return
    # imported here: with it come libraries that computing alone needs, and help is there at once
    from engine.runtime.ctranslate2.encoder_decoder_loader import load_encoder_decoder  # noqa: PLC0415

    try:
        load_encoder_decoder(model)
    except SurtitleError as error:
        raise TrainingError(str(error)) from error


def card_in_use(directory: Path, adapter: Path | None) -> ModelCard:
    """Return the card of an adapter, else of the model; raise TrainingError if one is unfit."""
    try:
        usable = None if adapter is None else usable_adapter(adapter, read_fingerprint(directory))
        return model_card(directory, usable)
    except ModelError as error:
        raise TrainingError(str(error)) from error


def read_named_card(adapter: Path) -> AdapterCard:
    """Read the card of an adapter that a command names; raise UsageError if it cannot be read."""
    try:
        return read_adapter_card(adapter)
    except (OSError, ValueError) as error:
        msg = f"{adapter} has no card that can be read ({error}): name an adapter folder"
        raise UsageError(msg) from error
