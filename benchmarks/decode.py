"""Time what captions are made of: a decode step, reads, a cycle of both, and the first token.

In the same run, on the same weights:

* generate: ``generate`` of transformers, greedy, with its dynamic cache; the time of a longer run
  less that of a run of one token, by token. It is given less to do than we are: it has no mask to
  draw and no source to read.
* re-encoding: wait-3 that encodes the whole prompt again at every word, as Simul-LLM does
  (Agostinelli et al. 2024, https://aclanthology.org/2024.acl-long.567), by ``generate``.
* bound: a decode step must read every weight once, so it takes at least their bytes over what
  copying reads and writes in a second.

Words are one token each here, and what is said is of no meaning: ids are drawn, and no write ends.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import GenerationConfig, PreTrainedModel

from benchmarks.random_models import random_network, shapes, small, weight_bytes
from engine.hub.catalogue import bundled_models
from engine.layout.planner import SlotPlanner
from engine.layout.rows import Headers, Row
from engine.models.model_card import read_card
from engine.runtime.torch.torch_loader import load_torch
from engine.runtime.torch.torch_store import slot_model
from engine.settings import LayoutSettings, ModelSettings

READS = (1, 2, 4, 8)
COLUMNS = (
    "date", "machine", "model", "decode", *(f"read {n}" for n in READS), "cycle 3+1", "first token",
    "generate", "word", "word, re-encoded", "bound", "peak MiB", "bound / decode",
    "generate / decode", "cycle / decode", "re-encoded / word",
)  # fmt: skip
_WAIT_K = 3
_COPIED_BYTES = 1 << 28
_NOTHING = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """How long what is measured is, in tokens.

    Attributes:
        system: the system prompt.
        header: each of the other headers.
        source: a sentence.
        repeats: of each measurement; the median counts.
        generated: by the longer run of ``generate``.
    """

    system: int = 32
    header: int = 5
    source: int = 24
    repeats: int = 20
    generated: int = 33

    @property
    def headers(self) -> Headers:
        """Headers of ids that are drawn."""
        user = tuple(range(10, 10 + self.header))
        return Headers(tuple(range(100, 100 + self.system)), user, user, user)


class Bench:
    """One network, timed."""

    def __init__(
        self, network: PreTrainedModel, length: Length, clock: Callable[[], float]
    ) -> None:
        self._network = network
        self._clock = clock
        self._length = length
        self._model = slot_model(network, 1024)
        self._suppressed = _NOTHING

    def measure(self) -> dict[str, float]:
        """Time everything; milliseconds, but for the memory."""
        found = {"decode": self._of_forward(0, 1)}
        found |= {f"read {n}": self._of_forward(n, 0) for n in READS}
        found["cycle 3+1"] = self._of_forward(3, 1)
        found["first token"] = self._first_token()
        found["generate"] = self._generate()
        found["word"] = self._wait_k() / self._length.source
        found["word, re-encoded"] = self._wait_k_reencoded() / self._length.source
        found["bound"] = 1000 * weight_bytes(self._network) / self._copied_per_s()
        found["peak MiB"] = self._model.peak_memory_bytes / (1 << 20)
        found["bound / decode"] = found["bound"] / found["decode"]
        found["generate / decode"] = found["generate"] / found["decode"]
        found["cycle / decode"] = found["cycle 3+1"] / found["decode"]
        found["re-encoded / word"] = found["word, re-encoded"] / found["word"]
        return found

    def _ms(self, once: Callable[[], object], repeats: int | None = None) -> float:
        """Time a call, the median of some after one that pays for first use."""
        times = []
        for _ in range(1 + (repeats or self._length.repeats)):
            self._wait()
            start_s = self._clock()
            once()
            self._wait()
            times.append(1000 * (self._clock() - start_s))
        return statistics.median(times[1:])

    def _wait(self) -> None:
        if self._network.device.type == "cuda":
            torch.cuda.synchronize()

    def _begun(self) -> SlotPlanner:
        """Feed half a sentence and its translation; the slot stays open."""
        planner = SlotPlanner(self._length.headers, LayoutSettings(slot_length=256))
        self._model.truncate(0)
        n = self._length.source // 2
        for id_ in range(n):
            planner.read([200 + id_])
        for id_ in range(n):
            self._model.feed(planner.write())
            planner.choose(300 + id_)
        return planner

    def _of_forward(self, n_source: int, n_target: int) -> float:
        """Time a forward pass of late source and pending target; what it fed is taken back."""
        planner = self._begun()
        n_cached = self._model.n_rows
        for id_ in range(n_source):
            planner.read([200 + id_])
        rows = planner.write()
        rows = rows if n_target else rows[:n_source]

        def once() -> None:
            self._model.truncate(n_cached)
            if n_target:
                self._model.next_id(rows, self._suppressed)
            else:
                self._model.feed(rows)

        return self._ms(once)

    def _first_token(self) -> float:
        """Time the whole prompt, the system's too, with the first three words."""
        planner = SlotPlanner(self._length.headers, LayoutSettings())
        for id_ in range(_WAIT_K):
            planner.read([200 + id_])
        rows = planner.write()

        def once() -> None:
            self._model.truncate(0)
            self._model.next_id(rows, self._suppressed)

        return self._ms(once)

    def _wait_k(self) -> float:
        """Time a sentence: each word is read and answered in one forward pass."""

        def once() -> None:
            planner = SlotPlanner(self._length.headers, LayoutSettings())
            planner.skip(self._length.system)
            self._model.truncate(self._length.system)
            for n_read in range(1, self._length.source + _WAIT_K):
                if n_read <= self._length.source:
                    planner.read([200 + n_read])
                if n_read >= _WAIT_K:
                    self._model.next_id(planner.write(), self._suppressed)
                    planner.choose(300 + n_read)

        self._model.truncate(0)
        self._model.feed([Row(id_, n, 0) for n, id_ in enumerate(self._length.headers.system)])
        return self._ms(once, 3)

    def _wait_k_reencoded(self) -> float:
        headers, n_source = self._length.headers, self._length.source

        def once() -> None:
            for n_written in range(n_source):
                n_read = min(n_written + _WAIT_K, n_source)
                source, target = range(200, 200 + n_read), range(300, 300 + n_written)
                prompt = (*headers.system, *headers.user, *source, *headers.assistant, *target)
                self._generated(prompt, 1)

        return self._ms(once, 3)

    def _generate(self) -> float:
        prompt = (*self._length.headers.system, *range(200, 200 + self._length.source))
        n = self._length.generated
        longer, shorter = (self._ms(lambda n=n: self._generated(prompt, n), 3) for n in (n, 1))
        return (longer - shorter) / (n - 1)

    def _generated(self, prompt: Sequence[int], n_tokens: int) -> None:
        ids = torch.tensor([prompt], device=self._network.device)
        settings = GenerationConfig(
            use_cache=True,
            do_sample=False,
            min_new_tokens=n_tokens,
            max_new_tokens=n_tokens,
            eos_token_id=0,
            pad_token_id=0,
        )
        self._network.generate(ids, attention_mask=torch.ones_like(ids), generation_config=settings)

    def _copied_per_s(self) -> float:
        """Measure what copying reads and writes in a second; bytes."""
        source = torch.empty(_COPIED_BYTES, dtype=torch.uint8, device=self._network.device)
        target = torch.empty_like(source)
        return 2 * _COPIED_BYTES / (self._ms(lambda: target.copy_(source)) / 1000)


def networks(
    directory: Path | None,
    device: torch.device,
    names: Sequence[str] = (),
    *,
    is_small: bool = False,
) -> dict[str, Callable[[], PreTrainedModel]]:
    """Name what is measured: a model folder, or random weights of well-known shapes in NF4.

    Args:
        directory: of the model.
        device: of random weights.
        names: of the shapes; all of them if there are none.
        is_small: take two narrow layers of each shape, to try the way.
    """
    if directory is not None:
        settings = ModelSettings(directory=directory, device=device.type, quantise="none")
        card = read_card(directory)
        return {directory.resolve().name: lambda: load_torch(settings, card).network}
    return {
        f"{name} (NF4)": lambda config=config: random_network(
            small(config) if is_small else config, device, quantise="nf4", dtype=torch.bfloat16
        )
        for name, config in shapes().items()
        if not names or name in names
    }


def machine_of(device: torch.device) -> str:
    """Name the machine."""
    if device.type == "cuda":
        return torch.cuda.get_device_name()
    return f"{platform.machine()}, {torch.get_num_threads()} threads"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Time decode steps, reads and their peers.")
    parser.add_argument(
        "--model", type=Path, metavar="DIR", help="model folder (on CUDA: every --shape)"
    )
    shape = "random weights in NF4 at this shape, again for more"
    parser.add_argument("--shape", choices=shapes(), action="append", default=[], help=shape)
    parser.add_argument("--small", action="store_true", help="two narrow layers of the shape")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="(%(default)s)")
    parser.add_argument("--repeats", type=int, default=20, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="count the time of the processor, all threads: for a machine that does other work",
    )
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    name = arguments.device
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    has_shape = name == "cuda" or arguments.shape
    directory = arguments.model or (None if has_shape else bundled_models()[0])
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    date, results = time.strftime("%Y-%m-%d"), {}
    measured = networks(directory, device, arguments.shape, is_small=arguments.small)
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    with torch.inference_mode():
        for model, make in measured.items():
            if name == "cuda":
                torch.cuda.reset_peak_memory_stats()
            length = Length(repeats=arguments.repeats)
            results[model] = Bench(make(), length, clock).measure()
            cells = [date, machine_of(device), model]
            cells += [f"{results[model][column]:.2f}" for column in COLUMNS[3:]]
            print("| " + " | ".join(cells) + " |", flush=True)
    if arguments.out is not None:
        content = {"date": date, "machine": machine_of(device), "models": results}
        arguments.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
