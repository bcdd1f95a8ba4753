"""Write a model folder whose translator reads sound: encoder, head, and what its card says."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from engine.models.adaptive_card import HEAD_FILE
from engine.models.model_card import GRAPH_FILE, read_card
from engine.models.speech_card import ENCODER_FILE, SpeechCard, translator_sha256
from engine.runtime.sound.encoder import SpeechEncoder
from engine.settings import ModelSettings
from engine.untrusted.regular_file import file_sha256
from training.research.heads.policy_head import save_head

_LEFT_OUT = frozenset({ENCODER_FILE, HEAD_FILE, GRAPH_FILE})
"""Written anew, or of no use to sound: a graph computes no rows that carry vectors."""


def write_model(start: Path, folder: Path, encoder: SpeechEncoder, head: Tensor | None) -> None:
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
    tensors = {
        name: it.detach().float().cpu().contiguous() for name, it in encoder.state_dict().items()
    }
    save_file(tensors, folder / ENCODER_FILE)
    speech = replace(
        encoder.card,
        encoder_sha256=file_sha256(folder / ENCODER_FILE),
        translator_sha256=translator_sha256(folder),
    )
    replace(read_card(folder), speech=speech, adaptive=None, graph=None).save(folder)
    if head is not None:
        ahead = (head[1] - head[0]).detach().float().cpu()
        save_head(ModelSettings(directory=folder), ahead)


def shape_of(card: SpeechCard) -> SpeechCard:
    """Return a card without what it says of files."""
    return replace(card, encoder_sha256="", translator_sha256="")


def _link(path: Path, copy: Path) -> None:
    try:
        os.link(path, copy)
    except OSError:
        shutil.copyfile(path, copy)
