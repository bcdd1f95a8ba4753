"""The policy gradient on the rows of sampled trajectories: one masked pass scores all decisions.

Source: SeqPO-SiMT (Xu et al. 2025), equation 3 and its gradient. A step samples with the weights it
then updates, so there is no ratio of old and new probabilities to clip.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from engine.layout.rows import IGNORE
from engine.runtime.torch.attention import Attention
from training.trainer.checkpoint import trained_parameters
from training.trainer.samples.batches import Batch
from training.trainer.samples.loss import Markers, forbid_markers, labelled_logits


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScores:
    """How the log-probabilities of decisions are computed.

    Attributes:
        markers: that are never chosen.
        attention: of the network.
        temperature: with which the decisions were sampled.
        ranked: see ``Attention.bias``.
    """

    markers: Markers
    attention: Attention
    temperature: float = 1.0
    ranked: bool = False

    def __call__(
        self, network: nn.Module, batch: Batch, weights: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """Return the log-probability of each labelled row, shape (N,), in the order of the batch.

        Args:
            network: computes them.
            batch: of trajectories.
            weights: replace parameters of the network by their names.
        """
        asked = batch.labels != IGNORE  # (B, T)
        logits = labelled_logits(network, batch, self.attention, weights or {}, ranked=self.ranked)
        logits = logits / self.temperature  # (N, V)
        allowed = forbid_markers(logits, batch.ends_writes[asked], self.markers)
        labels = batch.labels[asked]  # (N,)
        return allowed.log_softmax(-1).gather(-1, labels[:, None])[:, 0]


@dataclass(slots=True)
class PolicyLoss:
    """A loss whose gradient is that of the expected reward, held near the start by a divergence.

    Attributes:
        scores: of rows.
        divergence_price: beta of the paper.
        start: the trained parameters before the first step, by name.
        divergence: sum of log pi - log pi_start over the rows of the passes since it was set to 0;
            ``n_rows`` counts them.
    """

    scores: RowScores
    divergence_price: float
    start: Mapping[str, Tensor]
    divergence: float = field(default=0.0, init=False)
    n_rows: int = field(default=0, init=False)

    def __call__(self, network: nn.Module, batch: Batch) -> Tensor:
        """Return the mean over labelled rows of -(advantage - beta divergence) log pi.

        The factor before log pi is a constant: the gradient is that of equation 3.
        """
        own = self.scores(network, batch)  # (N,)
        with torch.no_grad():
            before = self.scores(getattr(network, "module", network), batch, self.start)
            apart = own.detach() - before  # (N,)
            weight = batch.advantages[batch.labels != IGNORE] - self.divergence_price * apart
            self.divergence += float(apart.sum())
            self.n_rows += len(apart)
        return -(weight * own).sum() / max(1, len(own))


def frozen_copy(network: nn.Module) -> dict[str, Tensor]:
    """Copy the trained parameters, by name."""
    return {name: weight.detach().clone() for name, weight in trained_parameters(network)}
