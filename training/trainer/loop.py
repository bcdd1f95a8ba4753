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
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor, nn
from tqdm import tqdm
from transformers import PreTrainedModel

from training.data.corpus import write_lines
from training.errors import TrainingError
from training.settings import Optimisation
from training.trainer.checkpoint import (
    Counters,
    check_fingerprint,
    load_checkpoint,
    read_counters,
    save_checkpoint,
)
from training.trainer.processes import Processes
from training.trainer.stream import Batch, Step


@dataclass(frozen=True, slots=True)
class LinearFall:
    """Rise linearly over the first share of the run, then fall linearly to 0."""

    peak: float
    warm_up: float

    def rate(self, step: int, done: float) -> float:  # noqa: ARG002  a share counts, not steps
        rising = done < self.warm_up
        scale = done / self.warm_up if rising else (1 - done) / (1 - self.warm_up)
        return self.peak * max(scale, 1e-3)


@dataclass(frozen=True, slots=True)
class WarmUpStableDecay:
    """Rise over the first steps, stay, and fall linearly to 0 over the last share of the run.

    A run can be prolonged before its rate falls: until then no rate depends on its length.

    Source: Hu et al. 2024, MiniCPM, arXiv 2404.06395, section 4.
    """

    peak: float
    warm_up_steps: int
    decay: float

    def rate(self, step: int, done: float) -> float:
        rising = (step + 1) / max(self.warm_up_steps, 1)
        falling = (1 - done) / self.decay if self.decay else 1.0
        return self.peak * max(min(rising, falling, 1.0), 1e-3)


@dataclass(frozen=True, slots=True)
class InverseSquareRoot:
    """Rise linearly over the first steps, then fall with the root of the steps taken.

    Source: Vaswani et al. 2017, section 5.3, scaled so that the highest rate is ``peak``.
    """

    peak: float
    warm_up_steps: int

    def rate(self, step: int, done: float) -> float:  # noqa: ARG002  steps count, not a share
        n, warm_up = step + 1, max(self.warm_up_steps, 1)
        return self.peak * min(n / warm_up, math.sqrt(warm_up / n))


Rates: TypeAlias = LinearFall | WarmUpStableDecay | InverseSquareRoot


def make_rates(settings: Optimisation, n_steps: float) -> Rates:
    """Make the rates of a run of about ``n_steps``."""
    peak, warm_up = settings.rate, settings.warm_up_steps
    if settings.fall == "root":
        return InverseSquareRoot(peak, warm_up)
    if settings.fall == "linear":
        return LinearFall(peak, min(warm_up / max(n_steps, 1), 0.5))
    return WarmUpStableDecay(peak, warm_up, settings.decay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Length, learning rates and checkpoints of a run.

    Attributes:
        checkpoint: folder from which the run is resumed.
        fingerprint: digests of the settings a resumed run must share, see ``Counters``.
        total_pairs: sentence pairs after which the run has ended.
        rates: learning rates.
        clip: the norm that gradients are scaled down to.
        seed: of dropout.
        checkpoint_steps: steps between two checkpoints.
        stop_after_steps: pause after so many steps from now.
        begin_with: checkpoint of another run of the same network: this run starts with its weights
            and its optimiser's state, and counts from 0.
    """

    checkpoint: Path
    fingerprint: str
    total_pairs: float
    rates: Rates
    clip: float
    seed: int
    checkpoint_steps: int
    stop_after_steps: int | None = None
    begin_with: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A finished step: a line of ``steps.jsonl``.

    Attributes:
        step: from 1; ``pairs`` and ``rows`` count the whole run up to this step.
        loss: mean over its labelled rows, before the update.
        rate: learning rate.
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

    def __init__(
        self,
        plan: Plan,
        network: PreTrainedModel,
        make_optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer],
        loss: Callable[[nn.Module, Batch], Tensor],
        processes: Processes,
    ) -> None:
        """Resume the run from its checkpoint, if there is one.

        Args:
            plan: the run.
            network: on the device of this process, in training mode.
            make_optimizer: makes an optimizer of the trained parameters.
            loss: runs a batch through the network; mean over its labelled rows.
            processes: of the run.
        """
        check_fingerprint(plan.checkpoint, plan.fingerprint)
        self._plan = plan
        self._loss = loss
        self._processes = processes
        self._network = processes.spread(network)
        trained = (weight for weight in self._network.parameters() if weight.requires_grad)
        self._optimizer = make_optimizer(trained)
        own = load_checkpoint(plan.checkpoint, self._network, self._optimizer)
        if own is None and plan.begin_with is not None:
            load_checkpoint(plan.begin_with, self._network, self._optimizer)
        counters = read_counters(plan.checkpoint) or Counters()
        self._counters = replace(counters, fingerprint=plan.fingerprint)

    @property
    def step(self) -> int:
        return self._counters.step

    @property
    def network(self) -> nn.Module:
        """The trained network, as ``Processes.spread`` returned it."""
        return self._network

    def train(
        self,
        steps: Callable[[Counters], Iterator[Step]],
        record: Callable[[Moved], None] = lambda _: None,
        after_step: Callable[[Moved], bool] = lambda _: True,
    ) -> bool:
        """Take steps until the pairs are used up, saving checkpoints.

        Args:
            steps: yields the steps after those of the counters.
            record: called with each step, before its checkpoint: a run that is killed between the
                two takes and records the step again.
            after_step: called after each step, and after its checkpoint, if any; False ends the
                run.

        Returns:
            True if the run has ended, False if it only pauses.
        """
        plan = self._plan
        last = math.inf if plan.stop_after_steps is None else self.step + plan.stop_after_steps
        mean_loss, n_rows = math.nan, 0  # a running mean, and rows since the start
        with tqdm(
            total=round(plan.total_pairs),
            initial=self._counters.pairs,
            unit="pair",
            smoothing=0.05,
            mininterval=5,
            disable=self._processes.rank != 0,
        ) as bar:
            for step in steps(self._counters):
                if self._counters.pairs >= plan.total_pairs:
                    break
                moved = self._move(step)
                last_mean = moved.loss if math.isnan(mean_loss) else mean_loss
                mean_loss, n_rows = 0.98 * last_mean + 0.02 * moved.loss, n_rows + step.n_rows
                speed = n_rows / (bar.format_dict["elapsed"] or 1e-9)
                bar.set_postfix_str(f"loss {mean_loss:.3f}, {speed:.0f} tokens/s", refresh=False)
                bar.update(round(step.n_pairs))
                record(moved)
                if self.step == last or self.step % plan.checkpoint_steps == 0:
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
        rate = self._plan.rates.rate(counters.step, counters.pairs / self._plan.total_pairs)
        for group in self._optimizer.param_groups:
            group["lr"] = rate * group.get("rate_scale", 1.0)
        loss = self._processes.total(sum(self._gradients(step)))
        norm = self._processes.clip(self._network, self._plan.clip)
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
        done = self._counters
        return Moved(
            step=done.step, pairs=done.pairs, rows=done.rows, loss=loss, rate=rate, norm=norm
        )

    def _gradients(self, step: Step) -> Iterator[float]:
        """Add up gradients pass by pass; yield the share of each in the loss."""
        for index, part in enumerate(step.passes):
            # Seeded by step and pass: dropout is the same in a resumed run and an unbroken one.
            position = (self._plan.seed, self.step, self._processes.rank, index)
            torch.manual_seed(hash(position) & 0x7FFFFFFF)
            batch = part.batch.to(self._processes.device)
            last = index == len(step.passes) - 1
            with self._processes.gathering(self._network, last=last):
                loss = self._loss(self._network, batch) * part.share
                self._processes.backward(loss)
            yield float(loss.detach())

    def _refuse(self, loss: float, rate: float) -> None:
        kept = read_counters(self._plan.checkpoint)
        where = (
            f"{self._plan.checkpoint} holds step {kept.step}" if kept else "no checkpoint was due"
        )
        msg = (
            f"loss or gradients of step {self.step + 1} are no numbers (loss {loss}, learning rate "
            f"{rate:.2g}): the step was not taken, {where}; lower the learning rate or use fp32"
        )
        raise TrainingError(msg)

    def _save(self) -> None:
        writes = self._processes.rank == 0
        checkpoint = self._plan.checkpoint
        save_checkpoint(checkpoint, self._network, self._optimizer, self._counters, writes=writes)
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
            path: of the file.
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
