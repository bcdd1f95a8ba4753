"""Tiny speech encoders, and sound for them."""

import json

import numpy as np
import torch
from safetensors.torch import save_file

from engine.models.model_card import (
    ENCODER_FILE,
    FILE_NAME,
    SpeechCard,
    read_card,
    translator_sha256,
)
from engine.runtime.sound import SpeechEncoder
from engine.untrusted.plain_files import file_sha256

WIDTH = 64
"""Of the tiny translator."""


def tiny_card(**changes):
    shape = {"width": 16, "layers": 2, "heads": 2, "feed_forward": 24, "left_blocks": 2}
    return SpeechCard(**shape | changes)


def tiny_encoder(dtype=torch.float64, translator_width=WIDTH, *, seed=0, **changes):
    """An encoder with random weights large enough that all it sees matters."""
    torch.manual_seed(seed)
    encoder = SpeechEncoder(tiny_card(**changes), translator_width)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
        encoder.mean.fill_(-9.0)
        encoder.scale.fill_(0.3)
    return encoder.to(dtype).requires_grad_(requires_grad=False).eval()


def noise(rng, seconds):
    """Sound whose loudness and colour change, float32."""
    n_samples = int(seconds * 16_000)
    loudness = np.repeat(rng.uniform(0.01, 0.5, n_samples // 800 + 1), 800)[:n_samples]
    return (rng.normal(size=n_samples) * loudness).clip(-1, 1).astype(np.float32)


def cut(rng, samples, most=9000):
    """The same samples in chunks of random sizes, some of them empty."""
    start = 0
    while start < len(samples):
        stop = start + int(rng.integers(0, most))
        yield samples[start:stop]
        start = stop


def save_speech_encoder(folder, encoder, **changes):
    """Put an encoder beside a model, and its part into the card."""
    tensors = {name: it.float().contiguous() for name, it in encoder.state_dict().items()}
    save_file(tensors, folder / ENCODER_FILE)
    say_speech(
        folder,
        encoder.card,
        encoder_sha256=file_sha256(folder / ENCODER_FILE),
        translator_sha256=translator_sha256(folder),
        **changes,
    )
    return read_card(folder)


def say_speech(folder, card, **changes):
    """Let the card of a folder say this of an encoder."""
    part = {name: getattr(card, name) for name in card.__dataclass_fields__} | changes
    path = folder / FILE_NAME
    content = json.loads(path.read_text(encoding="utf-8")) | {"speech": part}
    path.write_text(json.dumps(content), encoding="utf-8")
