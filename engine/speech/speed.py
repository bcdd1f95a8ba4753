"""Foretell how fast a model computes on this computer, before it is downloaded.

A word or a pass of a known model has a known amount of computing (``benchmarks/shapes/``); how much
this computer does in a second is measured by products of matrices in one thread. Seconds are those
of the thread on its core, so other programs change nothing: a busy computer is as fast as an idle
one, and never slower than the table of its class of processor.
"""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np

from engine.hub.catalogue import (
    MOONSHINE,
    SPEECH_CHOICES,
    STANDARD_WHISPER,
    STREAMING_MODELS,
    SpeechChoice,
    quicker_speech_model,
    standard_speech_model,
)

FAST, ENOUGH = 0.45, 0.9
"""Seconds of computing for a second of speech below which a model is fast, or fast enough."""


class SpeechPace:
    """All that is known of how fast the models of speech are on this computer.

    Attributes:
        recommended: the model to begin with, that which comes along if it does; empty until that is
            certain. It never changes by a measure, but by captions that fall behind.
    """

    def __init__(self) -> None:
        standard = standard_speech_model()
        self.recommended = standard if standard == MOONSHINE else ""
        self._gflops = 0.0
        self._is_measured = False  # to the end
        self._fell_behind = set[str]()

    def take_speed(self, gflops: float, *, again: bool) -> None:
        """Take the billions of operations a second that were measured so far; 0 for unknown.

        A model that is fast enough by a measure is so for certain: other programs make one lower,
        never higher. One that is too slow by it may not be as long as it is measured ``again``.
        """
        self._gflops = max(self._gflops, gflops)
        self._is_measured |= not again
        if not self.recommended:
            self.recommended = self._quickest_needed()

    def note_behind(self, recognizer: str) -> None:
        """Note that captions fell behind speech with a model, whatever was foretold."""
        self._fell_behind.add(recognizer)
        if recognizer == self.recommended:
            self.recommended = quicker_speech_model(recognizer) or recognizer

    def fell_behind(self, recognizer: str) -> bool:
        """Return whether captions fell behind speech with this model or a lighter one."""
        names = [one.name for one in SPEECH_CHOICES]
        lighter = names[: names.index(recognizer) + 1] if recognizer in names else [recognizer]
        return not self._fell_behind.isdisjoint(lighter)

    def load_of(self, choice: SpeechChoice) -> float | None:
        """Return the seconds of computing for a second of speech; None while not certain."""
        if not self._gflops:
            return None
        load = choice.pass_gflop / self._gflops
        return load if load < ENOUGH or self._is_measured else None

    @property
    def is_measured(self) -> bool:
        return self._is_measured

    def _quickest_needed(self) -> str:
        """Return the standard model, or the best quicker one; empty while that is not certain."""
        name = STANDARD_WHISPER
        while choice := next((one for one in SPEECH_CHOICES if one.name == name), None):
            load = self.load_of(choice)
            if load is None:
                return name if self._is_measured else ""
            if load < ENOUGH and not self.fell_behind(name):
                return name
            name = quicker_speech_model(name)
        return name or next(iter(STREAMING_MODELS))


_SIDE = 64  # so small that numpy's libraries do not share a product between threads
_LARGER = 1.25
"""A product of 512 rows does so many more operations a second (2026-11-24, Xeon with AVX-512).

The computing of the models was measured beside such products."""

_MEASURES, _LEAST_S, _PAUSE_S = 7, 0.05, 0.3  # two seconds in all

Pause = Callable[[float], object]
"""Waits for some seconds between two measures; true if no further one is wanted."""


_MOST_CORES = 4
"""CTranslate2, which computes speech and translation, takes no more cores by itself."""

CLASS_GFLOPS = {"avx512": 32.0, "avx2": 16.0, "apple": 32.0, "arm64": 8.0, "other": 4.0}
"""The least of a core of each class: what its slowest member does in a cycle, at 1 GHz.

Source: float32 operations a cycle by microarchitecture, https://stackoverflow.com/q/15655835.
"""

_CORES = Path("/sys/devices/system/cpu")


def computer_gflops(
    pause: Pause = time.sleep,
    *,
    measure: Callable[[Pause], float] | None = None,
    kind: str | None = None,
    n_cores: int | None = None,
) -> float:
    """Return the billions of float32 operations that a model gets of this computer in a second.

    ``kind`` is a key of ``CLASS_GFLOPS``; it and the cores that a model may use are looked up if
    None.
    """
    core = matrix_gflops(pause=pause) if measure is None else measure(pause)
    least = CLASS_GFLOPS[kind or processor_class()]
    return max(core, least) * min(n_cores or physical_cores(), _MOST_CORES)


def matrix_gflops(
    clock: Callable[[], float] = time.thread_time, pause: Pause = time.sleep
) -> float:
    """Return the billions of float32 operations a second of one core.

    The second fastest of some measures: other programs, whose data take the place of ours in the
    processor's memory, make them slower, and a coarse clock now and then makes one faster. The
    ``clock`` returns the seconds of this thread on its core.
    """
    left = np.full((_SIDE, _SIDE), 0.5, np.float32)
    right = left.copy()
    np.matmul(left, right)  # pages are touched
    rates = list[float]()
    for _ in range(_MEASURES):
        if rates and pause(_PAUSE_S):
            break
        n_products, began_s, now_s = 0, clock(), 0.0
        while now_s < _LEAST_S:  # many, since some clocks tick 64 times a second
            for _ in range(50):
                np.matmul(left, right)
            n_products += 50
            now_s = clock() - began_s
        rates.append(2e-9 * _SIDE**3 * n_products / now_s)
    return _LARGER * sorted(rates)[-2:][0]


def processor_class() -> str:
    """Return the class of this processor, a key of ``CLASS_GFLOPS``."""
    machine = platform.machine().lower()
    if machine in ("arm64", "aarch64"):
        return "apple" if platform.system() == "Darwin" else "arm64"
    config = cast("dict[str, dict[str, list[str]]]", np.show_config(mode="dicts"))
    lists = config.get("SIMD Extensions", {}).values()
    found = {name for names in lists for name in names}
    if found & {"X86_V4", "AVX512F"}:
        return "avx512"
    return "avx2" if found & {"X86_V3", "AVX2"} else "other"


def physical_cores(folder: Path = _CORES) -> int:
    """Return the cores that this process may use; two threads of one core count once."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        usable = os.sched_getaffinity(0)
        paths = (folder / f"cpu{number}/topology/thread_siblings_list" for number in usable)
        try:
            return len({path.read_text(encoding="ascii") for path in paths})
        except (OSError, UnicodeDecodeError):
            return max(1, len(usable) // 2)
    shares = platform.machine().lower() not in ("arm64", "aarch64")
    return max(1, (os.cpu_count() or 1) // (2 if shares else 1))
