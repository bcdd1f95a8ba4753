"""Measure a model on whole talks: translate each as one stream, cut the output, score, write.

A talk's words are fed one by one to ``engine.translation.passage.Passage``, as in the app. The
segments of the reference are not known to it: it cuts sentences by their punctuation. The output is
cut to the segments afterwards (``training.research.long_form.resegment``,
``training.research.long_form.soft_segmenter``) and scored there
(``training.research.long_form.long_scores``).

Files in the run folder, for each policy:

* ``log/POLICY.N.jsonl``: the event logs, in which a talk is a line; all else is computed from
  them. A run that was killed resumes from them, with the talk after the last whole one.
* ``POLICY.talk``: the translations, a line for a talk.
* ``POLICY.hyp``: the same cut to the reference, a line for a line of the source.
* ``POLICY.jsonl``: an object for each talk: the fields of ``Translation``, ``references`` and
  ``lengths``, the source words of each segment.

For all policies together: ``run.json`` and ``summary.json``, a list of ``LongScores``.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.metrics.event_log import EventLog
from engine.metrics.translation import Translation
from engine.words import FedWord
from training.data.corpus import replacing, write_json, write_lines
from training.evaluation.model_choice import convert_once
from training.evaluation.run_record import RunRecord, RunSettings
from training.evaluation.runs import write_translations
from training.evaluation.workers import (
    logged_system,
    next_number,
    read_translations,
    show_progress,
    warm_up,
)
from training.research.long_form.resegment import load_aligner, resegment
from training.research.long_form.soft_segmenter import soft_resegment
from training.research.long_form.talks import Talk, read_talks

if TYPE_CHECKING:
    from engine.translation.base import AnySystem
    from training.research.long_form.long_scores import LongScores

SYSTEM = "long form"
"""The system in ``run.json``, so that ``evaluate`` never resumes these runs."""


def evaluate_talks(settings: RunSettings) -> "list[LongScores]":
    """Translate the talks that no log holds yet, write the files, return the scores.

    Raises:
        CorpusError: the talks cannot be read, or the files cannot be written.
        ModelError: the model cannot be loaded.
        TrainingError: mweralign or a tokenizer of sacreBLEU is missing, a log is garbled, or the
            folder holds another run.
    """
    from engine.metrics.quality import make_bleu  # noqa: PLC0415  sacreBLEU; help must not wait for it
    from training.research.long_form.long_scores import score  # noqa: PLC0415  likewise

    talks = read_talks(settings.source, settings.reference, settings.names, settings.limit)
    language, out = settings.translation.target_language, settings.out
    load_aligner()  # a missing library is reported before the work
    make_bleu(language)
    convert_once(settings.model)
    RunRecord.of(settings, SYSTEM).claim(out)
    scores = list["LongScores"]()
    with replacing(out / "summary.json") as summary:  # fails now if it cannot be written
        _translate(settings, talks)
        for policy in settings.policies:
            by_index = read_talks_done(out, policy, talks)
            translations = [by_index[index] for index in range(len(talks))]
            write_lines(out / f"{policy}.talk", [each.hypothesis for each in translations])
            more = [{"references": talk.references, "lengths": talk.lengths} for talk in talks]
            write_translations(out, policy, translations, more)
            parts, soft_parts = (
                [
                    cut(translation.hypothesis, talk.references, language)
                    for translation, talk in zip(translations, talks, strict=True)
                ]
                for cut in (resegment, soft_resegment)
            )
            write_lines(out / f"{policy}.hyp", [part.text for own in parts for part in own])
            scores.append(score(policy, translations, talks, parts, soft_parts, language))
        write_json(summary, [each.row() for each in scores])
    return scores


def feed_talk(
    translator: "AnySystem", log: EventLog, index: int, words: Sequence[str]
) -> Iterator[int]:
    """Translate a talk live, as a line of the log; the end of the talk comes with its last word.

    Args:
        translator: with the settings to translate with; it writes into ``log`` too.
        log: gets the talk's words and their arrivals.
        index: of the talk, from 0.
        words: of the whole talk.

    Yields:
        the number of words fed, after each.
    """
    from engine.translation.passage import Passage  # noqa: PLC0415  torch; help must not wait for it

    log.write("line", index=index, words=list(words))
    passage = Passage(translator, reads_any_script=not translator.settings.reads_english)
    for n_words, word in enumerate(words, start=1):
        ended = n_words == len(words)
        log.write("arrived", n_words=n_words, ended=ended)
        passage.splice(passage.n_words, None, [FedWord(word)])
        if ended:
            passage.finish()
        while passage.advance():
            pass  # the log holds its events
        yield n_words
    log.write("line_ended", index=index)


def read_talks_done(folder: Path, policy: str, talks: Sequence[Talk]) -> dict[int, Translation]:
    """Read the talks that were translated whole, by their index.

    Talks that were made of other lines (``--limit``, ``--talks``) are ignored.
    """

    def counts(translation: Translation) -> bool:
        index = translation.index
        return index < len(talks) and translation.source == talks[index].words

    return read_translations(folder, policy, counts)


def _translate(settings: RunSettings, talks: Sequence[Talk]) -> None:
    """Translate the missing talks, under a progress bar."""
    missing = {
        policy: [index for index in range(len(talks)) if index not in done]
        for policy in settings.policies
        for done in [read_talks_done(settings.out, policy, talks)]
    }
    if any(missing.values()):
        total = len(missing) * sum(len(talk.words) for talk in talks)
        left = sum(len(talks[index].words) for indices in missing.values() for index in indices)
        show_progress(_feed(settings, talks, missing), total=total, left=left, unit=" words")


def _feed(
    settings: RunSettings, talks: Sequence[Talk], missing: Mapping[str, Sequence[int]]
) -> Iterator[str]:
    """Load the model and feed it the missing talks; yield the policy after each word."""
    import torch  # noqa: PLC0415  seconds; help must not wait for it

    from engine.runtime.loader import load_weights  # noqa: PLC0415

    torch.set_num_threads(1)  # as the workers of evaluate: times can be compared
    folder = settings.out / "log"
    folder.mkdir(exist_ok=True)
    weights = load_weights(settings.model)
    number = next_number(folder)
    for policy in filter(missing.__getitem__, missing):
        capacity = settings.model.capacity
        with logged_system(settings, weights, policy, number, capacity) as (system, log):
            system.model.run(warm_up(system, log))
            for index in missing[policy]:
                for _ in feed_talk(system, log, index, talks[index].words):
                    yield policy
