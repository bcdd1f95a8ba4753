"""What the setup wizard asks the computer with, for tests."""

import json
import sys

from app.dialogs.setup.wizard import WizardServices
from engine.hub.catalogue import KNOWN_MODELS

MACHINE = {
    "kind": "machine",
    "processor": "some",
    "cores": 8,
    "memory_bytes": 16_000_000_000,
    "free_bytes": 9_000_000_000,
    "gpu": "",
    "gpu_bytes": 0,
    "gpu_free_bytes": 0,
    "trouble": "",
}


def fit(name, *, fits=True, device="cpu", needed_bytes=1_000_000_000):
    line = {"words": "in 4 bits", "needed_bytes": needed_bytes, "device": device}
    return {"kind": "fit", "model": name, "fits": fits, **line}


def says(*lines):
    """A program that writes these lines, whatever it is asked."""
    text = "\n".join(json.dumps(line) for line in lines)
    return f"print({text!r})"


def parts(code=None, **more):
    code = code or says(MACHINE, *(fit(model.name) for model in KNOWN_MODELS))
    return WizardServices(program=(sys.executable, "-c", code), **more)
