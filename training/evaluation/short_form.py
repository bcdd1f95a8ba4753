"""Measure a model on a test set: translate it live, replay the logs, score, write the run folder.

Files in the run folder, for each policy:

* ``log/POLICY.N.jsonl``: the event logs, from which all else is computed; their schema is in
  ``engine.metrics.event_log``. A run that was killed resumes from them.
* ``POLICY.hyp``: the hypotheses, a line for a line of the source.
* ``POLICY.jsonl``: an object for each line, the fields of ``Translation`` and the reference.

For all policies together: ``run.json`` (the settings) and ``summary.json`` (a list of ``Scores``).
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from training.data.corpus import read_pairs, replacing, write_json, write_lines
from training.evaluation.arrivals import arrivals_of
from training.evaluation.models import convert_once
from training.evaluation.runs import RunRecord, RunSettings, write_translations
from training.evaluation.workers import Job, Line, read_translations, show_progress, translate

if TYPE_CHECKING:
    from training.evaluation.scores import Scores


def evaluate(settings: RunSettings) -> "list[Scores]":
    """Translate the lines that no log holds yet, write the files, return the scores."""
    from training.evaluation.scores import score  # noqa: PLC0415  sacreBLEU; help must not wait for it

    pairs = list(read_pairs((settings.source, settings.reference)))[: settings.limit]
    language = settings.translation.target_language
    texts = [pair.source for pair in pairs]
    arrivals = arrivals_of(settings.arrivals, [len(text.split()) for text in texts])
    convert_once(settings.model)
    system = settings.resolved.system
    RunRecord.of(settings, system).claim(settings.out)
    with replacing(settings.out / "summary.json") as summary:  # fails now if it cannot be written
        _translate(settings, list(zip(range(len(texts)), texts, arrivals, strict=True)))
        scores = list["Scores"]()
        references = [pair.target for pair in pairs]
        for policy in settings.policies:
            by_index = read_translations(settings.out, policy)
            translations = [by_index[index] for index in range(len(pairs))]
            write_lines(settings.out / f"{policy}.hyp", [each.hypothesis for each in translations])
            more = [{"reference": reference} for reference in references]
            write_translations(settings.out, policy, translations, more)
            own = score(policy, system, translations, references, language)
            scores.append(replace(own, timed=settings.batch == 1))
        write_json(summary, [each.row() for each in scores])
    return scores


def _translate(settings: RunSettings, lines: list[Line]) -> None:
    jobs = list[Job]()
    for policy in settings.policies:
        done = read_translations(settings.out, policy)
        jobs += [(policy, line) for line in lines if line[0] not in done]
    if jobs:
        total = len(lines) * len(settings.policies)
        show_progress(translate(settings, jobs), total=total, left=len(jobs), unit=" lines")
