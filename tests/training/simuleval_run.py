"""Run SimulEval as its command does, and write down what it then only prints rounded.

    .venv-simuleval/bin/python simuleval_run.py OUT.json [ARGUMENTS OF simuleval...]

OUT.json has ``scores`` by SimulEval's names and ``instances``, the rows it writes into its log.
Not given ``--output``, SimulEval scores what it ran, as text; else what it read back from its log,
which it takes for a log of speech.
"""

import json
import sys
from pathlib import Path

from simuleval.evaluator import build_evaluator
from simuleval.utils.agent import build_system_args


def main():
    out = Path(sys.argv.pop(1))
    system, arguments = build_system_args()
    evaluator = build_evaluator(arguments)
    evaluator(system)
    scores = {**evaluator.quality, **evaluator.latency}
    instances = [instance.summarize() for instance in evaluator.instances.values()]
    out.write_text(json.dumps({"scores": scores, "instances": instances}))


if __name__ == "__main__":
    main()
