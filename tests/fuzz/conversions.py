"""Folders of a stranger, converted or to be converted: loaded, and asked for a translation."""

import contextlib
import hashlib
import json
import os
import shutil

from engine.models.encoder_decoder.record import RECORD_FILE
from engine.runtime.ctranslate2.conversion import WEIGHTS, ready_folder
from engine.settings import ModelSettings
from tests.engine.runtime.ctranslate2.tiny_models import make_encoder_decoder
from tests.fuzz.models import load_and_translate
from tests.support.strangers import damaged, mutated_file

_FAMILIES = ("marian", "m2m100")
_ADDED = ["vmap.txt", "model.safetensors", "pytorch_model.bin", "tokenizer.json"]


def _mutated(rng, content):
    """The vocabulary is a list, in which ``mutated_file`` would look for tensors."""
    if content.startswith(b"["):
        tokens = json.loads(content)
        tokens[rng.randrange(len(tokens))] = rng.choice([tokens[0], "", 5, None, "x" * 5000, []])
        return json.dumps(tokens[: rng.choice([None, None, 2])]).encode()
    return mutated_file(content, rng) if content.startswith(b"{") else damaged(content, rng)


def _change(rng, folder):
    """Change one file of a folder, or put another one there."""
    path = folder / rng.choice(sorted(path.name for path in folder.iterdir()))
    content = path.read_bytes() if path.is_file() else b"{}"
    match rng.randrange(10):
        case 0:
            path.unlink() if path.is_file() else path.rmdir()
            rng.choice([os.mkfifo, os.mkdir, lambda it: it.symlink_to("/dev/zero")])(path)
        case 1:
            (folder / rng.choice(_ADDED)).write_bytes(rng.choice([b"", b"a b\n", b"\x80\x04."]))
        case 2:
            path.write_bytes(b"[" * 100_000)
        case 3 | 4 | 5:
            path.write_bytes(damaged(content, rng))
        case _:
            path.write_bytes(_mutated(rng, content))


def _name_the_weights(folder):
    """Write the hash of the weights into the record, as whoever changed them would."""
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        record = json.loads((folder / RECORD_FILE).read_text())
        digest = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
        (folder / RECORD_FILE).write_text(json.dumps(record | {"weights_sha256": digest}))


@contextlib.contextmanager
def prepared(folder):
    originals, converted = [], []
    for family in _FAMILIES:
        originals.append(make_encoder_decoder(folder / family, family))
        converted.append(
            ready_folder(shutil.copytree(originals[-1], folder / f"{family}-2"), "int8")
        )

    def run(rng, folder, allow):
        whole = rng.choice([*originals, *converted * 3])  # a conversion takes a while
        model = shutil.copytree(whole, folder / whole.name)
        _change(rng, model)
        if (model / WEIGHTS).is_file() and (model / RECORD_FILE).is_file():
            _name_the_weights(model)
        allow(*([model] if whole in originals else []))
        load_and_translate(ModelSettings(directory=model, device="cpu"), "the house is green.")

    yield run
