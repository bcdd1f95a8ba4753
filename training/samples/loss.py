"""Cross-entropy over the labelled rows, among the tokens the policy allows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding, pad
from transformers import PreTrainedModel

from engine.inference.attention import Attention, Bias
from engine.layout.rows import IGNORE
from engine.text.prompt import Prompt
from training.samples.batches import Batch


@dataclass(frozen=True, slots=True)
class Markers:
    """The ids that the translator never chooses.

    Attributes:
        within_target: under policies that do not end writes.
        within_writes: under policies that end writes.
    """

    within_target: tuple[int, ...]
    within_writes: tuple[int, ...]

    @classmethod
    def of(cls, prompt: Prompt) -> "Markers":
        """Return the markers of a prompt; they are the same for every language of a model."""
        target, writes = (sorted(prompt.suppressed(ends_writes=ends)) for ends in (False, True))
        return cls(tuple(target), tuple(writes))


_IMPOSSIBLE = -100.0
"""Logit of a forbidden marker: no probability, but finite, so that label smoothing is finite."""


def forbid_markers(logits: Tensor, ends_writes: Tensor, markers: Markers) -> Tensor:
    """Forbid the markers that the translator suppresses: all but the end that the policy chooses.

    Without this a model for all policies would have to guess the current policy, and read-n would
    end its writes too late.

    Args:
        logits: floating, shape (N, V); not modified.
        ends_writes: bool, shape (N,), whether the row's policy ends its writes.
        markers: the ids to forbid.

    Returns:
        at least float32, shape (N, V).
    """
    allowed = (logits if logits.dtype == torch.float64 else logits.float()).clone()
    for ids, forbidden in (
        (markers.within_target, ~ends_writes),
        (markers.within_writes, ends_writes),
    ):
        columns = list(ids)
        masked = allowed[:, columns].masked_fill(forbidden[:, None], _IMPOSSIBLE)
        allowed[:, columns] = masked
    return allowed


_CHUNK = 512
"""Labelled rows whose logits are computed together: one shape, however many rows are labelled."""

_MOST_SHAPES = 64
"""Padded lengths for which torch compiles code before it stops compiling."""


class BareLoss:
    """Loss of a bare model, computed in a working copy of its weights.

    The model keeps its weights in its own precision: float32 master weights. Every pass casts them
    to ``dtype`` and computes in ``dtype`` only; gradients flow back through the cast. This is
    faster than autocast, which casts at every product and leaves the rest in float32
    (``docs/experiments.md``). Logits are computed for labelled rows only: half of the rows are
    source.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        markers: Markers,
        smoothing: float,
        *,
        dtype: torch.dtype | None = None,
        compiled: bool = False,
    ) -> None:
        """Take a model whose parameters must stay the same objects.

        Args:
            model: bare, on its device.
            markers: that are never chosen.
            smoothing: of the labels.
            dtype: of the computation; None for the model's own.
            compiled: compile for each padded shape, half a minute each; torch caches the code.
                Worth it for runs of hours whose batches have few shapes.
        """
        model.set_attn_implementation("eager")  # torch's own has a slow backward pass on CPUs
        self._decoder: nn.Module = model.get_decoder()  # type: ignore[no-untyped-call]
        self._embeddings = cast("Tensor", model.get_input_embeddings().weight)
        self._weights: dict[str, Tensor] = {
            name: weight
            for name, weight in self._decoder.named_parameters()
            if weight is not self._embeddings
        }
        self._head: Tensor = model.get_output_embeddings().weight  # type: ignore[no-untyped-call]
        self._markers = markers
        self._smoothing = smoothing
        self._dtype = dtype or model.dtype
        self._attention = replace(Attention.of(model), dtype=self._dtype)
        self._run, self._score = self._hidden, self._chunk_loss
        if compiled:
            torch._dynamo.config.recompile_limit = _MOST_SHAPES
            self._run = torch.compile(self._hidden, dynamic=False)
            self._score = torch.compile(self._chunk_loss, dynamic=False)

    def __call__(self, _: nn.Module, batch: Batch) -> Tensor:
        """Run a batch through the model in one masked pass and score its labelled rows.

        Returns:
            mean cross-entropy with label smoothing, a float32 scalar.
        """
        hidden = self._run(batch.ids, batch.places.encoded, batch.bias(self._attention))
        asked = batch.labels != IGNORE  # (B, T)
        hidden, labels = hidden[asked], batch.labels[asked]  # (N, D), (N,)
        ends_writes = batch.ends_writes[asked]  # (N,)
        n_rows = len(labels)
        short = -n_rows % _CHUNK  # rows missing in the last chunk
        hidden = pad(hidden, (0, 0, 0, short))  # (N + short, D)
        labels, ends_writes = pad(labels, (0, short), value=IGNORE), pad(ends_writes, (0, short))
        chunks = (torch.split(rows, _CHUNK) for rows in (hidden, labels, ends_writes))
        losses = [self._score(*chunk) for chunk in zip(*chunks, strict=True)]
        return torch.stack(losses).sum() / n_rows

    def _hidden(self, ids: Tensor, positions: Tensor, bias: Bias) -> Tensor:
        """Compute the last hidden states, shape (B, T, D).

        Embeddings are looked up in the weights' own precision: gradients of ids that come hundreds
        of times a batch are summed in it.
        """
        embedded = embedding(ids, self._embeddings).to(self._dtype)  # (B, T, D)
        copy = {name: weight.to(self._dtype) for name, weight in self._weights.items()}
        inputs = {
            "inputs_embeds": embedded,
            "position_ids": positions,
            "attention_mask": bias,
            "use_cache": False,
        }
        output = torch.func.functional_call(self._decoder, copy, (), inputs)
        hidden: Tensor = output.last_hidden_state
        return hidden

    def _chunk_loss(self, hidden: Tensor, labels: Tensor, ends_writes: Tensor) -> Tensor:
        """Sum the cross-entropy of ``_CHUNK`` rows, without those that have no label."""
        logits = hidden @ self._head.to(self._dtype).T  # (N, V)
        return _score(logits, labels, ends_writes, self._markers, self._smoothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardLoss:
    """Loss of a packed batch by any causal language model, wrapped or not.

    The model's own ``forward`` is called, as wrappers for LoRA and for many processes require; it
    computes logits only in columns where some line has a label.

    Attributes:
        markers: that are never chosen.
        smoothing: of the labels.
        attention: of the model.
        ranked: see ``Attention.bias``.
        in_bf16: compute in bfloat16, with a working copy of the trained parameters.
        by_autocast: cast at every product instead, which is slower, but needed where a working copy
            cannot be passed: wrappers for many processes use their own parameters, and recomputed
            activations would use the float32 ones.
    """

    markers: Markers
    smoothing: float
    attention: Attention
    ranked: bool = False
    in_bf16: bool = False
    by_autocast: bool = False

    def __call__(self, network: nn.Module, batch: Batch) -> Tensor:
        """Return the mean cross-entropy with label smoothing over labelled rows, in float32."""
        asked = batch.labels != IGNORE  # (B, T)
        copy = dict[str, Tensor]()
        if self.in_bf16 and not self.by_autocast:
            copy = {
                name: parameter.to(torch.bfloat16)
                for name, parameter in network.named_parameters()
                if parameter.requires_grad
            }
        autocast = self.in_bf16 and self.by_autocast
        with torch.autocast(batch.ids.device.type, torch.bfloat16, enabled=autocast):
            logits = labelled_logits(network, batch, self.attention, copy, ranked=self.ranked)
        labels, ends_writes = batch.labels[asked], batch.ends_writes[asked]  # (N,)
        summed = _score(logits, labels, ends_writes, self.markers, self.smoothing)
        return summed / len(labels)


def labelled_logits(
    network: nn.Module,
    batch: Batch,
    attention: Attention,
    weights: Mapping[str, Tensor],
    *,
    ranked: bool,
) -> Tensor:
    """Compute the logits of the rows that have labels, shape (N, V), in one masked pass.

    Args:
        network: computes them.
        batch: its rows.
        attention: of the network.
        weights: replace parameters of the network by their names.
        ranked: see ``Attention.bias``.
    """
    asked = batch.labels != IGNORE  # (B, T)
    columns = asked.any(0).nonzero()[:, 0]  # (C,)
    inputs = {
        "input_ids": batch.ids,
        "position_ids": batch.places.encoded,
        "attention_mask": batch.bias(attention, ranked=ranked),
        "use_cache": False,
        "logits_to_keep": columns,
    }
    output = torch.func.functional_call(network, dict(weights), (), inputs)
    logits: Tensor = output.logits[asked[:, columns]]
    return logits


def _score(
    logits: Tensor, labels: Tensor, ends_writes: Tensor, markers: Markers, smoothing: float
) -> Tensor:
    """Sum the cross-entropy of labelled rows: logits (N, V), labels and ends_writes (N,)."""
    allowed = forbid_markers(logits, ends_writes, markers)
    return cross_entropy(allowed, labels, label_smoothing=smoothing, reduction="sum")
