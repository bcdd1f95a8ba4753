"""Time one model on torch and on ONNX Runtime, in one run, in turn.

The model folder carries a graph. torch gets a copy of it whose card names none.

* steps: a decode step over 60 cached rows; reads of late source words; a cycle that reads three
  tokens and writes one. They take turns, ten passes at a time; the median counts, and its ratio.
* word: our own sentences word by word under read:3, p50 and p95 of all words, and of those only
  that set a translation off.
* start: ``surtitle translate`` in a process of its own, from its start to the first caption and
  its resident set then, and at its end.
* 8 bits: the same with ``--quantize int8``; its bound is a quarter.
* bound: a decode step must read every weight once, in float32, so it takes at least their bytes
  over what copying reads and writes in a second.
* installed: bytes of the packages that the program requires without torch and with it.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from engine.hub.bundled import bundled_models
from engine.inference.causal_model import CausalModel
from engine.inference.onnx_model import OnnxNetwork
from engine.layout.rows import Row
from engine.loading import onnx_loader
from engine.loading.onnx_loader import OnnxWeights, load_onnx
from engine.loading.torch_loader import load_torch
from engine.loading.weights import Weights
from engine.models.model_card import read_card
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import feed_words
from engine.translation.slot_translator import Translator

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
SENTENCES = Path(__file__).with_name("sentences.en")
PASSES = {"decode": (0, 1), "read 1": (1, 0), "read 2": (2, 0), "read 4": (4, 0), "read 8": (8, 0),
          "cycle 3+1": (3, 1)}  # fmt: skip
_CACHED = 60
_BLOCK, _WARM_UPS = 10, 3  # passes in a row: another model has emptied the processor's cache
_COPIED_BYTES = 1 << 28
_TEXT = "Good morning, how are you today?"
_WATCHED = """
import sys, time
from app.__main__ import main
def resident(key):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024
write, first = sys.stdout.buffer.write, []
class Out:
    def write(self, data):
        if not first and data.strip():
            first.extend((time.monotonic(), resident("VmRSS")))
        return write(data)
    def __getattr__(self, name):
        return getattr(raw, name)
raw, sys.stdout = sys.stdout.buffer, type("Text", (), {"buffer": Out(), "isatty": lambda _: False,
    "flush": lambda _: None, "write": lambda _, text: None, "reconfigure": lambda *_, **__: None})()
code = main(["translate", "--live", "--model", sys.argv[1], sys.argv[2]])
sys.stderr.write(f"\\n{first[0]} {first[1]} {resident('VmHWM')} {code}\\n")
"""


class Bench:
    """Two models with the same weights, timed in turn."""

    def __init__(
        self, weights: dict[str, Weights], clock: Callable[[], float], repeats: int
    ) -> None:
        self._weights, self._clock, self._repeats = weights, clock, repeats
        self._models = {name: one.new_model(1024) for name, one in weights.items()}

    def passes(self) -> dict[str, dict[str, float]]:
        """Time every kind of pass; milliseconds."""
        return {name: self._of(*sizes) for name, sizes in PASSES.items()}

    def _of(self, n_source: int, n_target: int) -> dict[str, float]:
        """Time passes of late source words and a pending target token."""
        cached = [Row(100 + n, n if n < 30 else n + 40, 0) for n in range(_CACHED)]
        rows = [Row(200 + n, 30 + n, 1) for n in range(n_source)]
        rows += [Row(300 + n, 200 + n, 1) for n in range(n_target)]
        for model in self._models.values():
            model.truncate(0)
            model.feed(cached)
        times: dict[str, list[float]] = {name: [] for name in self._models}
        for _ in range(max(1, self._repeats // _BLOCK)):
            for name, model in self._models.items():
                found = [self._once(model, rows) for _ in range(_BLOCK + _WARM_UPS)]
                times[name] += found[_WARM_UPS:]
        return {name: statistics.median(found) for name, found in times.items()}

    def _once(self, model: CausalModel, rows: Sequence[Row]) -> float:
        model.truncate(_CACHED)
        start_s = self._clock()
        model.next_id(rows, (0, 1, 2))
        return 1000 * (self._clock() - start_s)

    def words(self, sentences: Iterable[Sequence[str]]) -> dict[str, dict[str, float]]:
        """Time words under read:3; milliseconds."""
        systems = {
            name: Translator(weights, TranslationSettings())
            for name, weights in self._weights.items()
        }
        times: dict[str, list[float]] = {name: [] for name in systems}
        captions: dict[str, list[str]] = {name: [] for name in systems}
        for words in sentences:
            for name, system in systems.items():
                text = ""
                steps = feed_words(system, words)
                for _ in words:
                    start_s = self._clock()
                    for change in next(steps):
                        text = text[: change.kept] + change.text
                    times[name].append(1000 * (self._clock() - start_s))
                captions[name].append(text)
        for name, texts in captions.items():
            same = sum(map(str.__eq__, captions["torch"], texts))
            print(f"captions of {name} like those of torch: {same} of {len(texts)}")
        found: dict[str, dict[str, float]] = {"p50": {}, "p95": {}, "mean": {}}
        for name, ms in times.items():
            found["p50"][name], found["p95"][name] = np.percentile(ms, [50, 95]).tolist()
            found["mean"][name] = statistics.fmean(ms)
        return {f"word {name}": values for name, values in found.items()}


def bound_ms(n_bytes: int, clock: Callable[[], float]) -> float:
    """Return the time that copying needs to read and write so many bytes."""
    source = np.ones(_COPIED_BYTES, dtype=np.uint8)
    target = np.ones_like(source)
    times = []
    for _ in range(8):
        start_s = clock()
        np.copyto(target, source)
        times.append(clock() - start_s)
    return 1000 * n_bytes * statistics.median(times) / (2 * _COPIED_BYTES)


def start(folder: Path, runs: int) -> tuple[float, float, float]:
    """Start the program; seconds to the first caption, MiB then, and at most."""
    found = []
    with tempfile.TemporaryDirectory() as home:
        text = Path(home, "text")
        text.write_text(f"{_TEXT}\n", encoding="utf-8")
        for _ in range(runs):
            start_s = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-c", _WATCHED, str(folder), str(text)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            at_s, then, most, _code = map(float, done.stderr.split()[-4:])
            found.append((at_s - start_s, then, most))
    seconds, then, most = map(statistics.median, zip(*found, strict=True))
    return seconds, then, most


def installed_bytes(extra: str) -> float:
    """Count the bytes of the packages that pyproject.toml requires, with an extra or without."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    waiting = [*project["dependencies"], *(optional[extra] if extra else ())]
    sizes = dict[str, int]()
    while waiting:
        line = waiting.pop()
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        if name in sizes or "extra ==" in line:
            continue
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:  # for another system
            continue
        files = (Path(str(file.locate())) for file in package.files or ())
        sizes[name] = sum(file.stat().st_size for file in files if file.is_file())
        waiting += package.requires or ()
    return sum(sizes.values())


def without_graph(folder: Path, home: Path) -> Path:
    """Copy a model folder, so that torch computes it."""
    copy = home / folder.name
    shutil.copytree(folder, copy)
    replace(read_card(copy), graph=None).save(copy)
    return copy


def main() -> None:
    parser = argparse.ArgumentParser(description="Time torch and ONNX Runtime side by side.")
    parser.add_argument("--model", type=Path, metavar="DIR", help="with a graph (the bundled one)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--repeats", type=int, default=60, metavar="N", help="(%(default)s)")
    parser.add_argument("--sentences", type=int, default=20, metavar="N", help="(%(default)s)")
    parser.add_argument("--starts", type=int, default=5, metavar="N", help="(%(default)s)")
    parser.add_argument("--cpu-time", action="store_true", help="of the processor: for busy ones")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    arguments = parser.parse_args()
    folder = (arguments.model or bundled_models()[0]).resolve()
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()[: arguments.sentences]
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as home:
        copy = without_graph(folder, Path(home))
        settings = ModelSettings(directory=folder, device="cpu", quantise="none")
        light = load_onnx(settings, read_card(folder))
        heavy = load_torch(settings, read_card(folder))
        for n_threads in arguments.threads:
            torch.set_num_threads(n_threads)
            weights = {
                "torch": heavy,
                "ONNX": threaded(light, n_threads),
                "int8": threaded(light, n_threads, packed=True),
            }
            bench = Bench(weights, clock, arguments.repeats)
            found = bench.passes() | bench.words([line.split() for line in lines])
            results |= {f"{name}, {n_threads} threads": it for name, it in found.items()}
        starts = {"torch": start(copy, arguments.starts), "ONNX": start(folder, arguments.starts)}
    for number, name in enumerate(("first caption s", "MiB at the first caption", "MiB at most")):
        results[name] = {system: found[number] for system, found in starts.items()}
    bound = bound_ms(4 * light.n_parameters, clock)
    results["bound"] = {"torch": bound, "ONNX": bound, "int8": bound / 4}
    for n_threads in arguments.threads:
        decode = results[f"decode, {n_threads} threads"]
        results[f"bound / decode, {n_threads} threads"] = {
            name: results["bound"][name] / ms for name, ms in decode.items()
        }
    sizes = {"torch": installed_bytes("torch"), "ONNX": installed_bytes("")}
    results["installed MB"] = {name: n_bytes / 1e6 for name, n_bytes in sizes.items()}
    print(f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, {os.cpu_count()} cores, "
          f"{folder.name}, {light.n_parameters:,} parameters")  # fmt: skip
    print("| | torch | ONNX Runtime | ratio | 8 bits | ratio |\n|---|---|---|---|---|---|")
    for name, found in results.items():
        one = found["torch"]
        others = [found[system] for system in ("ONNX", "int8") if system in found]
        cells = [f"{one:.2f}", *(f"{other:.2f} | {other / one:.2f}" for other in others)]
        cells += [" | "] * (2 - len(others))
        print(f"| {name} | " + " | ".join(cells) + " |")
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def threaded(light: OnnxWeights, n_threads: int, *, packed: bool = False) -> OnnxWeights:
    """Load the weights again with another number of threads, or in 8 bits."""
    shape = light.network.shape
    weights = onnx_loader._read_weights(light.folder, shape, light.hashes)
    network = OnnxNetwork(shape, weights, n_threads=n_threads, packed=packed)
    return replace(light, network=network)


if __name__ == "__main__":
    main()
