"""Run SimulEval over waves of 16 bits, and write down what it found (``simuleval_run``).

    .venv-simuleval/bin/python benchmarks/interop/simuleval_speech_run.py OUT.json [ARGUMENTS...]

SimulEval reads sound by soundfile, which its environment here does not have; the few calls it makes
are answered by Python's own ``wave``.
"""

import sys
import types
import wave
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import numpy as np


def read(path: str, dtype: str) -> tuple[np.ndarray, int]:
    """Read samples from -1 to 1, and their rate."""
    with wave.open(path) as file:
        content = file.readframes(file.getnframes())
        return (np.frombuffer(content, "<i2") / 32767).astype(dtype), file.getframerate()


def info(path: str) -> SimpleNamespace:
    """Return the rate of a file."""
    with wave.open(path) as file:
        return SimpleNamespace(samplerate=file.getframerate())


if __name__ == "__main__":
    stand_in = types.ModuleType("soundfile")
    stand_in.__spec__ = ModuleSpec("soundfile", None)  # libraries ask whether it is there
    stand_in.read, stand_in.info = read, info
    sys.modules["soundfile"] = stand_in
    from simuleval_run import main

    main()
