"""Cross-entropy over the labelled rows, among the tokens the policy allows."""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from engine.attention import Attention
from engine.layout import IGNORE
from engine.prompt import Prompt
from training.batches import Batch


@dataclass(frozen=True, slots=True)
class Markers:
    """The ids that end something."""

    end_of_write: int
    end_of_target: int

    @classmethod
    def of(cls, prompt: Prompt) -> "Markers":
        """Take the markers of a prompt; they are the same for every language of a model."""
        return cls(prompt.end_of_write, prompt.end_of_target)


_IMPOSSIBLE = -100.0
"""Logit of a forbidden marker: no probability, and finite, so that label smoothing stays finite."""


def forbid_markers(logits: Tensor, ends_writes: Tensor, markers: Markers) -> Tensor:
    """Rule out end-of-target under read-n and end-of-write under the other policies.

    Without this a model that serves all policies would have to guess which one runs, and read-n
    would end its writes too late. The translator suppresses the same markers.

    Args:
        logits: floating, shape (N, V); left as it is.
        ends_writes: bool, shape (N,), the row's policy ends its writes.
        markers: the two ids; nothing is ruled out where they are one.

    Returns:
        float32, shape (N, V).
    """
    allowed = logits.float().clone()
    if markers.end_of_write != markers.end_of_target:
        allowed[~ends_writes, markers.end_of_write] = _IMPOSSIBLE
        allowed[ends_writes, markers.end_of_target] = _IMPOSSIBLE
    return allowed


def batch_loss(model: PreTrainedModel, batch: Batch, markers: Markers, smoothing: float) -> Tensor:
    """Run a batch through a bare model in one masked pass and score its labelled rows.

    Logits are computed for labelled rows only: half of the rows are source.

    Returns:
        mean cross-entropy with label smoothing, a float32 scalar.
    """
    decoder = model.get_decoder()  # type: ignore[no-untyped-call]
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    hidden: Tensor = decoder(
        input_ids=batch.ids,
        position_ids=batch.places.encoded,
        attention_mask=batch.bias(Attention.of(model)),
        use_cache=False,
    ).last_hidden_state
    asked = batch.labels != IGNORE  # (B, T)
    logits: Tensor = head(hidden[asked])  # (N, V)
    return _score(logits, batch, asked, markers, smoothing) / asked.sum()


def summed_loss(
    model: nn.Module,
    batch: Batch,
    markers: Markers,
    smoothing: float,
    attention: Attention,
    *,
    ranked: bool = False,
) -> Tensor:
    """Run a packed batch through any causal language model, wrapped or not.

    The model's own ``forward`` is called, as wrappers for LoRA and for many processes want it, and
    asked for logits only in columns where some line has a label.

    Returns:
        cross-entropy with label smoothing, summed over the labelled rows: a float32 scalar.
    """
    asked = batch.labels != IGNORE  # (B, T)
    columns = asked.any(0).nonzero()[:, 0]  # (C,)
    logits: Tensor = model(
        input_ids=batch.ids,
        position_ids=batch.places.encoded,
        attention_mask=batch.bias(attention, ranked=ranked),
        use_cache=False,
        logits_to_keep=columns,
    ).logits  # (B, C, V)
    return _score(logits[asked[:, columns]], batch, asked, markers, smoothing)


def _score(
    logits: Tensor, batch: Batch, asked: Tensor, markers: Markers, smoothing: float
) -> Tensor:
    """Sum the cross-entropy of the labelled rows; their logits have shape (N, V)."""
    allowed = forbid_markers(logits, batch.ends_writes[asked], markers)
    labels = batch.labels[asked]
    return cross_entropy(allowed, labels, label_smoothing=smoothing, reduction="sum")
