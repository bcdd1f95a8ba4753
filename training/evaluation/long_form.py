"""Measure a model on whole talks: translate each as one stream, cut the output, score, write.

A talk's words go one by one into ``engine.translation.passage.Passage``, which the app runs too.
Nobody tells
it where the segments of the reference end: it cuts sentences by their punctuation. The output is
cut to the segments afterwards (``training.metrics.resegment``,
``training.metrics.soft_segmenter``) and scored there (``training.metrics.long_scores``).

Files in the run folder, for each policy:

* ``log/POLICY.N.jsonl``: the event logs, in which a talk is a line; all else is computed from
  them. A run that was killed goes on from them, with the talk after the last whole one.
* ``POLICY.talk``: the translations, a line for a talk.
* ``POLICY.hyp``: the same cut to the reference, a line for a line of the source.
* ``POLICY.jsonl``: an object for each talk: the fields of ``Translation``, ``references`` and
  ``lengths``, the source words of each segment.

And for all of them ``run.json`` and ``summary.json``, a list of ``LongScores``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from engine.metrics.event_log import EventLog
from engine.metrics.translation import Translation
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import WARM_UP, feed_line
from training.data.corpus import replacing, write_lines
from training.data.talks import Talk, read_talks
from training.evaluation.run_record import RunRecord, check_run
from training.evaluation.workers import next_number, read_translations
from training.metrics.resegment import load_aligner, resegment
from training.metrics.soft_segmenter import soft_resegment

if TYPE_CHECKING:
    from engine.translation.base import AnySystem
    from training.metrics.long_scores import LongScores

SYSTEM = "long form"
"""What ``run.json`` calls these runs, so that ``evaluate`` never goes on with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongFormSettings:
    """What one run translates, how, and where its files go."""

    source: Path
    reference: Path
    names: Path | None  # of the talks, see ``training.data.talks``
    model: ModelSettings
    translation: TranslationSettings  # all but the policy
    policies: tuple[str, ...]
    out: Path
    limit: int | None = None  # segments from the start of the files; None takes all

    def __post_init__(self) -> None:
        check_run(self.policies, self.limit)

    def record(self) -> RunRecord:
        """Say what decides the translations, but for the names of the talks.

        Raises:
            TrainingError: a file cannot be read.
        """
        return RunRecord.of(SYSTEM, self.model, self.translation, self.source, self.reference)


def evaluate_talks(settings: LongFormSettings) -> "list[LongScores]":
    """Translate what no log holds yet, write the files, return the scores.

    Raises:
        CorpusError: the talks cannot be read, or the files cannot be written.
        ModelError: the model cannot be loaded.
        TrainingError: mweralign or a tokenizer of sacreBLEU is missing, a log is garbled, or the
            folder holds another run.
    """
    from engine.metrics.quality import make_bleu  # noqa: PLC0415  likewise
    from training.metrics.long_scores import score  # noqa: PLC0415  sacreBLEU; help must not wait for it

    talks = read_talks(settings.source, settings.reference, settings.names, settings.limit)
    language = settings.translation.target_language
    load_aligner()  # what is missing is told before the work
    make_bleu(language)
    settings.record().claim(settings.out)
    scores = list["LongScores"]()
    with replacing(settings.out / "summary.json") as summary:  # tells now if it cannot be written
        _translate(settings, talks)
        for policy in settings.policies:
            whole = read_talks_done(settings.out, policy, talks)
            translations = [whole[index] for index in range(len(talks))]
            _write_talks(settings.out, policy, translations, talks)
            parts, soft_parts = (
                [
                    cut(translation.hypothesis, talk.references, language)
                    for translation, talk in zip(translations, talks, strict=True)
                ]
                for cut in (resegment, soft_resegment)
            )
            write_lines(
                settings.out / f"{policy}.hyp", [part.text for own in parts for part in own]
            )
            scores.append(score(policy, translations, talks, parts, soft_parts, language))
        content = json.dumps([one.row() for one in scores], indent=2)
        summary.write_text(content + "\n", encoding="utf-8")
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
    passage = Passage(translator)
    for n_words, word in enumerate(words, start=1):
        ended = n_words == len(words)
        log.write("arrived", n_words=n_words, ended=ended)
        passage.splice(n_words - 1, None, [word])
        if ended:
            passage.finish()
        while passage.advance():
            pass  # what it returns is in the log
        yield n_words
    log.write("line_ended", index=index)


def read_talks_done(folder: Path, policy: str, talks: Sequence[Talk]) -> dict[int, Translation]:
    """Find the talks that were translated whole, by their number.

    What was translated when other lines made the talk (``--limit``, ``--talks``) is passed over.

    Raises:
        TrainingError: a log is garbled.
    """
    return read_translations(
        folder,
        policy,
        lambda one: one.index < len(talks) and one.source == talks[one.index].words,
    )


def _translate(settings: LongFormSettings, talks: Sequence[Talk]) -> None:
    """Translate the talks that are missing, under a progress bar."""
    missing = {
        policy: [index for index in range(len(talks)) if index not in done]
        for policy in settings.policies
        for done in [read_talks_done(settings.out, policy, talks)]
    }
    if not any(missing.values()):
        return
    total = len(missing) * sum(len(talk.words) for talk in talks)
    to_do = sum(len(talks[index].words) for indices in missing.values() for index in indices)
    with tqdm(total=total, initial=total - to_do, unit=" words", disable=None, leave=False) as bar:
        for policy in _feed(settings, talks, missing):
            bar.set_postfix_str(policy, refresh=False)
            bar.update()


def _feed(
    settings: LongFormSettings, talks: Sequence[Talk], missing: Mapping[str, Sequence[int]]
) -> Iterator[str]:
    """Load the model and feed it the missing talks; yield the policy after each word."""
    import torch  # noqa: PLC0415  seconds; help must not wait for it

    from engine.loading.loader import load_weights  # noqa: PLC0415
    from engine.translation.factory import make_system  # noqa: PLC0415

    torch.set_num_threads(1)  # as the workers of evaluate: times can be compared
    folder = settings.out / "log"
    folder.mkdir(exist_ok=True)
    weights = load_weights(settings.model)
    number = next_number(folder)
    for policy, indices in missing.items():
        if not indices:
            continue
        with EventLog(folder / f"{policy}.{number}.jsonl") as log:
            translator = make_system(
                "slots",
                weights,
                replace(settings.translation, policy=policy),
                capacity=settings.model.capacity,
                log=log,
            )
            # The first translation pays for first use and for the system prompt.
            feed_line(translator, log, WARM_UP, "Hello.")
            for index in indices:
                for _ in feed_talk(translator, log, index, talks[index].words):
                    yield policy


def _write_talks(
    folder: Path, policy: str, translations: Sequence[Translation], talks: Sequence[Talk]
) -> None:
    write_lines(folder / f"{policy}.talk", [one.hypothesis for one in translations])
    rows = [
        {**asdict(translation), "references": talk.references, "lengths": talk.lengths}
        for translation, talk in zip(translations, talks, strict=True)
    ]
    write_lines(folder / f"{policy}.jsonl", [json.dumps(row, ensure_ascii=False) for row in rows])
