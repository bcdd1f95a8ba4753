"""Load the speech encoder of a model folder, checked before torch sees it."""

from pathlib import Path

import numpy as np
import torch

from engine.errors import ModelError
from engine.messages import Code
from engine.models.model_card import ModelCard
from engine.models.speech_card import (
    ENCODER_FILE,
    SpeechCard,
    check_speech_header,
    most_bytes,
    translator_sha256,
)
from engine.models.tensor_file import Arrays, check_size, parse_tensors, read_tensor_file
from engine.runtime.sound.encoder import SpeechEncoder
from engine.untrusted.faults import Fault, fault_of, refuse
from engine.untrusted.regular_file import file_sha256
from engine.untrusted.safetensors_header import MAX_HEADER_BYTES, read_header


def load_speech_encoder(folder: Path, card: ModelCard, translator_width: int) -> SpeechEncoder:
    """Load the encoder that a card names.

    Args:
        folder: of the model.
        card: of the folder.
        translator_width: numbers in a row of the translator.

    Returns:
        on the processor, in evaluation mode.

    Raises:
        ModelError: the folder has none, or one that is damaged, oversized, or of another model.
    """
    if card.speech is None:
        raise ModelError(Code.NO_SPEECH_ENCODER(folder=str(folder)))
    try:
        arrays = _arrays(folder, card.speech, translator_width)
    except MemoryError as error:
        raise ModelError(Code.OUT_OF_MEMORY(reason=ENCODER_FILE)) from error
    except (OSError, ValueError) as error:
        reason = fault_of(error, ENCODER_FILE)
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
    with torch.device("meta"):
        encoder = SpeechEncoder(card.speech, translator_width)
    tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    encoder.load_state_dict(tensors, assign=True)
    return encoder.requires_grad_(requires_grad=False).eval()


def _arrays(folder: Path, card: SpeechCard, translator_width: int) -> Arrays:
    """Read the tensors of the encoder, after all that can be told without them."""
    file, limit = folder / ENCODER_FILE, MAX_HEADER_BYTES + most_bytes(card, translator_width)
    check_size(file, limit)
    check_speech_header(read_header(file), card, translator_width)
    if file_sha256(file) != card.encoder_sha256:
        refuse("was changed or damaged after its card was written")
    if translator_sha256(folder) != card.translator_sha256:
        detail = "belongs to other weights than those beside it"
        refuse(Fault.DAMAGED(detail=detail))
    arrays = parse_tensors(read_tensor_file(file, limit))
    if not all(np.isfinite(array).all() for array in arrays.values()):
        refuse("holds numbers that are none (NaN) or infinite")
    return arrays
