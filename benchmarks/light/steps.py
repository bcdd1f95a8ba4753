"""Time passes and words of one model on torch, on ONNX Runtime, and there in 8 bits, in turn.

* steps: a decode step over 60 cached rows; reads of late source words; a cycle that reads three
  tokens and writes one. They take turns, ten passes at a time; the median counts, and its ratio.
* word: our own sentences word by word under read:3, p50 and p95 of all words, and their mean.
* apart: the largest difference of the last row's logits when random rows are fed one by one instead
  of all at once; the engine promises that there is none.
* bound: a decode step must read every weight once, so it takes at least as long as it takes to read
  an array of their size, in float32 or in 8 bits, by as many threads.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from engine.hub.catalogue import bundled_models
from engine.layout.rows import Row
from engine.models.model_card import read_card
from engine.runtime.causal_model import CausalModel
from engine.runtime.onnx import onnx_loader
from engine.runtime.onnx.onnx_loader import OnnxWeights, load_onnx
from engine.runtime.onnx.onnx_store import OnnxNetwork
from engine.runtime.torch.torch_loader import load_torch
from engine.runtime.weights import Weights
from engine.settings import ModelSettings, TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.feed import feed_sentence
from engine.translation.slot_translator import Translator

SENTENCES = Path(__file__).parents[1] / "sentences.en"
PASSES = {"decode": (0, 1), "read 1": (1, 0), "read 2": (2, 0), "read 4": (4, 0), "read 8": (8, 0),
          "cycle 3+1": (3, 1)}  # fmt: skip
_CACHED = 60
_BLOCK, _WARM_UPS = 10, 3  # passes in a row: another model has emptied the processor's cache
_READS = 40
_SMALL = 0.01  # smaller results are written with an exponent
_INPUTS, _ROWS, _FIRST_ID, _LAST_ID = 40, 24, 100, 2000


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

    def apart(self) -> dict[str, float]:
        """Return the largest difference of logits between rows fed one by one and at once."""
        found = dict.fromkeys(self._weights, 0.0)
        rng = np.random.default_rng(1)
        for _ in range(_INPUTS):
            ids = rng.integers(_FIRST_ID, _LAST_ID, _ROWS)
            rows = [Row(int(id_), n, 0) for n, id_ in enumerate(ids)]
            for name, model in self._models.items():
                model.truncate(0)
                together = np.array(model.feed(rows))
                model.truncate(0)
                for row in rows:
                    last = np.asarray(model.feed([row]))
                found[name] = max(found[name], float(np.abs(together - last).max()))
        return found

    def words(self, sentences: Iterable[Sequence[str]]) -> dict[str, dict[str, float]]:
        """Time words under read:3; milliseconds."""
        systems = {
            name: Translator(weights, TranslationSettings(policy="read:3"))
            for name, weights in self._weights.items()
        }
        times: dict[str, list[float]] = {name: [] for name in systems}
        captions: dict[str, list[str]] = {name: [] for name in systems}
        for words in sentences:
            for name, system in systems.items():
                text = ""
                steps = feed_sentence(system.open(), Sentence(tuple(words), ended=True))
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


def bound_ms(n_bytes: int, n_threads: int, clock: Callable[[], float]) -> float:
    """Return the time in which so many bytes are read, by so many threads at once."""
    numbers = np.ones(n_bytes // 4, dtype=np.float32)
    parts = np.array_split(numbers, n_threads)
    times = []
    with ThreadPoolExecutor(n_threads) as threads:
        for _ in range(_READS):
            start_s = clock()
            if n_threads == 1:
                numbers.max()
            else:
                list(threads.map(np.max, parts))  # without Python's lock
            times.append(clock() - start_s)
    return 1000 * statistics.median(times)


def threaded_table(arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Time everything with so many threads; milliseconds."""
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()[: arguments.sentences]
    folder = (arguments.model or bundled_models()[0]).resolve()
    settings = ModelSettings(directory=folder, device="cpu", quantise="none")
    card = read_card(folder)
    light, heavy = load_onnx(settings, card), load_torch(settings, card)
    n_threads: int = arguments.threads
    torch.set_num_threads(n_threads)
    weights: dict[str, Weights] = {
        "torch": heavy,
        "ONNX": threaded(light, n_threads),
        "int8": threaded(light, n_threads, packed=True),
    }
    bench = Bench(weights, clock, arguments.repeats)
    found = bench.passes() | bench.words([line.split() for line in lines])
    bound = bound_ms(4 * light.n_parameters, n_threads, clock)
    packed = bound_ms(light.n_parameters, n_threads, clock)
    found["bound"] = {"torch": bound, "ONNX": bound, "int8": packed}
    found["bound / decode"] = {
        name: found["bound"][name] / ms for name, ms in found["decode"].items()
    }
    found["apart"] = bench.apart()
    return {f"{name}, threads: {n_threads}": values for name, values in found.items()}


def table(results: Mapping[str, Mapping[str, float]]) -> str:
    """Draw results as Markdown; ratios are to torch."""
    lines = ["| | torch | ONNX Runtime | ratio | 8 bits | ratio |", "|---|---|---|---|---|---|"]
    for name, found in results.items():
        one = found["torch"]
        others = [found[system] for system in ("ONNX", "int8") if system in found]
        cells = [_cell(one), *(f"{_cell(other)} | {_cell(other / one)}" for other in others)]
        cells += [" | "] * (2 - len(others))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value: float) -> str:
    return f"{value:.2f}" if value >= _SMALL or value == 0 else f"{value:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time passes of torch and ONNX Runtime.")
    parser.add_argument("--model", type=Path, metavar="DIR", help="with a graph (the bundled one)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="(%(default)s)")
    parser.add_argument("--repeats", type=int, default=60, metavar="N", help="(%(default)s)")
    parser.add_argument("--sentences", type=int, default=20, metavar="N", help="(%(default)s)")
    parser.add_argument("--cpu-time", action="store_true", help="of the processor: for busy ones")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    arguments = parser.parse_args()
    if arguments.cpu_time and arguments.threads > 1:
        parser.error("the processor's time of several threads is their sum: leave out --cpu-time")
    results = threaded_table(arguments)
    print(table(results))
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
