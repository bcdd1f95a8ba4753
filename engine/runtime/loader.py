"""Load a model folder, and an adapter: a plain one by ONNX Runtime, every other by torch.

torch and transformers are imported only where they compute. Nothing is fetched, and no code of a
folder is run.
"""

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.errors import AdapterError, ModelError
from engine.messages import Code
from engine.models.adapters.adapter import model_card, usable_adapter, verify_adapter
from engine.models.encoder_decoder.original import is_encoder_decoder
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import ModelCard
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


def load_weights(settings: ModelSettings) -> AnyWeights:
    """Load a model folder, and the adapter of the settings if there is one.

    Raises:
        ModelError: folder, adapter or device cannot be used, or there is too little memory.
    """
    card, factors = _described(settings)
    if not factors:
        return load_base(settings, card)
    return _loaded(settings, card, factors)


def load_by_torch(settings: ModelSettings) -> "TorchWeights":
    """Load as ``load_weights``, by torch even where ONNX Runtime would compute.

    Raises:
        ModelError: as for ``load_weights``; a model with an encoder and a decoder among them.
    """
    card, factors = _described(settings)
    if card.family:
        raise ModelError(Code.BATCH_UNFIT(model=card.name))
    return _by_torch(settings, card, factors)


def load_hearing(settings: ModelSettings) -> Weights:
    """Load a translator that reads sound, which a model with an encoder and a decoder cannot.

    Raises:
        ModelError: as for ``load_weights``.
    """
    weights = load_weights(settings)
    if isinstance(weights, EncoderDecoderWeights):
        raise ModelError(Code.NO_SPEECH_ENCODER(folder=str(settings.directory)))
    return weights


def load_base(settings: ModelSettings, card: ModelCard) -> AnyWeights:
    """Load a model folder with this card, without the adapter of the settings.

    Raises:
        ModelError: as for ``load_weights``.
    """
    if card.family:
        return load_encoder_decoder(settings)
    return _loaded(settings, card, {})


def _described(settings: ModelSettings) -> tuple[ModelCard, Mapping[str, Factors]]:
    """Return the card in use and the factors of the adapter, checked before a library sees them."""
    if settings.adapter is None:
        return model_card(settings.directory, None), {}
    if is_encoder_decoder(settings.directory):
        raise AdapterError(Code.NO_ADAPTERS(model=model_name(settings.directory)))
    adapter = usable_adapter(settings.adapter, read_fingerprint(settings.directory))
    verify_adapter(adapter)
    return model_card(settings.directory, adapter), read_factors(adapter)


def _loaded(settings: ModelSettings, card: ModelCard, factors: Mapping[str, Factors]) -> Weights:
    try:
        return load_onnx(settings, card, factors)
    except NotPlainError as error:
        unfit = error
    if not all(map(importlib.util.find_spec, ("torch", "transformers"))):
        folder = str(settings.directory)
        raise ModelError(Code.NEEDS_TORCH(folder=folder, detail=detail_of(unfit))) from unfit
    weights = _by_torch(settings, card, factors)
    if not unfit.is_fault:
        return weights
    return weights.with_note(Code.BY_TORCH(detail=detail_of(unfit)))


def _by_torch(
    settings: ModelSettings, card: ModelCard, factors: Mapping[str, Factors]
) -> "TorchWeights":
    from engine.runtime.torch.torch_loader import load_torch  # noqa: PLC0415  torch takes seconds to import

    verify_weights(settings.directory)
    return load_torch(settings, card, factors)
