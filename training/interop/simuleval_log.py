"""Write a run as SimulEval 1.1.4 logs one, so that ``simuleval --score-only`` can score it.

The folder gets ``instances.log``, a JSON object for each source line, and ``config.yaml``, which
says that both sides are text. ``elapsed`` is by SimulEval's convention for speech, in source words
(``engine.metrics.real_time.simuleval_delays``): SimulEval itself times no text.

Reading a log back, SimulEval forgets that it is of text, and computes ATD as of speech: with source
tokens of 300 units and target tokens that take no time. Its other scores are those of text.
"""

import json
from pathlib import Path

from engine.metrics.real_time import simuleval_delays
from training.data.corpus import replacing
from training.errors import UsageError
from training.evaluation.runs import Sentence, read_run


def convert_run(run: Path, policy: str, folder: Path) -> None:
    """Write what a run of ``evaluate`` did under a policy.

    Args:
        run: the run folder.
        policy: as its ``summary.json`` names it.
        folder: is made if need be; files of the same names are replaced.

    Raises:
        CorpusError: a file cannot be written.
        TrainingError: the run cannot be read.
        UsageError: it has no such policy.
    """
    policies = read_run(run).policies
    if policy not in policies:
        msg = f"{run} holds no run of {policy!r}: choose one of {', '.join(policies)}"
        raise UsageError(msg)
    with replacing(folder / "config.yaml") as partial:
        partial.write_text("source_type: text\ntarget_type: text\n", encoding="utf-8")
    rows = (json.dumps(_instance(one), ensure_ascii=False) for one in policies[policy].sentences)
    with replacing(folder / "instances.log") as partial:
        partial.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


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
