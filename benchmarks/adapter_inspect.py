"""Time how long it takes to judge an adapter: milliseconds, headers only, without torch.

Adapters with factors on all linear layers are laid out at the true shapes of known bases; their
data is a hole in the file, which nobody reads. For each of them are told

* inspect: ``inspect_adapter`` with the base's fingerprint at hand, as for the rows of a list,
* base: ``read_fingerprint``, which hashes a tokenizer.json of the base's true size,
* process: a fresh Python that imports what it needs and does both, from start to end,
* library: ``safe_open`` of safetensors lists the same tensors, with their shapes.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.adapters.card import AdapterCard
from engine.models.fingerprint import Fingerprint, read_fingerprint
from engine.models.linear_layers import linear_layers
from engine.models.model_card import Language

MEASURED = ("inspect", "base", "process", "library")
COLUMNS = (
    *("date", "machine", "base", "rank", "tensors", "weights"),
    *(f"{what}: median ms (shortest)" for what in MEASURED),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A base by its configuration, and an adapter by its rank."""

    name: str
    config: dict[str, object]
    tokenizer_bytes: int
    rank: int


CASES = (
    Case(
        name="surtitle-en-de",
        config={"model_type": "llama", "hidden_size": 256, "intermediate_size": 704,
                "num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 4,
                "vocab_size": 8000},
        tokenizer_bytes=538_474,
        rank=16,
    ),
    Case(
        name="Llama-3.1-8B",
        config={"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
                "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
                "vocab_size": 128_256},
        tokenizer_bytes=17_209_920,
        rank=64,
    ),
    Case(
        name="gemma-2-2b",
        config={"model_type": "gemma2", "hidden_size": 2304, "intermediate_size": 9216,
                "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
                "head_dim": 256, "vocab_size": 256_000},
        tokenizer_bytes=34_356_041,
        rank=16,
    ),
)  # fmt: skip


def lay_out(folder: Path, case: Case) -> tuple[Path, Path, int]:
    """Make base and adapter folder; return both, and the number of tensors."""
    base_folder, folder = folder / f"{case.name}-base", folder / case.name
    for path in (base_folder, folder):
        path.mkdir()
    (base_folder / "config.json").write_text(json.dumps(case.config))
    with (base_folder / "tokenizer.json").open("wb") as file:
        file.truncate(case.tokenizer_bytes)
    base = read_fingerprint(base_folder)
    layers = linear_layers(base)
    assert layers is not None
    header, end = {}, 0
    for layer in range(base.layers):
        for module, (n_in, n_out) in layers.shapes.items():
            for factor, shape in (("A", [case.rank, n_in]), ("B", [n_out, case.rank])):
                start, end = end, end + 2 * shape[0] * shape[1]
                name = f"base_model.model.{layers.stem}.{layer}.{module}.lora_{factor}.weight"
                header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    with (folder / "adapter_model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)
    config = {"peft_type": "LORA", "r": case.rank, "lora_alpha": 2 * case.rank,
              "target_modules": [name.rpartition(".")[2] for name in layers.shapes]}  # fmt: skip
    (folder / "adapter_config.json").write_text(json.dumps(config))
    (folder / "surtitle.json").write_text(card(case, base).text(), encoding="utf-8")
    return base_folder, folder, len(header)


def card(case: Case, base: Fingerprint) -> AdapterCard:
    """A card; its hash is of nothing, since headers are all that is read."""
    return AdapterCard(
        name="benchmark",
        base_name=case.name,
        base=base,
        languages={"de": Language(name="German", system="Translate into German.")},
        end_of_source="a",
        end_of_write="b",
        end_of_target="c",
        slot_length=16,
        policies=("read:3",),
        weights_sha256="0" * 64,
    )


def timed(act: Callable[[], object], n_runs: int) -> tuple[float, float]:
    """Milliseconds: the median and the shortest, after one run that does not count."""
    act()
    times = []
    for _ in range(n_runs):
        start = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times), min(times)


def measure(case: Case, n_runs: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as scratch:
        base_folder, folder, n_tensors = lay_out(Path(scratch), case)
        base = read_fingerprint(base_folder)
        assert inspect_adapter(folder, base).status is Status.OK
        code = (
            "import pathlib; from engine.models.adapters.adapter import inspect_adapter; "
            "from engine.models.fingerprint import read_fingerprint; "
            f"inspect_adapter(pathlib.Path({str(folder)!r}), "
            f"read_fingerprint(pathlib.Path({str(base_folder)!r})))"
        )
        return {
            "base": case.name,
            "rank": case.rank,
            "tensors": n_tensors,
            "weights": f"{(folder / 'adapter_model.safetensors').stat().st_size / 1e6:.1f} MB",
            "times": {
                "inspect": timed(lambda: inspect_adapter(folder, base), n_runs),
                "base": timed(lambda: read_fingerprint(base_folder), n_runs),
                "process": timed(
                    lambda: subprocess.run([sys.executable, "-c", code], check=True), n_runs // 4
                ),
                "library": timed(lambda: list_tensors(folder), n_runs),
            },
        }


def list_tensors(folder: Path) -> None:
    """Read the same names and shapes by the library."""
    from safetensors import safe_open  # noqa: PLC0415  the other measurements do without

    with safe_open(folder / "adapter_model.safetensors", "numpy") as file:
        for name in file.keys():  # noqa: SIM118  it is no dictionary
            file.get_slice(name).get_shape()


def row(measured: dict[str, object]) -> str:
    """Draw a row of results.md."""
    times = measured["times"]
    assert isinstance(times, dict)
    cells = [time.strftime("%Y-%m-%d"), f"{os.cpu_count()} {platform.machine()} cores"]
    cells += [str(measured[what]) for what in ("base", "rank", "tensors", "weights")]
    cells += [f"{median:.1f} ({shortest:.1f})" for median, shortest in times.values()]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the judging of adapters.")
    parser.add_argument("--runs", type=int, default=40, metavar="N", help="(%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    arguments = parser.parse_args()
    measured = [measure(case, max(4, arguments.runs)) for case in CASES]
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for one in measured:
        print(row(one))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
