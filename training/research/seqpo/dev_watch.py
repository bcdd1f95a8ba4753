"""Dev sets while learning by reward: the best step is kept, and a run that harms is ended.

Each decoding is greedy, and a line of ``dev.jsonl``; a resumed run reads them.
"""

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

from training.errors import TrainingError
from training.evaluation.scores import score
from training.research.seqpo.rollout import Request, Rollouts
from training.research.seqpo.settings import RewardSettings
from training.trainer.distributed import Processes
from training.trainer.finetuning.early_stopping import DevScore, read_sets
from training.trainer.step_log import keep_lines


class DevWatch:
    """Decodes the dev sets and remembers the start and the best step.

    Attributes:
        scores: of the best step; of the start while none is better.
        is_better: whether a step was better than the start.
        reason: why the run must end; empty while it may go on.
    """

    def __init__(self, settings: RewardSettings, last_step: int) -> None:
        """Read the dev sets, and the decodings and steps up to the last checkpoint.

        Raises:
            CorpusError: a dev set cannot be read.
        """
        self._path = settings.out / "dev.jsonl"
        self._settings = settings
        self._sets = read_sets(settings.dev)
        self._start: tuple[DevScore, ...] = ()
        self._best = -math.inf
        self.scores: tuple[DevScore, ...] = ()
        self.is_better = False
        self.reason = ""
        for line in keep_lines(self._path, last_step):
            scores = cast("list[dict[str, str]]", line["scores"])
            self._take([DevScore(**one) for one in scores])  # type: ignore[arg-type]
        for line in keep_lines(settings.out / "steps.jsonl", last_step):
            self.note_empty(cast("float", line["empty_writes"]))

    @property
    def over(self) -> bool:
        """Whether the run must end."""
        return bool(self.reason)

    def is_due(self, step: int) -> bool:
        """Return whether to decode a step."""
        return bool(self._sets) and step % self._settings.dev.every_steps == 0

    def look(self, step: int, rollouts: Rollouts, processes: Processes) -> bool:
        """Decode, write the line, and return whether the step is the best so far.

        The start, step 0, is decoded once.

        Raises:
            TrainingError: the line cannot be written.
        """
        if not self._sets or (step == 0 and self._start):
            return False
        scores = self._decode(rollouts, processes)
        if processes.rank == 0:
            line = json.dumps({"step": step, "scores": [asdict(one) for one in scores]})
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
            except OSError as error:
                msg = f"{self._path} cannot be written ({error.strerror or error}): make room"
                raise TrainingError(msg) from error
        return self._take(scores)

    def note_empty(self, share: float) -> None:
        """Note the share of empty writes of a step."""
        most = self._settings.seqpo.max_empty
        if share > most:
            self.reason = f"{share:.0%} of the writes are empty, and {most:.0%} are the most"

    def _take(self, scores: Sequence[DevScore]) -> bool:
        value = self._value(scores)
        if not self._start:
            self._start = self.scores = tuple(scores)
            self._best = value
            return False
        before, now = (statistics.fmean(one.chrf for one in each) for each in (self._start, scores))
        if now < before - self._settings.seqpo.max_fall:
            self.reason = f"chrF fell from {before:.1f} at the start to {now:.1f}"
        is_best = not self.over and value > self._best
        if is_best:
            self._best, self.scores, self.is_better = value, tuple(scores), True
        return is_best

    def _value(self, scores: Sequence[DevScore]) -> float:
        """Return chrF less the price of lagging, mean over sets and policies."""
        price = self._settings.seqpo.lag_price
        if any(one.laal is None for one in scores):
            return -math.inf
        return statistics.fmean(one.chrf - price * (one.laal or 0.0) for one in scores)

    def _decode(self, rollouts: Rollouts, processes: Processes) -> list[DevScore]:
        """Translate every set under every policy; each process takes a share of the lines."""
        scores = []
        for language, pairs in self._sets.items():
            shares = range(processes.rank, len(pairs), processes.n_processes)
            own = [number for number in shares if pairs[number].source.split()]
            for policy in self._settings.dev.policies:
                requests = [
                    Request(source=pairs[number].source, language=language, policy=policy)
                    for number in own
                ]
                found = [one.translation for one in rollouts.sample(requests)]
                numbered = processes.collect(list(zip(own, found, strict=True)))
                numbered.sort(key=lambda one: one[0])
                references = [pairs[number].target for number, _ in numbered]
                translations = [translation for _, translation in numbered]
                scores.append(
                    DevScore.of(
                        score(policy, "slots", translations, references, language), language
                    )
                )
        return scores
