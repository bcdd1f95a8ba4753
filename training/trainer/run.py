"""One run, whatever is trained: steps, their record, dev sets, checkpoints and the result.

Files in the run folder:

* ``checkpoint``: state to resume from, to the very sample. The same command resumes a run that was
  killed, on any number of processes.
* ``steps.jsonl``: a line for every step; ``dev.jsonl``: a line for every decoding of the dev sets.
"""

import logging
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import PreTrainedModel

from training.errors import TrainingError
from training.settings import TrainSettings
from training.trainer.checkpoint import Counters, check_fingerprint, read_counters
from training.trainer.dev_watch import DevScore, DevWatch, Translate
from training.trainer.distributed import Processes
from training.trainer.learning_rates import make_rates
from training.trainer.loop import Moved, Plan, Trainer
from training.trainer.replace_folder import replacing_folder
from training.trainer.samples.batches import Batch
from training.trainer.step_log import StepRecord
from training.trainer.steps import Step

_log = logging.getLogger(__name__)

Write: TypeAlias = Callable[[Path], None]
"""Writes a result into an empty folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The part of a run that is kept.

    Attributes:
        name: of its folder in the run folder.
        gather: called in every process with the trained network; process 0 writes.
        translate: translates lines of the dev sets with the network as it is.
    """

    name: str
    gather: Callable[[nn.Module], Write]
    translate: Translate


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The network that a run trains, and how.

    Attributes:
        fingerprint: digests by name, see ``Counters``.
        total_pairs: of the run; ``step_pairs`` in a step on average.
        network: on the device of this process, in the mode in which it is trained.
        loss: runs a batch through the network; mean over its labelled rows.
        steps: yields the steps after those of the counters.
        make_optimizer: makes an optimizer of the trained parameters; AdamW by default.
        result: adapter or model; None where the caller writes the network at the end.
        values: of the last step, for its line in ``steps.jsonl``.
    """

    fingerprint: str
    total_pairs: float
    step_pairs: float
    network: PreTrainedModel
    loss: Callable[[nn.Module, Batch], Tensor]
    steps: Callable[[Counters], Iterator[Step]]
    make_optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer] | None = None
    result: Result | None = None
    values: Callable[[], Mapping[str, float]] = dict


def open_watch(
    settings: TrainSettings,
    fingerprint: str,
    value: Callable[[Sequence[DevScore]], float] = lambda _: -math.inf,
    max_fall: float | None = None,
    harm: Callable[[Mapping[str, float]], str] | None = None,
) -> DevWatch:
    """Read what was decoded up to the checkpoint, which must be of this run; see ``DevWatch``.

    Raises:
        CorpusError: a dev set cannot be read.
        UsageError: the checkpoint is of another run.
    """
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
        """Resume the run from its checkpoint, if there is one.

        Raises:
            TrainingError: the result could not be written at the end.
            UsageError: the checkpoint is of another run.
        """
        self._task, self._settings = task, settings
        self._processes, self._watch = processes, watch
        if task.result is not None and processes.rank == 0:
            _try_to_save(settings.out, task.result.gather(task.network))
        moves = settings.optimisation
        plan = Plan(
            checkpoint=settings.out / "checkpoint",
            fingerprint=task.fingerprint,
            total_pairs=task.total_pairs,
            rates=make_rates(moves, task.total_pairs / task.step_pairs),
            clip=moves.clip,
            seed=moves.seed,
            checkpoint_steps=settings.checkpoint_steps,
            stop_after_steps=settings.stop_after_steps,
            begin_with=settings.begin_with and settings.begin_with / "checkpoint",
        )
        adamw = partial(torch.optim.AdamW, lr=moves.rate, weight_decay=moves.weight_decay)
        make_optimizer = task.make_optimizer or adamw
        self._trainer = Trainer(plan, task.network, make_optimizer, task.loss, processes)

    @property
    def network(self) -> nn.Module:
        """The network as it is trained."""
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

            ended = self._trainer.train(self._task.steps, write, after_step)
        if watch.reason:
            _log.warning("the run ends: %s", watch.reason)
        if ended and not (settings.dev.sets and watch.scores):
            self._save()
        elif ended and not watch.is_better:
            _log.warning("no step was better than the start: nothing was written")
        self._processes.wait()
        return ended

    def _look(self, step: int) -> None:
        """Decode the dev sets if it is due, and save a step that is better."""
        if self._task.result is None or not self._watch.is_due(step):
            return
        _, is_best = self._watch.look(step, self._task.result.translate, self._processes)
        if is_best:
            self._save()

    def _save(self) -> None:
        """Replace the saved result by the current weights."""
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
