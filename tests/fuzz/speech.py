"""Folders of models that hear speech as it comes."""

import contextlib
import os
import shutil
from pathlib import Path

from engine.errors import ModelError
from engine.speech.sherpa import checked_files, is_streaming, tried
from engine.speech.speech_models import found_speech_model
from tests.fuzz.sentences import check
from tests.support.strangers import damaged

_WHOLE = Path(__file__).parents[1] / "assets" / "tiny-streaming"
_NAMES = ("ctc.onnx", "tokens.txt")


def _spoil(rng, folder):
    path = folder / rng.choice(_NAMES)
    match rng.randrange(10):
        case 0:
            path.unlink()
            os.mkfifo(path)
        case 1:
            path.unlink()
            path.mkdir()
        case 2:
            path.rename(folder / rng.choice(("encoder.onnx", "joiner.int8.onnx", "words.txt")))
        case _:
            path.write_bytes(damaged(path.read_bytes(), rng))


@contextlib.contextmanager
def prepared(_folder):
    def run(rng, folder, allow):
        place = shutil.copytree(_WHOLE, folder / "model")
        for _ in range(rng.randint(1, 2)):
            if all((place / name).is_file() for name in _NAMES):
                _spoil(rng, place)
        allow(place)
        try:
            found_speech_model(str(place), folder / "library")
            if is_streaming(place):
                tried(checked_files(place), place)
        except ModelError as error:
            check(error)

    yield run
