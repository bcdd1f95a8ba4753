"""Decode dev sets while training, keep the best step, and stop when no better step comes.

The measure is the best BLEU among the policies within the allowed lagging, decoded as captions will
be: by the engine's own translator with the layout of the method. Each decoding is a line of
``dev.jsonl``; a resumed run reads them.
"""

import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from engine.metrics.translation import Translation
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.factory import make_system
from engine.translation.feed import translate_lines
from training.data.corpus import SentencePair, read_pairs
from training.errors import TrainingError
from training.evaluation.scores import Scores, score
from training.evaluation.workers import CAPACITY
from training.settings import DevSettings
from training.trainer.distributed import Processes
from training.trainer.step_log import keep_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class DevScore:
    """Scores of a step on a dev set under one policy.

    Attributes:
        bleu, chrf: 0 to 100.
        laal: in source words; None if nothing was written.
        lines: of the dev set.
        signature: of sacreBLEU.
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
        """Select the scores that count."""
        return cls(
            language=language,
            policy=scores.policy,
            bleu=scores.quality.bleu,
            laal=None if scores.laggings is None else scores.laggings.laal,
            lines=scores.n_sentences,
            signature=scores.quality.bleu_signature,
            chrf=scores.quality.chrf,
        )


def measure(scores: Sequence[DevScore], max_laal: float) -> float:
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


class EarlyStopping:
    """Decodes dev sets, and keeps the scores of the best step."""

    def __init__(self, path: Path, settings: DevSettings, last_step: int) -> None:
        """Read the dev sets, and the decodings of the run up to its checkpoint.

        Raises:
            CorpusError: a dev set cannot be read.
        """
        self._path = path
        self._settings = settings
        self._sets = read_sets(settings)
        self.scores: tuple[DevScore, ...] = ()  # of the best step
        self._best = -math.inf
        self._n_worse = 0
        for line in keep_lines(path, last_step):
            scores = cast("list[dict[str, str]]", line["scores"])
            self._take([DevScore(**one) for one in scores])  # type: ignore[arg-type]

    @property
    def over(self) -> bool:
        """Whether the run has waited long enough for a better step."""
        return 0 < self._settings.patience <= self._n_worse

    def is_due(self, step: int) -> bool:
        """Return whether to decode a step."""
        return bool(self._sets) and step % self._settings.every_steps == 0

    def look(
        self, step: int, weights: TorchWeights, layout: LayoutSettings, processes: Processes
    ) -> tuple[list[DevScore], bool]:
        """Decode, and write the line.

        Returns:
            the scores, and whether they are the best so far.

        Raises:
            TrainingError: the line, or the log of the translator, cannot be written.
        """
        try:
            scores = list(decode(self._sets, self._settings.policies, weights, layout, processes))
            if processes.rank == 0:
                self._write(step, scores)
        except OSError as error:
            msg = (
                f"the dev set of step {step} cannot be logged ({error.strerror or error}): make "
                "room and run again, the checkpoint is kept"
            )
            raise TrainingError(msg) from error
        return scores, self._take(scores)

    def _take(self, scores: Sequence[DevScore]) -> bool:
        value = measure(scores, self._settings.max_laal)
        is_best = value > self._best or not self.scores
        self._n_worse = 0 if is_best else self._n_worse + 1
        if is_best:
            self._best, self.scores = value, tuple(scores)
        return is_best

    def _write(self, step: int, scores: Sequence[DevScore]) -> None:
        line = json.dumps({"step": step, "scores": [asdict(one) for one in scores]})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def read_sets(settings: DevSettings) -> dict[str, list[SentencePair]]:
    """Read the dev sets, by target language.

    Raises:
        CorpusError: one cannot be read.
    """
    return {
        language: list(read_pairs(paths))[: settings.limit or None]
        for language, paths in settings.sets.items()
    }


def decode(
    sets: Mapping[str, Sequence[SentencePair]],
    policies: Sequence[str],
    weights: TorchWeights,
    layout: LayoutSettings,
    processes: Processes,
) -> Iterator[DevScore]:
    """Translate every set under every policy; each process takes a share of the lines.

    If each process holds only a part of the network, all processes translate every line together.
    """
    weights.network.eval()  # type: ignore[no-untyped-call]
    together = processes.shards
    rank, n = (0, 1) if together else (processes.rank, processes.n_processes)
    for language, pairs in sets.items():
        for policy in policies:
            settings = TranslationSettings(
                target_language=language, policy=policy, layout=layout, cut_loops=False
            )
            own = _translate(weights, settings, pairs, range(rank, len(pairs), n))
            translations = own if together else processes.collect(own)
            translations.sort(key=lambda translation: translation.index)
            references = [pair.target for pair in pairs]
            scores = score(policy, "slots", translations, references, language)
            yield DevScore.of(scores, language)
    weights.network.train()


def _translate(
    weights: TorchWeights,
    settings: TranslationSettings,
    pairs: Sequence[SentencePair],
    indices: Sequence[int],
) -> list[Translation]:
    """Translate some lines as ``evaluate`` does."""
    lines = [(index, pairs[index].source) for index in indices]
    return list(
        translate_lines(
            lambda log: make_system("slots", weights, settings, capacity=CAPACITY, log=log), lines
        )
    )
