"""The supervised loop, for new bases and for adapters, its learning rates and its record.

A step updates the weights once. It may take several passes and several processes: the loss is the
mean over all labelled rows of the step, however they are divided. On one kind of machine, equal
seeds give equal weights, also after a run was stopped and resumed. ``steps.jsonl`` has a line for
every step; a resumed run drops the lines after its checkpoint and writes them again.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor, nn
from tqdm import tqdm
from transformers import PreTrainedModel

from engine.metrics.event_log import Translation
from training.data.corpus import write_lines
from training.errors import TrainingError
from training.settings import Optimisation, TrainSettings
from training.trainer.checkpoint import (
    Counters,
    check_fingerprint,
    load_checkpoint,
    read_counters,
    save_checkpoint,
)
from training.trainer.processes import Processes
from training.trainer.stream import Batch, Step


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


Sources: TypeAlias = Mapping[int, str]
"""Lines by their numbers."""

Translate: TypeAlias = Callable[[Sources, str, str], list[Translation]]
"""Translates lines into a language under a policy."""
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


class Trainer:
    """Owner of network, optimiser and counters."""

    def __init__(self, task: Task, settings: TrainSettings, processes: Processes) -> None:
        """Resume the run from its checkpoint, if there is one."""
        self._task, self._settings, self._processes = task, settings, processes
        self._moves = moves = settings.optimisation
        self._checkpoint = checkpoint = settings.out / "checkpoint"
        check_fingerprint(checkpoint, task.fingerprint)
        self._network = processes.spread(task.network)
        adamw = partial(torch.optim.AdamW, lr=moves.rate, weight_decay=moves.weight_decay)
        trained = (weight for weight in self._network.parameters() if weight.requires_grad)
        self._optimizer = (task.make_optimizer or adamw)(trained)
        own = load_checkpoint(checkpoint, self._network, self._optimizer)
        if own is None and settings.begin_with is not None:
            before = settings.begin_with / "checkpoint"
            load_checkpoint(before, self._network, self._optimizer)
        counters = read_counters(checkpoint) or Counters()
        self._counters = replace(counters, fingerprint=task.fingerprint)

    @property
    def step(self) -> int:
        return self._counters.step

    @property
    def network(self) -> nn.Module:
        return self._network

    def train(self, record: Callable[[Moved], None], after_step: Callable[[Moved], bool]) -> bool:
        """Take steps until the pairs are used up, saving checkpoints.

        Args:
            record: called with each step, before its checkpoint: a run that is killed between the
                two takes and records the step again.
            after_step: called after each step, and after its checkpoint, if any; False ends the
                run.

        Returns:
            True if the run has ended, False if it only pauses.
        """
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
                record(moved)
                if self.step == last or self.step % settings.checkpoint_steps == 0:
                    self._save()
                if not after_step(moved):
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
        norm = self._processes.clip(self._network, self._moves.clip)
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
            with self._processes.gathering(self._network, last=last):
                loss = self._task.loss(self._network, batch) * part.share
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
            self._checkpoint, self._network, self._optimizer, self._counters, writes=writes
        )
        self._processes.wait()


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


_NOTHING: Mapping[str, float] = {}


class StepRecord:
    """Writer of the steps; its owner closes it."""

    def __init__(self, path: Path, last_step: int) -> None:
        """Open the record, in order to append to it.

        Args:
            last_step: lines of later steps are dropped.
        """
        self._path = path
        try:
            keep_lines(path, last_step)
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._refusal(error) from error

    def close(self) -> None:
        self._file.close()

    def write(self, moved: Moved, more: Mapping[str, float] = _NOTHING) -> None:
        """Write a step, and more values by their names; raise TrainingError if the disk is full."""
        try:
            self._file.write(json.dumps({**asdict(moved), **more}) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> TrainingError:
        return TrainingError(
            f"{self._path} cannot be written ({error.strerror or error}): make room and run again, "
            "the checkpoint is kept"
        )
