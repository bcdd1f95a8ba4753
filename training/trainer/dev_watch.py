"""Dev sets of a run: decoded on the way, so that the best step is kept and a run that harms ends.

``dev.jsonl`` has a line for every decoding; one of step 0 is of the start, which is no result of
the run. A resumed run drops the lines after its checkpoint and writes them again.
"""

import json
import logging
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias, cast

from engine.metrics.event_log import Translation
from training.data.corpus import SentencePair, read_pairs, write_lines
from training.errors import TrainingError
from training.evaluation.scores import Scores, score
from training.settings import DevSettings, TrainSettings
from training.trainer.checkpoint import Counters, check_fingerprint, read_counters
from training.trainer.processes import Processes

_log = logging.getLogger(__name__)

Sources: TypeAlias = Mapping[int, str]
"""Lines by their numbers."""

Translate: TypeAlias = Callable[[Sources, str, str], list[Translation]]
"""Translates lines into a language under a policy."""


def keep_lines(path: Path, last_step: int) -> list[dict[str, object]]:
    """Drop the lines after a step, and an incomplete last line; return the lines that are kept."""
    if not path.exists():
        return []
    kept = list[dict[str, object]]()
    texts = list[str]()
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            break  # the process was killed while it wrote this line
        if line["step"] > last_step:
            break
        kept.append(line)
        texts.append(text)
    write_lines(path, texts)
    return kept


def append_line(path: Path, line: Mapping[str, object]) -> None:
    """Add a line of JSON to a record of the run."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        msg = (
            f"{path} cannot be written ({error.strerror or error}): make room and run again, the "
            "checkpoint is kept"
        )
        raise TrainingError(msg) from error


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
        scores = list(decode(self._sets, self._settings.policies, translate, processes))
        if processes.rank == 0:
            append_line(self._path, {"step": step, "scores": [asdict(one) for one in scores]})
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
