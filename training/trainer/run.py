"""One run, whatever is trained: its steps and learning rates, record, checkpoints and result.

A step updates the weights once. It may take several passes and several processes: the loss is the
mean over all labelled rows of the step, however they are divided. On one kind of machine, equal
seeds give equal weights, also after a run was stopped and resumed.

Files in the run folder:

* ``checkpoint``: state to resume from, to the very sample. The same command resumes a run that was
  killed, on any number of processes.
* ``steps.jsonl``: a line for every step; ``dev.jsonl``: see ``training.trainer.dev_watch``.
"""

import logging
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from tqdm import tqdm
from transformers import PreTrainedModel

from training.errors import TrainingError
from training.settings import Optimisation, TrainSettings
from training.trainer.checkpoint import (
    Counters,
    check_fingerprint,
    load_checkpoint,
    read_counters,
    replacing_folder,
    save_checkpoint,
)
from training.trainer.dev_watch import DevWatch, Translate, append_line, keep_lines
from training.trainer.processes import Processes
from training.trainer.stream import Batch, Step

_log = logging.getLogger(__name__)

Write: TypeAlias = Callable[[Path], None]
"""Writes a result into an empty folder."""


def learning_rate(moves: Optimisation, n_steps: float, step: int, done: float) -> float:
    """Return the rate of a step, which rises over the first steps and then falls.

    Sources: of ``root`` Vaswani et al. 2017, section 5.3, scaled so that the highest rate is the
    settings'; of ``late`` Hu et al. 2024, MiniCPM, arXiv 2404.06395, section 4: until the rate
    falls it does not depend on the length of the run, which can be prolonged.

    Args:
        moves: the highest rate, the steps in which it rises, and how it falls.
        n_steps: of the run, about.
        step: from 0.
        done: finished share of the run.
    """
    n, warm_up = step + 1, max(moves.warm_up_steps, 1)
    if moves.fall == "root":
        return moves.rate * min(n / warm_up, math.sqrt(warm_up / n))
    if moves.fall == "linear":
        rising = min(moves.warm_up_steps / max(n_steps, 1), 0.5)
        scale = done / rising if done < rising else (1 - done) / (1 - rising)
    else:
        scale = min(n / warm_up, (1 - done) / moves.decay if moves.decay else 1.0, 1.0)
    return moves.rate * max(scale, 1e-3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The part of a run that is kept.

    Attributes:
        name: of its folder in the run folder.
        gather: called in every process with the trained network; process 0 writes.
        translate: translates lines of the dev sets with the network as it is; None without such.
    """

    name: str
    gather: Callable[[nn.Module], Write]
    translate: Translate | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A finished step: a line of ``steps.jsonl``.

    Attributes:
        step: from 1; ``pairs`` and ``rows`` count the whole run up to this step.
        loss: mean over its labelled rows, before the update.
        norm: of the gradients, before they were clipped.
    """

    step: int
    pairs: int
    rows: int
    loss: float
    rate: float
    norm: float


class Run:
    """Owner of network, optimiser and counters, writer of record and result."""

    def __init__(
        self, task: Task, settings: TrainSettings, processes: Processes, watch: DevWatch
    ) -> None:
        """Resume the run from its checkpoint, if there is one."""
        self._task, self._settings = task, settings
        self._processes, self._watch = processes, watch
        if task.result is not None and processes.rank == 0:
            _try_to_save(settings.out, task.result.gather(task.network))
        self._moves = moves = settings.optimisation
        self._checkpoint = checkpoint = settings.out / "checkpoint"
        check_fingerprint(checkpoint, task.fingerprint)
        self.network: nn.Module = processes.spread(task.network)
        adamw = partial(torch.optim.AdamW, lr=moves.rate, weight_decay=moves.weight_decay)
        trained = (weight for weight in self.network.parameters() if weight.requires_grad)
        self._optimizer = (task.make_optimizer or adamw)(trained)
        own = load_checkpoint(checkpoint, self.network, self._optimizer)
        if own is None and settings.begin_with is not None:
            before = settings.begin_with / "checkpoint"
            load_checkpoint(before, self.network, self._optimizer)
        counters = read_counters(checkpoint) or Counters()
        self._counters = replace(counters, fingerprint=task.fingerprint)

    @property
    def step(self) -> int:
        return self._counters.step

    def train(self) -> bool:
        """Take steps, decode the dev sets on the way, and write the result.

        Returns:
            True if the run has ended, False if it only pauses.
        """
        watch = self._watch
        self._look(0)
        if self._processes.rank == 0:
            keep_lines(self._record, self.step)
        ended = self._take_steps()
        if watch.reason:
            _log.warning("the run ends: %s", watch.reason)
        if ended and not (self._settings.dev.sets and watch.scores):
            self._save_result()
        elif ended and not watch.is_better:
            _log.warning("no step was better than the start: nothing was written")
        self._processes.wait()
        return ended

    @property
    def _record(self) -> Path:
        return self._settings.out / "steps.jsonl"

    def _take_steps(self) -> bool:
        """Take steps until the pairs are used up; return False if the run only pauses."""
        settings, total_pairs = self._settings, self._task.total_pairs
        pause = settings.stop_after_steps
        last = math.inf if pause is None else self.step + pause
        mean_loss, n_rows = math.nan, 0  # a running mean, and rows since the start
        with tqdm(
            total=round(total_pairs),
            initial=self._counters.pairs,
            unit="pair",
            smoothing=0.05,
            mininterval=5,
            disable=self._processes.rank != 0,
        ) as bar:
            for step in self._task.steps(self._counters):
                if self._counters.pairs >= total_pairs:
                    break
                moved = self._move(step)
                last_mean = moved.loss if math.isnan(mean_loss) else mean_loss
                mean_loss, n_rows = 0.98 * last_mean + 0.02 * moved.loss, n_rows + step.n_rows
                speed = n_rows / (bar.format_dict["elapsed"] or 1e-9)
                bar.set_postfix_str(f"loss {mean_loss:.3f}, {speed:.0f} tokens/s", refresh=False)
                bar.update(round(step.n_pairs))
                values = self._task.values()
                if self._processes.rank == 0:  # a run that is killed here records the step again
                    append_line(self._record, {**asdict(moved), **values})
                if self.step == last or self.step % settings.checkpoint_steps == 0:
                    self._save()
                self._look(self.step)
                self._watch.note(values)
                if self._watch.reason:
                    break
                if self.step == last:
                    return False
        self._save()
        return True

    def _move(self, step: Step) -> Moved:
        """Update the weights once; refuse if loss or gradients are not finite."""
        counters = self._counters
        total_pairs, step_pairs = self._task.total_pairs, self._task.step_pairs
        n_steps, done = total_pairs / step_pairs, counters.pairs / total_pairs
        rate = learning_rate(self._moves, n_steps, counters.step, done)
        for group in self._optimizer.param_groups:
            group["lr"] = rate * group.get("rate_scale", 1.0)
        loss = self._processes.total(sum(self._gradients(step)))
        norm = self._processes.clip(self.network, self._moves.clip)
        if not (math.isfinite(loss) and math.isfinite(norm)):
            self._refuse(loss, rate)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._counters = replace(
            counters,
            step=counters.step + 1,
            pairs=counters.pairs + round(step.n_pairs),
            rows=counters.rows + step.n_rows,
        )
        now = self._counters
        return Moved(step=now.step, pairs=now.pairs, rows=now.rows, loss=loss, rate=rate, norm=norm)

    def _gradients(self, step: Step) -> Iterator[float]:
        """Add up gradients pass by pass; yield the share of each in the loss."""
        for index, part in enumerate(step.passes):
            # Seeded by step and pass: dropout is the same in a resumed run and an unbroken one.
            position = (self._moves.seed, self.step, self._processes.rank, index)
            torch.manual_seed(hash(position) & 0x7FFFFFFF)
            batch = part.batch.to(self._processes.device)
            last = index == len(step.passes) - 1
            with self._processes.gathering(self.network, last=last):
                loss = self._task.loss(self.network, batch) * part.share
                self._processes.backward(loss)
            yield float(loss.detach())

    def _refuse(self, loss: float, rate: float) -> None:
        kept = read_counters(self._checkpoint)
        where = f"{self._checkpoint} holds step {kept.step}" if kept else "no checkpoint was due"
        msg = (
            f"loss or gradients of step {self.step + 1} are no numbers (loss {loss}, learning rate "
            f"{rate:.2g}): the step was not taken, {where}; lower the learning rate or use fp32"
        )
        raise TrainingError(msg)

    def _save(self) -> None:
        writes = self._processes.rank == 0
        save_checkpoint(
            self._checkpoint, self.network, self._optimizer, self._counters, writes=writes
        )
        self._processes.wait()

    def _look(self, step: int) -> None:
        result = self._task.result
        if result is None or result.translate is None or not self._watch.is_due(step):
            return
        _, is_best = self._watch.look(step, result.translate, self._processes)
        if is_best:
            self._save_result()

    def _save_result(self) -> None:
        result = self._task.result
        if result is None:
            return
        write = result.gather(self.network)
        if self._processes.rank == 0:
            _write_result(self._settings.out / result.name, write)
        self._processes.wait()


def _write_result(folder: Path, write: Write) -> None:
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
