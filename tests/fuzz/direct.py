"""Folders of models that translate sound: the encoder loaded, and given a second of sound."""

import contextlib
import json
import os
import shutil

import numpy as np
import torch

from engine.errors import ModelError
from engine.models.model_card import ENCODER_FILE, FILE_NAME
from engine.speech.speech_models import load_direct_model
from engine.untrusted.plain_files import file_sha256
from tests.fuzz.sentences import check
from tests.support.direct.encoders import save_speech_encoder, tiny_encoder
from tests.support.fakes import save_tiny_model
from tests.support.strangers import damaged, mutated, mutated_file

_NUMBERS = [0, 1, 2, 3, 7, 8, 64, 65, -1, 2**31, 2**70, 1.5, "8", None, True]


def _change(rng, folder):
    """Change the encoder, or what the card says of it; often so that its hash is right again."""
    encoder, card = folder / ENCODER_FILE, folder / FILE_NAME
    content = json.loads(card.read_text(encoding="utf-8"))
    match rng.randrange(10):
        case 0:
            encoder.unlink()
            rng.choice([os.mkfifo, os.mkdir, lambda it: it.symlink_to("/dev/zero")])(encoder)
            return
        case 1 | 2:
            encoder.write_bytes(damaged(encoder.read_bytes(), rng))
        case 3 | 4 | 5:
            encoder.write_bytes(mutated_file(encoder.read_bytes(), rng))
        case 6 | 7:
            name = rng.choice(sorted(content["speech"]))
            content["speech"][name] = rng.choice(_NUMBERS)
        case 8:
            content["speech"] = mutated(content["speech"], rng)
        case _:
            content = mutated(content, rng)
    speech = content.get("speech") if isinstance(content, dict) else None
    if isinstance(speech, dict) and rng.random() < 0.8:
        speech["encoder_sha256"] = file_sha256(encoder)
    card.write_text(json.dumps(content), encoding="utf-8")


@contextlib.contextmanager
def prepared(folder):
    whole = save_tiny_model(folder / "whole")
    save_speech_encoder(whole, tiny_encoder(torch.float32, vocabulary=9))

    def run(rng, folder, allow):
        place = shutil.copytree(whole, folder / "model")
        _change(rng, place)
        allow()
        try:
            stream = load_direct_model(place).stream()
            blocks = [*stream.feed(np.zeros(16_000, np.float32)), *stream.flush()]
            assert all(np.isfinite(block.vectors).all() for block in blocks)
        except ModelError as error:
            check(error)

    yield run
