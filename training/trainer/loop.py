"""The supervised loop, for a base from nothing and for an adapter alike.

A step is one move of the weights. It may take several passes, and be shared by several processes:
the loss is the mean over all labelled rows of the step, however it is cut up. The same seed gives
the same weights, also after a stop, on one kind of machine.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from training.errors import TrainingError
from training.samples.batches import Batch
from training.trainer.checkpoint import (
    Counters,
    check_fingerprint,
    load_checkpoint,
    read_counters,
    save_checkpoint,
)
from training.trainer.distributed import Processes
from training.trainer.learning_rates import Rates
from training.trainer.progress import Progress
from training.trainer.steps import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long a run goes on, how it moves, and where it is kept.

    Attributes:
        checkpoint: folder of what resumes the run.
        fingerprint: digest of what a resumed run must share, see ``Counters``.
        total_pairs: sentence pairs after which it has ended.
        rates: learning rates.
        clip: the norm that gradients are scaled down to.
        seed: of what is dropped out.
        checkpoint_steps: steps between two checkpoints.
        stop_after_steps: pause after so many steps from now.
        begin_with: checkpoint of another run of the same network: this one begins with its weights
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
    """What a step was: a line of the run's record.

    Attributes:
        step: from 1; likewise ``pairs`` and ``rows`` used with it.
        loss: mean over its labelled rows, before the move.
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
    """One owner of network, optimiser and counters."""

    def __init__(
        self,
        plan: Plan,
        network: PreTrainedModel,
        make_optimizer: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer],
        loss: Callable[[nn.Module, Batch], Tensor],
        processes: Processes,
    ) -> None:
        """Take up the run where its checkpoint left it.

        Args:
            plan: the run.
            network: on the device of this process, in training mode.
            make_optimizer: makes one of the parameters that are trained.
            loss: runs a batch through the network; mean over its labelled rows.
            processes: the processes.

        Raises:
            UsageError: the checkpoint is of another run.
        """
        check_fingerprint(plan.checkpoint, plan.fingerprint)
        self._plan = plan
        self._loss = loss
        self._processes = processes
        self._network = processes.spread(network)
        trained = (one for one in self._network.parameters() if one.requires_grad)
        self._optimizer = make_optimizer(trained)
        own = load_checkpoint(plan.checkpoint, self._network, self._optimizer)
        if own is None and plan.begin_with is not None:
            load_checkpoint(plan.begin_with, self._network, self._optimizer)
        counters = read_counters(plan.checkpoint) or Counters()
        self._counters = replace(counters, fingerprint=plan.fingerprint)

    @property
    def step(self) -> int:
        """Steps taken."""
        return self._counters.step

    @property
    def network(self) -> nn.Module:
        """The network that is trained, as the processes have it."""
        return self._network

    def train(
        self,
        steps: Callable[[Counters], Iterator[Step]],
        record: Callable[[Moved], None] = lambda _: None,
        after_step: Callable[[Moved], bool] = lambda _: True,
    ) -> bool:
        """Take steps until the pairs are used up, saving as it goes.

        Args:
            steps: yields the steps that come behind those that were counted.
            record: called with each step, before its checkpoint: a run that is killed between the
                two takes the step again, and writes it down again.
            after_step: called after each step, and after the checkpoint where one is due; False
                ends the run.

        Returns:
            whether the run has ended; False where it only pauses.

        Raises:
            TrainingError: the loss is no number, or a checkpoint cannot be written.
        """
        plan = self._plan
        last = math.inf if plan.stop_after_steps is None else self.step + plan.stop_after_steps
        shown = self._processes.rank == 0
        with Progress(plan.total_pairs, self._counters.pairs, shown=shown) as progress:
            for step in steps(self._counters):
                if self._counters.pairs >= plan.total_pairs:
                    break
                moved = self._move(step)
                progress.advance(pairs=round(step.n_pairs), rows=step.n_rows, loss=moved.loss)
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
        """Move the weights by one step, or by nothing where that would spoil them."""
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
        """Add up gradients pass by pass; yield what each adds to the loss."""
        for index, one in enumerate(step.passes):
            # From the place in the run: a resumed run drops out what an unbroken one does.
            place = (self._plan.seed, self.step, self._processes.rank, index)
            torch.manual_seed(hash(place) & 0x7FFFFFFF)
            batch = one.batch.to(self._processes.device)
            last = index == len(step.passes) - 1
            with self._processes.gathering(self._network, last=last):
                loss = self._loss(self._network, batch) * one.share
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
