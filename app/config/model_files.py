"""The folder of a chosen model, and the languages that its card names before it is loaded."""

from pathlib import Path

from app.config.launch_settings import LaunchSettings
from app.library.model_names import hub_name
from engine.encoder_decoder.original import is_encoder_decoder, model_record
from engine.errors import ModelError
from engine.hub.bundled import bundled_models
from engine.models.model_card import ModelCard, read_card
from engine.settings import ModelSettings
from engine.untrusted.safe_names import folder_of


def model_settings(
    model: Path | None, launch: LaunchSettings, *, accepts_licence: bool, is_second: bool = False
) -> ModelSettings | None:
    """Return how to load a model as the preferences store it; None if none is bundled."""
    if model is None:
        bundled = bundled_models()
        if not bundled:
            return None
        model = bundled[0]
    name = hub_name(model)
    return ModelSettings(
        directory=launch.data_folder / "models" if name else model,
        hub_name=name,
        device=launch.device,
        accepts_licence=accepts_licence,
        is_second=is_second,
    )


def model_folder(model: ModelSettings) -> Path:
    """Return the folder that a model has, or will have once it is fetched."""
    return model.directory / folder_of(model.hub_name) if model.hub_name else model.directory


def card_of(model: ModelSettings) -> ModelCard | None:
    """Return the card of a model; None if it cannot be read, which the session reports."""
    folder = model_folder(model)
    try:
        return model_record(folder).card if is_encoder_decoder(folder) else read_card(folder)
    except ModelError:
        return None


def bundled_languages() -> tuple[str, ...]:
    """Return the target languages of the bundled model; none without one."""
    try:
        return tuple(
            code for folder in bundled_models()[:1] for code in read_card(folder).languages
        )
    except ModelError:  # which the session tells, in the same words
        return ()
