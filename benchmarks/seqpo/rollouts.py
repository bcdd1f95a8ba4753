"""Measure what a step costs: sampling side by side and alone, and one pass against re-prompting.

    python -m benchmarks.seqpo.rollouts --data unseen.aligned.tsv --out DIR/rollouts.json

* *sampling*: the same requests with 1, 8, 32, ... translations side by side; *same* counts those
  whose rows are, to the last, the rows of the first system.
* *scoring*: forward and backward over the sampled translations, once as one masked pass over the
  rows of each (``slots``), once with a sample for every write, which holds all that came before it
  (``re-prompted``), as a model without slots needs it. Both score the same tokens.

Seconds are of this process's processor time, in one thread, without loading.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch

from engine.layout.rows import IGNORE, Row
from engine.runtime.loader import load_by_torch
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import LayoutSettings, ModelSettings
from engine.text.prompt import make_prompt
from training.data.aligned_pairs import read_aligned
from training.data.corpus import write_json
from training.evaluation.model_choice import find_model
from training.research.seqpo.policy_loss import PolicyLoss, RowScores, frozen_copy
from training.research.seqpo.rollout import Request, Rollouts, Trajectory
from training.trainer.samples.batches import Example
from training.trainer.samples.loss import Markers
from training.trainer.samples.stream import Lines
from training.trainer.steps import share_step

PASS_TOKENS = 4096


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print and write."""
    arguments = parse(argv)
    torch.set_num_threads(1)
    folder, _ = find_model(arguments.model, arguments.to)
    weights = load_by_torch(ModelSettings(directory=folder, device="cpu"))
    sources = [one.pair.source for one in read_aligned([arguments.data])][: arguments.sources]
    requests = [
        Request(source=source, language=arguments.to, policy="read:2", seed=f"{n} {sample}")
        for n, source in enumerate(sources)
        for sample in range(arguments.group)
    ]
    found: dict[str, object] = {"sources": len(sources), "group": arguments.group}
    found["sampling"], trajectories = sample(weights, requests, arguments.lanes)
    found["scoring"] = score(weights, trajectories, arguments.to)
    write_json(arguments.out, found)
    print(json.dumps(found, indent=1))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure what a step of seqpo costs.")
    parser.add_argument("--data", type=Path, required=True, metavar="F.tsv")
    parser.add_argument("--to", default="de", metavar="LANG")
    parser.add_argument("--model", type=Path, metavar="DIR", help="(the bundled one)")
    parser.add_argument("--out", type=Path, required=True, metavar="F.json")
    parser.add_argument("--sources", type=int, default=16, metavar="N", help="(%(default)s)")
    parser.add_argument("--group", type=int, default=8, metavar="N", help="(%(default)s)")
    parser.add_argument("--lanes", type=int, nargs="+", default=[1, 8, 32, 128], metavar="N")
    return parser.parse_args(argv)


def sample(
    weights: TorchWeights, requests: Sequence[Request], lanes: Sequence[int]
) -> tuple[list[dict[str, object]], list[Trajectory]]:
    """Sample the same requests with each number of lanes; return rows and the last sample."""
    rows: list[dict[str, object]] = []
    first = list[Trajectory]()
    sampled = list[Trajectory]()
    layout = LayoutSettings(slot_length=weights.card.slot_length)
    for n_lanes in lanes:
        rollouts = Rollouts(weights, layout, n_lanes=n_lanes, temperature=1.0)
        rollouts.sample(requests[:n_lanes])  # lanes make their translators once
        start_s = time.process_time()
        sampled = rollouts.sample(requests)
        seconds = time.process_time() - start_s
        first = first or sampled
        same = sum(a.rows == b.rows for a, b in zip(first, sampled, strict=True))
        rows.append(
            {
                "lanes": n_lanes,
                "s": round(seconds, 2),
                "rollouts a second": round(len(requests) / seconds, 2),
                "same": f"{same} of {len(requests)}",
            }
        )
    alone = float(str(rows[0]["s"]))
    return [
        {**row, "times faster": round(alone / float(str(row["s"])), 1)} for row in rows
    ], sampled


def score(
    weights: TorchWeights, trajectories: Sequence[Trajectory], language: str
) -> list[dict[str, object]]:
    """Compute the loss and its gradient, by one pass and by a sample for each write."""
    network = weights.network
    for parameter in network.parameters():
        parameter.requires_grad = True
    markers = Markers.of(make_prompt(weights.tokenizer, weights.card, language))
    scores = RowScores(markers=markers, attention=Attention.of(network))
    whole = [Example(one.rows, ends_writes=True, advantage=1.0) for one in trajectories]
    prompted = [
        Example(prompt_of(one, write), ends_writes=True, advantage=1.0)
        for one in whole
        for write in writes_of(one)
    ]
    rows = list[dict[str, object]]()
    for name, examples in (("slots", whole), ("re-prompted", prompted)):
        loss = PolicyLoss(scores, 0.0, frozen_copy(network))
        examples.sort(key=lambda one: len(one.rows))
        step = share_step(Lines([[one] for one in examples]), 0, 1, PASS_TOKENS)
        network.zero_grad()
        start_s = time.process_time()
        value = 0.0
        for part in step.passes:
            share = loss(network, part.batch) * part.share
            share.backward()
            value += float(share.detach())
        rows.append(
            {
                "system": name,
                "samples": len(examples),
                "rows": step.n_rows,
                "scored": loss.n_rows,
                "s": round(time.process_time() - start_s, 2),
                "loss": round(value, 5),
            }
        )
    network.zero_grad()
    return rows


def writes_of(one: Example) -> list[tuple[int, int]]:
    """Return the times of the first and the last scored row of each write.

    A write begins after a forward pass that read source words, so of several rows; the passes
    within a write have one row each.
    """
    n_rows = Counter(row.time for row in one.rows)
    writes = list[tuple[int, int]]()
    for newest in sorted({row.time for row in one.rows if row.label != IGNORE}):
        if n_rows[newest] > 1 or not writes:
            writes.append((newest, newest))
        else:
            writes[-1] = (writes[-1][0], newest)
    return writes


def prompt_of(one: Example, write: tuple[int, int]) -> list[Row]:
    """Return the rows up to the end of a write, of which only those of that write are scored."""
    first, last = write
    return [
        row if row.time >= first else row._replace(label=IGNORE)
        for row in one.rows
        if row.time <= last
    ]


if __name__ == "__main__":
    main()
