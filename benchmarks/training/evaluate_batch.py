"""Translate the same lines one by one and side by side, in one run: the cost of ``evaluate``.

* one by one: as ``surtitle-train evaluate`` does without ``--batch``: by ONNX Runtime where the
  model carries a graph, and by torch.
* side by side: ``--batch N``, by torch.

Seconds are of this process's processor time, in one thread, with loading and the replay of logs
left out. *same* counts the hypotheses that are those of torch one by one.
"""

import argparse
import json
import platform
import tempfile
import time
from pathlib import Path

import torch

from engine.runtime.loader import load_by_torch, load_weights
from engine.settings import TranslationSettings
from training.evaluation import workers
from training.evaluation.model_choice import find_model, measured_model
from training.evaluation.run_record import RunSettings
from training.evaluation.workers import Job, read_translations

SENTENCES = Path(__file__).parents[1] / "sentences.en"
COLUMNS = ("machine", "policy", "system", "lines", "s", "ms a line", "times faster", "same")


def measure(settings: RunSettings, jobs: list[Job], *, by_torch: bool) -> tuple[float, list[str]]:
    """Return seconds of the processor and the hypotheses."""
    torch.set_num_threads(1)
    (settings.out / "log").mkdir(parents=True)
    load = load_by_torch if by_torch else load_weights
    share = workers._Share(settings, tuple(jobs), 1)
    translate = workers._one_by_one if settings.batch == 1 else workers._side_by_side
    weights = load(settings.model)
    (policy,) = settings.policies
    start_s = time.process_time()
    for _ in translate(share, weights, policy, [(index, line) for _, index, line in jobs]):
        pass
    seconds = time.process_time() - start_s
    found = read_translations(settings.out, policy)
    return seconds, [found[index].hypothesis for _, index, _ in jobs]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--source", type=Path, default=SENTENCES)
    parser.add_argument("--to", default="de")
    parser.add_argument("--policies", default="read:3,wait:3")
    parser.add_argument("--batch", default="8,32", help="numbers of lines side by side")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=Path, help="JSON")
    given = parser.parse_args(arguments)
    lines = given.source.read_text(encoding="utf-8").splitlines()[: given.limit]
    model, _ = find_model(given.model, given.to)
    systems = [("one by one", 1, False), ("one by one, torch", 1, True)]
    systems += [(f"side by side, {n}", int(n), True) for n in given.batch.split(",")]
    rows = []
    for policy in given.policies.split(","):
        jobs: list[Job] = [(policy, index, line) for index, line in enumerate(lines)]
        seconds, hypotheses = {}, {}
        for name, batch, by_torch in systems:
            with tempfile.TemporaryDirectory() as folder:
                settings = RunSettings(
                    source=given.source,
                    reference=given.source,
                    model=measured_model(model, None, "cpu"),
                    translation=TranslationSettings(target_language=given.to, cut_loops=False),
                    policies=(policy,),
                    out=Path(folder),
                    batch=batch,
                )
                seconds[name], hypotheses[name] = measure(settings, jobs, by_torch=by_torch)
        alone = hypotheses["one by one, torch"]
        for name, spent in seconds.items():
            same = sum(a == b for a, b in zip(hypotheses[name], alone, strict=True))
            rows.append(
                {
                    "machine": f"{platform.machine()}, one thread",
                    "policy": policy,
                    "system": name,
                    "lines": len(lines),
                    "s": round(spent, 2),
                    "ms a line": round(1000 * spent / len(lines), 1),
                    "times faster": round(seconds["one by one"] / spent, 2),
                    "same": f"{same} of {len(lines)}",
                }
            )
    print("|".join(["", *COLUMNS, ""]))
    print("|---" * len(COLUMNS) + "|")
    for row in rows:
        print("| " + " | ".join(str(row[name]) for name in COLUMNS) + " |")
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
