"""Cross-entropy over the labelled rows, among the tokens the policy allows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, embedding, pad
from transformers import PreTrainedModel

from engine.layout.rows import IGNORE
from engine.runtime.torch.attention import Attention, Bias
from engine.text.prompt import Prompt
from engine.untrusted.file_headers import BLOCK
from training.trainer.stream import Batch


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
"""Labelled rows that are scored together: one shape, however many rows are labelled."""

_ADDED = ("o_proj", "down_proj", "dense", "dense_4h_to_h")
"""Layers of Llama and Falcon whose results are added to the hidden states."""

_ADDED_NORMED = ("post_attention_layernorm", "post_feedforward_layernorm")
"""Those of Gemma, which adds what a norm makes of these results."""

_MATRIX = 2  # dimensions

_WIDER = 4
"""Chunks of a GPU over those of a processor."""


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
            dtype: of the computation; None for the model's own.
            compiled: compile for the one shape that batches have, about a minute; torch caches the
                code. Worth it for runs of hours.
        """
        # torch's own attention has a slow backward pass on CPUs
        model.set_attn_implementation("sdpa" if model.device.type == "cuda" else "eager")
        self._decoder: nn.Module = model.get_decoder()  # type: ignore[no-untyped-call]
        table = model.get_input_embeddings()
        self._embeddings = cast("Tensor", table.weight)
        self._scale = float(getattr(table, "scalar_embed_scale", 1.0))  # Gemma's table multiplies
        self._weights: dict[str, Tensor] = {
            name: weight
            for name, weight in self._decoder.named_parameters()
            if weight is not self._embeddings
        }
        self._head: Tensor = model.get_output_embeddings().weight  # type: ignore[no-untyped-call]
        self._smoothing = smoothing
        self._dropout = 0.0
        allowed = torch.ones(2, len(self._head), device=model.device)
        allowed[0, list(markers.within_writes)] = 0
        allowed[1, list(markers.within_target)] = 0
        self._allowed = allowed[0], allowed[1]  # where a write ends, and where it does not
        self._dtype = dtype or model.dtype
        self._rounded = False
        self._attention = replace(Attention.of(model), dtype=self._dtype)
        self._run, self._score = self._hidden, self._smoothed
        if compiled:
            self._run = torch.compile(self._hidden, dynamic=False)
            self._score = torch.compile(self._smoothed, dynamic=False)

    def use_dropout(self, share: float) -> None:
        """Leave out a share of the embeddings and of what layers add to the hidden states.

        Only while the model is in training mode. To be called once, before the first batch.
        """
        self._dropout = share
        layers = {name: layer for name, layer in self._decoder.named_modules() if share}
        kinds = {name.rpartition(".")[2] for name in layers}
        added = _ADDED_NORMED if kinds.issuperset(_ADDED_NORMED) else _ADDED
        for name, layer in layers.items():
            if name.rpartition(".")[2] in added:
                layer.register_forward_hook(lambda _, __, added: self._drop(added))

    def use_4_bits(self) -> None:
        """Compute with the matrices of layers as 4 bits keep them: weights that lose little by it.

        Gradients are those of the whole numbers. To be called before the first batch. Source:
        Bengio et al. 2013, arXiv 1308.3432 (straight-through estimator).
        """
        self._rounded = True

    def __call__(self, _: nn.Module, batch: Batch) -> Tensor:
        """Run a batch through the model in one masked pass and score its labelled rows.

        Returns:
            mean cross-entropy with label smoothing, a float32 scalar.
        """
        hidden = self._run(batch.ids, batch.places.encoded, batch.bias(self._attention))
        asked = batch.labels != IGNORE  # (B, T)
        scored = batch.labels[asked], batch.ends_writes[asked]  # (N,)
        loss = _HeadLoss.apply(hidden[asked], self._head, *scored, self._score_rows)  # type: ignore[no-untyped-call]
        return cast("Tensor", loss)

    def _score_rows(
        self, logits: Tensor, labels: Tensor, ends_writes: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Score rows chunk by chunk: the sum of their losses, and its gradient in place of logits.

        Args:
            logits: shape (N, V), N a multiple of the chunk.
            labels: shape (M,); the rows from M on are padding.
            ends_writes: bool, shape (N,).
        """
        rows = torch.arange(len(labels), device=labels.device)
        sure = 1 - self._smoothing
        of_labels = logits[rows, labels]  # (M,)
        losses = list[Tensor]()
        size = _chunk_of(logits)
        for start in range(0, len(logits), size):
            chunk = slice(start, start + size)
            loss, logits[chunk] = self._score(logits[chunk], ends_writes[chunk])
            losses.append(loss)
        logits[rows, labels] -= sure
        logits[len(labels) :] = 0
        return (torch.cat(losses)[: len(labels)] - sure * of_labels).sum(), logits

    def _hidden(self, ids: Tensor, positions: Tensor, bias: Bias) -> Tensor:
        """Compute the last hidden states, shape (B, T, D).

        Embeddings are looked up in the weights' own precision: gradients of ids that come hundreds
        of times a batch are summed in it.
        """
        embedded = embedding(ids, self._embeddings).to(self._dtype)  # (B, T, D)
        if self._scale != 1:
            embedded = embedded * torch.tensor(self._scale, dtype=self._dtype)
        copy = {name: self._copied(weight) for name, weight in self._weights.items()}
        inputs = {
            "inputs_embeds": self._drop(embedded),
            "position_ids": positions,
            "attention_mask": bias,
            "use_cache": False,
        }
        output = torch.func.functional_call(self._decoder, copy, (), inputs)
        hidden: Tensor = output.last_hidden_state
        return hidden

    def _copied(self, weight: Tensor) -> Tensor:
        if self._rounded and weight.dim() == _MATRIX:
            weight = weight + (rounded_blocks(weight.detach()) - weight.detach())
        return weight.to(self._dtype)

    def _drop(self, states: Tensor) -> Tensor:
        return dropout(states, self._dropout, self._decoder.training) if self._dropout else states

    def _smoothed(self, logits: Tensor, ends_writes: Tensor) -> tuple[Tensor, Tensor]:
        """Score a chunk of rows (N, V) but for their labels: losses, and their gradient.

        Written without a choice between elements, it is one pass over a row; torch's own way back
        through cross-entropy took a fifth of a step (``docs/experiments.md``).
        """
        wide = logits if logits.dtype == torch.float64 else logits.float()
        allowed = torch.where(ends_writes[:, None], *self._allowed)  # (N, V), 1 or 0
        wide = wide * allowed + _IMPOSSIBLE * (1 - allowed)
        highest = wide.amax(1, keepdim=True)
        shares = (wide - highest).exp()
        total = shares.sum(1, keepdim=True)
        each = self._smoothing / wide.shape[1]
        losses = (highest + total.log())[:, 0] - each * wide.sum(1)
        gradient = (shares * (1 / total) - each) * allowed
        return losses, gradient.to(logits.dtype)


def rounded_blocks(matrix: Tensor) -> Tensor:
    """Return a matrix (N, K) as ``engine.models.tensor_file`` keeps it, but for equal extremes."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    most, least = blocks.amax(-1, keepdim=True), blocks.amin(-1, keepdim=True)
    scales = (torch.where(most > -least, most, least) / -8).half().to(matrix.dtype)
    scales = torch.where(scales == 0, torch.finfo(torch.float16).tiny, scales)
    return ((blocks / scales).round().clamp(-8, 7) * scales).reshape(matrix.shape)


def _chunk_of(rows: Tensor) -> int:
    return _WIDER * _CHUNK if rows.device.type == "cuda" else _CHUNK


class _HeadLoss(torch.autograd.Function):
    """Mean loss of rows under the output matrix; its gradients are computed on the way forward.

    So logits are made once, and their gradient takes their place. Source: Hsu et al. 2024, Liger
    Kernel, arXiv 2410.10989, section 3.2 (fused linear cross-entropy).
    """

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        hidden: Tensor,
        head: Tensor,
        labels: Tensor,
        ends_writes: Tensor,
        score: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]],
    ) -> Tensor:
        """Score hidden states (N, D) under a head (V, D), whose precision may be higher."""
        short = -len(labels) % _chunk_of(hidden)  # rows missing in the last chunk
        rows, ends = pad(hidden, (0, 0, 0, short)), pad(ends_writes, (0, short))
        copy = head.to(hidden.dtype)
        summed, gradient = score(rows @ copy.T, labels, ends)  # gradient (N + short, V)
        of_hidden = (gradient @ copy)[: len(labels)]
        ctx.save_for_backward(of_hidden, (gradient.T @ rows).to(head.dtype))
        ctx.n_rows = len(labels)  # type: ignore[attr-defined]
        return summed / len(labels)

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, outer: Tensor
    ) -> tuple[Tensor, Tensor, None, None, None]:
        """Return the gradients of hidden states and head."""
        of_hidden, of_head = ctx.saved_tensors  # type: ignore[attr-defined]
        scale = outer / ctx.n_rows  # type: ignore[attr-defined]
        return of_hidden * scale.to(of_hidden.dtype), of_head * scale, None, None, None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardLoss:
    """Loss of a packed batch by any causal language model, wrapped or not.

    The model's own ``forward`` is called, as wrappers for LoRA and for many processes require; it
    computes logits only in columns where some line has a label.

    Attributes:
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
        allowed = forbid_markers(logits, ends_writes, self.markers)  # (N, V)
        smoothing = self.smoothing
        summed = cross_entropy(allowed, labels, label_smoothing=smoothing, reduction="sum")
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
