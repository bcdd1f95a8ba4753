"""What the setup wizard asks the computer with, for tests."""

import json
import sys
import threading

import numpy as np

from app.dialogs.setup.wizard import WizardServices
from engine.audio.devices import AudioNotice, NoticeKind
from engine.errors import AudioError
from engine.hub.catalogue import KNOWN_MODELS
from engine.messages import Code
from tests.support.listening_fakes import Chunks

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


class Sources:
    """Gives a loud microphone, and an output that is not there."""

    def __init__(self):
        self.made = []
        self.threads = set()

    def live(self, wanted, report):
        self.threads.add(threading.current_thread().name)
        if wanted.kind == "system":
            msg = "no sound server answers: start one"
            raise AudioError(msg)
        report(
            AudioNotice(
                kind=NoticeKind.LISTENING, device="mic", message=Code.LISTENING(device="mic")
            )
        )
        self.made.append(Chunks(np.full(4800, 0.5, np.float32), open_end=True))
        return self.made[-1]


def says(*lines):
    """A program that writes these lines, whatever it is asked."""
    text = "\n".join(json.dumps(line) for line in lines)
    return f"print({text!r})"


def parts(code=None, **more):
    code = code or says(MACHINE, *(fit(model.name) for model in KNOWN_MODELS))
    return WizardServices(make_sources=Sources, program=(sys.executable, "-c", code), **more)
