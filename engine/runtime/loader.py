"""Load a model folder, and an adapter: a plain one by ONNX Runtime, every other by torch.

torch and transformers are imported only where they compute. Nothing is fetched, and no code of a
folder is run.
"""

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import AdapterError, ModelError
from engine.messages import Code
from engine.models.adapters.adapter import Adapter, model_card, usable_adapter, verify_adapter
from engine.models.encoder_decoder.original import is_encoder_decoder
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import ModelCard
from engine.runtime.ctranslate2.conversion import Progress
from engine.runtime.ctranslate2.encoder_decoder_loader import (
    EncoderDecoderWeights,
    load_encoder_decoder,
)
from engine.runtime.onnx.onnx_loader import NotPlainError, load_onnx, verify_weights
from engine.runtime.weights import Factors, Weights, read_factors
from engine.settings import ModelSettings
from engine.untrusted.faults import detail_of
from engine.untrusted.plain_files import model_name

if TYPE_CHECKING:
    from engine.runtime.torch.torch_loader import TorchWeights

AnyWeights = Weights | EncoderDecoderWeights
"""A loaded model: one that takes adapters, or one with an encoder and a decoder."""


def load_weights(
    settings: ModelSettings,
    progress: Progress = lambda _name, _part: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> AnyWeights:
    """Load a model folder, and the adapter of the settings if there is one.

    ``progress`` and ``cancelled`` are those of a conversion, which some models need once.

    Raises:
        ModelError: folder, adapter or device cannot be used, or there is too little memory.
        FetchCancelledError: ``cancelled`` returned True.
    """
    card, factors = _described(settings)
    if card.family:
        return load_encoder_decoder(settings, progress, cancelled)
    try:
        return load_onnx(settings, card, factors)
    except NotPlainError as error:
        unfit = error
    if not all(map(importlib.util.find_spec, ("torch", "transformers"))):
        folder = str(settings.directory)
        raise ModelError(Code.NEEDS_TORCH(folder=folder, detail=detail_of(unfit))) from unfit
    weights = _by_torch(settings, card, factors)
    return weights.with_note(Code.BY_TORCH(detail=detail_of(unfit))) if unfit.is_fault else weights


def load_by_torch(settings: ModelSettings) -> "TorchWeights":
    """Load as ``load_weights``, by torch even where ONNX Runtime would compute.

    Raises:
        ModelError: as for ``load_weights``; a model with an encoder and a decoder among them.
    """
    card, factors = _described(settings)
    if card.family:
        raise ModelError(Code.BATCH_UNFIT(model=card.name))
    return _by_torch(settings, card, factors)


def usable(adapter: Path, model: Path) -> Adapter:
    """Return the adapter in a folder; raise ModelError or AdapterError if it is not for a model."""
    if is_encoder_decoder(model):
        raise AdapterError(Code.NO_ADAPTERS(model=model_name(model)))
    return usable_adapter(adapter, read_fingerprint(model))


def _described(settings: ModelSettings) -> tuple[ModelCard, Mapping[str, Factors]]:
    """Return the card in use and the factors of the adapter, checked before a library sees them."""
    if settings.adapter is None:
        return model_card(settings.directory, None), {}
    adapter = usable(settings.adapter, settings.directory)
    verify_adapter(adapter)
    return model_card(settings.directory, adapter), read_factors(adapter)


def _by_torch(
    settings: ModelSettings, card: ModelCard, factors: Mapping[str, Factors]
) -> "TorchWeights":
    from engine.runtime.torch.torch_loader import load_torch  # noqa: PLC0415  torch takes seconds to import

    verify_weights(settings.directory)
    return load_torch(settings, card, factors)
