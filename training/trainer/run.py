"""One run, whatever is trained: steps, their record, dev sets, checkpoints and the result.

Files in the run folder:

* ``checkpoint``: state to resume from, to the very sample. The same command resumes a run that was
  killed, on any number of processes.
* ``steps.jsonl``: a line for every step; ``dev.jsonl``: a line for every decoding of the dev sets.
  A decoding of step 0 is of the start, which is no result of the run.
"""

import json
import logging
import math
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from safetensors import SafetensorError
from torch import nn

from training.data.corpus import SentencePair, read_pairs
from training.errors import TrainingError
from training.evaluation.scores import Scores, score
from training.settings import DevSettings, TrainSettings
from training.trainer.checkpoint import Counters, check_fingerprint, read_counters, replacing_folder
from training.trainer.loop import (
    Moved,
    StepRecord,
    Task,
    Trainer,
    Translate,
    Write,
    keep_lines,
)
from training.trainer.processes import Processes


@dataclass(frozen=True, slots=True, kw_only=True)
class DevScore:
    """Scores of a step on a dev set under one policy.

    Attributes:
        bleu, chrf: 0 to 100.
        laal: in source words; None if nothing was written.
    """

    language: str
    policy: str
    bleu: float
    laal: float | None
    lines: int
    signature: str
    chrf: float = 0.0

    @classmethod
    def of(cls, scores: Scores, language: str) -> "DevScore":
        return cls(
            language=language,
            policy=scores.policy,
            bleu=scores.quality.bleu,
            laal=None if scores.laggings is None else scores.laggings.laal,
            lines=scores.n_sentences,
            signature=scores.quality.bleu_signature,
            chrf=scores.quality.chrf,
        )


def best_bleu(scores: Sequence[DevScore], max_laal: float) -> float:
    """Return the best BLEU among the policies of at most ``max_laal``; 0 sets no limit.

    BLEU and LAAL are means over languages. The result is -inf if every policy lags more or writes
    nothing.
    """
    best = -math.inf
    for policy in dict.fromkeys(one.policy for one in scores):
        own = [one for one in scores if one.policy == policy]
        laggings = [one.laal for one in own if one.laal is not None]
        if len(laggings) == len(own) and (not max_laal or statistics.fmean(laggings) <= max_laal):
            best = max(best, statistics.fmean(one.bleu for one in own))
    return best


class DevWatch:
    """Decodes dev sets, and remembers the start and the best step.

    Attributes:
        scores: of the best step; of the start while none is better.
        is_better: whether a step was better than those before it.
        reason: why the run must end; empty while it may go on.
    """

    def __init__(
        self,
        out: Path,
        settings: DevSettings,
        last_step: int,
        value: Callable[[Sequence[DevScore]], float],
        max_fall: float | None = None,
        harm: Callable[[Mapping[str, float]], str] | None = None,
    ) -> None:
        """Read the dev sets, and the decodings of the run up to its checkpoint.

        Args:
            last_step: of the checkpoint; lines of later steps are dropped.
            value: of the scores of a step; the best step has the highest.
            max_fall: chrF points under the start at which the run ends; None where the start is not
                decoded.
            harm: why a run must end after a step of such values, or nothing.
        """
        self._path = out / "dev.jsonl"
        self._settings = settings
        self._sets = read_sets(settings)
        self._value = value
        self._max_fall = max_fall
        self._harm = harm
        self._start: Sequence[DevScore] = ()
        self._best = -math.inf
        self._n_worse = 0
        self.scores: tuple[DevScore, ...] = ()
        self.is_better = False
        self.reason = ""
        for line in keep_lines(self._path, last_step):
            scores = cast("list[dict[str, str]]", line["scores"])
            self._take(cast("int", line["step"]), [DevScore(**one) for one in scores])  # type: ignore[arg-type]

        for line in keep_lines(out / "steps.jsonl", last_step) if harm else ():
            self.note(cast("dict[str, float]", line))

    def note(self, values: Mapping[str, float]) -> None:
        """Note the values of a step, which may end the run."""
        if self._harm is not None:
            self.reason = self._harm(values) or self.reason

    def is_due(self, step: int) -> bool:
        """Return whether to decode a step, or the start, step 0, which is decoded once."""
        if step == 0 and (self._max_fall is None or self._start):
            return False
        return bool(self._sets) and step % self._settings.every_steps == 0

    def look(
        self, step: int, translate: Translate, processes: Processes
    ) -> tuple[list[DevScore], bool]:
        """Decode, and write the line.

        Returns:
            the scores, and whether they are the best so far.
        """
        try:
            scores = list(decode(self._sets, self._settings.policies, translate, processes))
            if processes.rank == 0:
                line = json.dumps({"step": step, "scores": [asdict(one) for one in scores]})
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
        except OSError as error:
            msg = (
                f"the dev set of step {step} cannot be logged ({error.strerror or error}): make "
                "room and run again, the checkpoint is kept"
            )
            raise TrainingError(msg) from error
        return scores, self._take(step, scores)

    def _take(self, step: int, scores: Sequence[DevScore]) -> bool:
        value = self._value(scores)
        if step == 0:
            self._start, self.scores, self._best = scores, tuple(scores), value
            return False
        if self._start and self._max_fall is not None:
            before, now = (statistics.fmean(o.chrf for o in each) for each in (self._start, scores))
            if now < before - self._max_fall:
                self.reason = f"chrF fell from {before:.1f} at the start to {now:.1f}"
        is_best = not self.reason and (value > self._best or not self.scores)
        self._n_worse = 0 if is_best else self._n_worse + 1
        if is_best:
            self._best, self.scores, self.is_better = value, tuple(scores), True
        elif 0 < self._settings.patience <= self._n_worse:
            self.reason = self.reason or "no better step came"
        return is_best


def read_sets(settings: DevSettings) -> dict[str, list[SentencePair]]:
    return {
        language: list(read_pairs(paths))[: settings.limit or None]
        for language, paths in settings.sets.items()
    }


def decode(
    sets: Mapping[str, Sequence[SentencePair]],
    policies: Sequence[str],
    translate: Translate,
    processes: Processes,
) -> Iterator[DevScore]:
    """Translate every set under every policy; each process takes a share of the lines.

    If each process holds only a part of the network, all processes translate every line together.
    """
    together = processes.shards
    rank, n = (0, 1) if together else (processes.rank, processes.n_processes)
    for language, pairs in sets.items():
        own = {number: pairs[number].source for number in range(rank, len(pairs), n)}
        for policy in policies:
            found = translate(own, language, policy)
            translations = found if together else processes.collect(found)
            translations.sort(key=lambda translation: translation.index)
            references = [pairs[one.index].target for one in translations]
            yield DevScore.of(score(policy, "slots", translations, references, language), language)


_log = logging.getLogger(__name__)


def open_watch(
    settings: TrainSettings,
    fingerprint: str,
    value: Callable[[Sequence[DevScore]], float] = lambda _: -math.inf,
    max_fall: float | None = None,
    harm: Callable[[Mapping[str, float]], str] | None = None,
) -> DevWatch:
    """Read what was decoded up to the checkpoint, which must be of this run; see ``DevWatch``."""
    checkpoint = settings.out / "checkpoint"
    check_fingerprint(checkpoint, fingerprint)
    step = (read_counters(checkpoint) or Counters()).step
    watch = DevWatch(settings.out, settings.dev, step, value, max_fall, harm)
    if watch.reason:
        _log.info("%s has ended: %s", settings.out, watch.reason)
    return watch


class Run:
    """One run: owner of the trainer, writer of the result."""

    def __init__(
        self, task: Task, settings: TrainSettings, processes: Processes, watch: DevWatch
    ) -> None:
        self._task, self._settings = task, settings
        self._processes, self._watch = processes, watch
        if task.result is not None and processes.rank == 0:
            _try_to_save(settings.out, task.result.gather(task.network))
        self._trainer = Trainer(task, settings, processes)

    @property
    def network(self) -> nn.Module:
        return self._trainer.network

    def train(self) -> bool:
        """Take steps, decode the dev sets on the way, and write the result.

        Returns:
            True if the run has ended, False if it only pauses.
        """
        settings, watch = self._settings, self._watch
        self._look(0)
        with (
            nullcontext()
            if self._processes.rank
            else closing(StepRecord(settings.out / "steps.jsonl", self._trainer.step))
        ) as record:

            def write(moved: Moved) -> None:
                if record is not None:
                    record.write(moved, self._task.values())

            def after_step(moved: Moved) -> bool:
                self._look(moved.step)
                watch.note(self._task.values())
                return not watch.reason

            ended = self._trainer.train(write, after_step)
        if watch.reason:
            _log.warning("the run ends: %s", watch.reason)
        if ended and not (settings.dev.sets and watch.scores):
            self._save()
        elif ended and not watch.is_better:
            _log.warning("no step was better than the start: nothing was written")
        self._processes.wait()
        return ended

    def _look(self, step: int) -> None:
        if self._task.result is None or not self._watch.is_due(step):
            return
        _, is_best = self._watch.look(step, self._task.result.translate, self._processes)
        if is_best:
            self._save()

    def _save(self) -> None:
        result = self._task.result
        if result is None:
            return
        write = result.gather(self.network)
        if self._processes.rank == 0:
            _save_result(self._settings.out / result.name, write)
        self._processes.wait()


def _save_result(folder: Path, write: Write) -> None:
    """Replace a folder; the old one is kept if it cannot be written."""
    try:
        with replacing_folder(folder) as fresh:
            write(fresh)
    except (OSError, SafetensorError) as error:
        msg = (
            f"{folder} cannot be written ({error}): make room and run again, the checkpoint is kept"
        )
        raise TrainingError(msg) from error


def _try_to_save(out: Path, write: Write) -> None:
    """Write the untrained result and delete it: if writing cannot work, it fails now."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out) as folder:
            write(Path(folder))
    except (OSError, SafetensorError) as error:
        msg = f"the result cannot be written to {out} ({error}): make room or choose another"
        raise TrainingError(msg) from error
