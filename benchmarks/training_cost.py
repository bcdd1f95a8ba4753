"""What each method's training costs on the same pairs: rows, and time of both passes.

    .venv/bin/python -m benchmarks.training_cost --data de=data/en-de.aligned.tsv

All methods train a copy of the same base in turn, step by step, so that what else the machine does
hits them alike. README.md tells how to read the table.
"""

import argparse
import copy
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import load_torch
from engine.settings import ModelSettings
from engine.text.prompt import make_prompt
from training.errors import TrainingError
from training.evaluation.model_choice import find_model
from training.settings import Mixture
from training.trainer.samples.batches import pack
from training.trainer.samples.loss import ForwardLoss, Markers
from training.trainer.samples.methods import METHODS
from training.trainer.samples.pairs import tokenize
from training.trainer.samples.stream import Packed, Stream

NAMES = ("causal", "exposst", "conversational", "gpe", "prefix")
COLUMNS = (
    "date", "machine", "method", "pairs", "rows a pair", "seconds", "rows / causal",
    "time / causal",
)  # fmt: skip


@dataclass
class Run:
    """One method's copy of the base, its steps, and what they have cost so far."""

    name: str
    network: torch.nn.Module
    stream: Stream
    step_pairs: int
    n_rows: int = 0
    seconds: float = 0.0

    def step(self, number: int, *, counts: bool, loss_of: ForwardLoss) -> None:
        """Train one step of so many pairs, line by line; examples are built beforehand."""
        (step,) = islice(self.stream.steps(skip_pairs=number * self.step_pairs), 1)
        batches = [pack([line]) for line in step.lines]
        start = time.perf_counter()
        for batch in batches:
            loss_of(self.network, batch).backward()
        with torch.no_grad():
            for parameter in self.network.parameters():
                if parameter.grad is not None:
                    parameter.sub_(parameter.grad, alpha=1e-5)
                    parameter.grad = None
        if counts:
            self.seconds += time.perf_counter() - start
            self.n_rows += sum(batch.n_rows for batch in batches)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="Time a training step of each method.")
    parser.add_argument("--data", required=True, metavar="LANG=F.tsv", help="aligned pairs")
    parser.add_argument("--model", type=Path, metavar="DIR", help="model folder (the bundled one)")
    parser.add_argument("--steps", type=int, default=12, metavar="N", help="(%(default)s)")
    parser.add_argument("--step-pairs", type=int, default=32, metavar="N", help="(%(default)s)")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="(%(default)s)")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    language, _, path = arguments.data.partition("=")
    try:
        directory, card = find_model(arguments.model, language)
    except TrainingError as error:
        sys.exit(f"training_cost: {error}")
    weights = load_torch(ModelSettings(directory=directory, device="cpu"), card)
    prompt = make_prompt(weights.tokenizer, weights.card, language)
    needed = arguments.step_pairs * (arguments.steps + 1)
    pairs = list(islice(tokenize({language: Path(path)}, weights.tokenizer, 240), needed))
    runs = [
        Run(
            name,
            copy.deepcopy(weights.network),
            Stream(
                pairs=pairs,
                prompts={language: prompt},
                weights={},
                method=METHODS[name],
                mixture=Mixture(fixed_reads=0, aligned_reads=0, waits=1, k=(1, 3, 5, 7)),
                slot_lengths=(16,),
                arrangement=Packed(arguments.step_pairs, line_rows=512),
                seed=1,
            ),
            arguments.step_pairs,
        )
        for name in NAMES
    ]
    attention = Attention.of(weights.network)
    loss_of = ForwardLoss(markers=Markers.of(prompt), smoothing=0.0, attention=attention)
    for number in range(arguments.steps + 1):  # the first warms up and does not count
        for run in runs:
            run.step(number, counts=number > 0, loss_of=loss_of)
    print(table(runs, arguments.steps * arguments.step_pairs, arguments.threads))


def table(runs: Sequence[Run], n_pairs: int, n_threads: int) -> str:
    """Draw the rows for results.md."""
    causal = next(run for run in runs if run.name == "causal")
    machine = f"{os.cpu_count()} {platform.machine()} cores, {n_threads} threads"
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for run in runs:
        values = (
            time.strftime("%Y-%m-%d"), machine, run.name, n_pairs, f"{run.n_rows / n_pairs:.1f}",
            f"{run.seconds:.1f}", f"{run.n_rows / causal.n_rows:.2f}",
            f"{run.seconds / causal.seconds:.2f}",
        )  # fmt: skip
        lines.append("| " + " | ".join(map(str, values)) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
