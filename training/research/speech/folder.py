"""Read and write model folders whose translator reads sound: encoder, head, what a card says."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from engine.models.adaptive_card import HEAD_FILE
from engine.models.model_card import ModelCard, read_card
from engine.models.speech_card import ENCODER_FILE, SpeechCard, translator_sha256
from engine.runtime.sound.block_stream import BlockStream, block_samples
from engine.runtime.sound.encoder import SpeechEncoder
from engine.runtime.sound.sound_loader import load_speech_encoder
from engine.settings import ModelSettings
from engine.untrusted.regular_file import file_sha256
from training.research.heads.policy_head import save_head
from training.research.speech.wav2vec.encoder import Wav2VecEncoder, Wav2VecStream
from training.research.speech.wav2vec.folder import INNER, load_wav2vec, save_wav2vec

Hearing = SpeechEncoder | Wav2VecEncoder
"""An encoder of a stage: ours, or one of the hub; only ours runs in ``surtitle listen``."""

_LEFT_OUT = frozenset({ENCODER_FILE, HEAD_FILE})  # of the stage before


def load_encoder(folder: Path, card: ModelCard, translator_width: int) -> Hearing:
    """Load the encoder of a model folder, of either kind.

    Raises:
        ModelError: as for ``load_speech_encoder`` and ``load_wav2vec``.
    """
    if not (folder / INNER).is_dir():
        return load_speech_encoder(folder, card, translator_width)
    encoder = load_wav2vec(folder / INNER, translator_width, 0)
    return encoder.requires_grad_(requires_grad=False).eval()


def open_stream(encoder: Hearing) -> BlockStream | Wav2VecStream:
    """Begin to hear one speech."""
    if isinstance(encoder, SpeechEncoder):
        return BlockStream(encoder)
    return Wav2VecStream(encoder)


def samples_of_block(encoder: Hearing) -> int:
    """Return the samples of a block."""
    if isinstance(encoder, SpeechEncoder):
        return block_samples(encoder.card)
    return encoder.card.block_samples


def write_model(start: Path, folder: Path, encoder: Hearing, head: Tensor | None) -> None:
    """Copy a translator into an empty folder, and put an encoder and a head beside it.

    Weights are linked where the disk allows it, since an encoder is small and a translator is not.

    Args:
        start: folder of the translator.
        folder: empty.
        encoder: of this translator.
        head: rows of READ and WRITE, shape (2, width); None for none.

    Raises:
        OSError: a file cannot be read or written.
        ModelError: the card cannot be read.
    """
    for path in start.iterdir():
        if path.is_file() and path.name not in _LEFT_OUT:
            link = path.suffix == ".safetensors"
            (_link if link else shutil.copyfile)(path, folder / path.name)
    if isinstance(encoder, SpeechEncoder):
        speech = _save_ours(encoder, folder)
    else:
        save_wav2vec(encoder, folder / INNER)
        speech = None
    replace(read_card(folder), speech=speech, adaptive=None).save(folder)
    if head is not None:
        ahead = (head[1] - head[0]).detach().float().cpu()
        save_head(ModelSettings(directory=folder), ahead)


def shape_of(card: SpeechCard) -> SpeechCard:
    """Return a card without what it says of files."""
    return replace(card, encoder_sha256="", translator_sha256="")


def _save_ours(encoder: SpeechEncoder, folder: Path) -> SpeechCard:
    """Write the file of an encoder; return what the card says of it."""
    tensors = {
        name: it.detach().float().cpu().contiguous() for name, it in encoder.state_dict().items()
    }
    save_file(tensors, folder / ENCODER_FILE)
    return replace(
        encoder.card,
        encoder_sha256=file_sha256(folder / ENCODER_FILE),
        translator_sha256=translator_sha256(folder),
    )


def _link(path: Path, copy: Path) -> None:
    try:
        os.link(path, copy)
    except OSError:
        shutil.copyfile(path, copy)
