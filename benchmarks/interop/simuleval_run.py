"""Run SimulEval as its command does, and write down what it then only prints rounded.

    .venv-simuleval/bin/python benchmarks/interop/simuleval_run.py OUT.json [ARGUMENTS...]

OUT.json has ``scores`` by SimulEval's names, and ``instances``, the rows it writes into its log.
Not given ``--output``, SimulEval scores what it ran, as text; else what it read back from its log,
which it takes for a log of speech.
"""

import json
import sys
from pathlib import Path

from simuleval.evaluator import build_evaluator
from simuleval.utils.agent import build_system_args


def main() -> None:
    out = Path(sys.argv.pop(1))
    system, arguments = build_system_args()
    evaluator = build_evaluator(arguments)
    evaluator(system)
    instances = evaluator.instances
    scorers = {**evaluator.quality_scorers, **evaluator.latency_scorers}
    content = {
        "scores": {name: scorer(instances) for name, scorer in scorers.items()},
        "instances": [instance.summarize() for instance in instances.values()],
    }
    out.write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    main()
