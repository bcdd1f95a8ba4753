"""Write a run as SimulEval 1.1.4 logs one, so that ``simuleval --score-only`` can score it.

The folder gets ``instances.log``, a JSON object for each source line, and ``config.yaml``, which
declares both sides as text. ``elapsed`` follows SimulEval's convention for speech, in source words
(``engine.metrics.real_time.simuleval_delays``): SimulEval itself times no text.

When it reads a log, SimulEval ignores that it is of text and computes ATD as for speech: with
source tokens of 300 units and target tokens that take no time. Its other scores are those of text.
"""

import json
from pathlib import Path

from engine.metrics.real_time import simuleval_delays
from training.data.corpus import write_lines
from training.errors import UsageError
from training.evaluation.runs import Sentence, read_run


def convert_run(run: Path, policy: str, folder: Path) -> None:
    """Write the translations of a run of ``evaluate`` under a policy.

    Args:
        run: the run folder.
        policy: of its ``summary.json``.
        folder: created if missing; files of the same names are replaced.

    Raises:
        CorpusError: a file cannot be written.
        TrainingError: the run cannot be read.
        UsageError: it has no such policy.
    """
    policies = read_run(run).policies
    if policy not in policies:
        msg = f"{run} holds no run of {policy!r}: choose one of {', '.join(policies)}"
        raise UsageError(msg)
    write_lines(folder / "config.yaml", ["source_type: text", "target_type: text"])
    rows = map(_instance, policies[policy].sentences)
    write_lines(folder / "instances.log", [json.dumps(row, ensure_ascii=False) for row in rows])


def _instance(sentence: Sentence) -> dict[str, object]:
    translation = sentence.translation
    return {
        "index": translation.index,
        "prediction": translation.hypothesis,
        "delays": translation.delays,
        "elapsed": [round(value, 6) for value in simuleval_delays(translation)],
        "prediction_length": len(translation.delays),
        "reference": sentence.reference,
        "source": " ".join(translation.source),
        "source_length": len(translation.source),
    }
