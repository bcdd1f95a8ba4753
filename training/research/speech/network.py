"""Encoder, adapter, translator and policy head as one network, and the losses of its stages.

The modules are those that run live: ``SpeechEncoder`` in one pass under its mask, and the
translator on rows that carry its vectors (``engine.runtime.torch.row_inputs``). Gradients reach
the encoder through a translator that stays as it is.

Source: EASiST (Fu et al. 2025), section 3.3: L_ST on whole utterances, L_SimulST on parts,
L_policy on decisions; CTC before them is ours.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy, ctc_loss, linear
from transformers import PreTrainedModel

from engine.layout.rows import IGNORE
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.row_inputs import embedded
from training.research.speech.batches import SpokenBatch
from training.research.speech.folder import Hearing
from training.research.speech.settings import LOSSES, SpeechSettings
from training.research.speech.utterances import NOT_ASKED
from training.trainer.samples.batches import Batch
from training.trainer.samples.loss import Markers, forbid_markers

_ADAPTER = ("merge_first", "merge_second", "out")
_WORDS = "words"

_NEVER = -30.0
"""Bias of an id that no text of the corpus has: e^-30 of a sum is less than its rounding."""


class SpokenNetwork(nn.Module):
    """A translator that reads what an encoder hears; it computes the losses of a batch.

    Attributes:
        encoder: with its adapter.
        translator: reads its vectors.
        head: rows for READ and WRITE, no bias (equation 2).
    """

    def __init__(
        self,
        encoder: Hearing,
        translator: PreTrainedModel,
        markers: Markers,
        *,
        in_bf16: bool = False,
    ) -> None:
        """Take networks; see ``engine.models.policy_head`` for the head, which begins at 0.

        Args:
            encoder: with its adapter.
            translator: reads its vectors.
            markers: ids that end a write, or a translation.
            in_bf16: whether encoder and translator multiply in bfloat16; weights stay as they are.
        """
        super().__init__()
        self._in_bf16 = in_bf16
        self._losses = frozenset(LOSSES)
        self.encoder = encoder
        self.translator = translator
        width: int = translator.config.hidden_size
        self.head = nn.Linear(width, 2, bias=False)
        nn.init.zeros_(self.head.weight)
        self._markers = markers
        self._attention = Attention.of(translator)

    def train_only(self, settings: SpeechSettings) -> None:
        """Let gradients reach the parts of a stage, and no others; compute its losses alone.

        The layer that writes words is trained where its loss is.
        """
        self._losses = frozenset(settings.losses)
        for name, parameter in self.named_parameters():
            part = _part_of(name)
            trained = part in settings.parts
            if part == _WORDS:
                trained = "encoder" in settings.parts and "words" in settings.losses
            parameter.requires_grad_(trained)

    def forward(self, batch: SpokenBatch) -> Mapping[str, Tensor]:
        """Return each loss that the batch has material for, a mean, by its name in ``LOSSES``."""
        losses = dict[str, Tensor]()
        device = batch.mel.device.type
        with torch.autocast(device, torch.bfloat16, enabled=self._in_bf16):
            # the fused attention's backward takes a third of an encoder's step on a processor
            with sdpa_kernel(SDPBackend.MATH) if device == "cpu" else nullcontext():
                encoded = self.encoder(batch.mel, batch.n_blocks)  # (U, N, F, C)
            writes = self.encoder.words is not None
            if writes and "words" in self._losses:
                losses["words"] = self._words_loss(encoded, batch)
            vectors = self.encoder.vectors(encoded)
            if writes and "embeddings" in self._losses:
                losses["embeddings"] = self._embeddings_loss(encoded, vectors, batch)
            if len(batch.owner):
                losses |= self._row_losses(vectors, batch)
        return losses

    def _words_loss(self, encoded: Tensor, batch: SpokenBatch) -> Tensor:
        logits, known = self._written(encoded)
        n_frames = batch.n_blocks * encoded.shape[2]
        return ctc_loss(
            logits.log_softmax(-1).transpose(0, 1),
            torch.searchsorted(known, batch.words),
            n_frames,
            batch.n_words,
            blank=len(known) - 1,
            zero_infinity=True,  # an utterance too short for its words
        )

    def _written(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits of the ids that the layer of words has learnt, (U, N * F, K), and these."""
        assert self.encoder.words is not None
        layer = self.encoder.words
        known = (layer.bias > _NEVER / 2).nonzero()[:, 0]  # (K,); others have no share in the sum
        logits = linear(encoded.flatten(1, 2), layer.weight[known], layer.bias[known])
        return _wide(logits), known

    def _embeddings_loss(self, encoded: Tensor, vectors: Tensor, batch: SpokenBatch) -> Tensor:
        """Compare vectors with the embeddings of what the encoder hears, as a share of those.

        A vector's target is the embeddings of the ids that are heard in its frames, by their
        probability, and what none of them takes is its predecessor's: a translator that has seen
        tokens alone reads a token that is said again better than any other filling.
        """
        with torch.no_grad():
            target = held(*self._heard(encoded, vectors.shape[2]))  # (U, N * P, width)
        blocks = torch.arange(vectors.shape[1], device=vectors.device)
        exists = blocks < batch.n_blocks[:, None]  # (U, N)
        off = (_wide(vectors) - target.reshape(vectors.shape))[exists]
        return off.square().sum() / target.reshape(vectors.shape)[exists].square().sum()

    def _heard(self, encoded: Tensor, n_vectors: int) -> tuple[Tensor, Tensor]:
        """Return what each vector's frames say, and how likely they say nothing.

        Args:
            encoded: shape (U, N, F, C).
            n_vectors: of a block, P.

        Returns:
            sums of embeddings, shape (U, N * P, width), and probabilities, shape (U, N * P).
        """
        logits, known = self._written(encoded)
        likely = logits.softmax(-1)  # (U, N * F, K)
        n_frames = encoded.shape[2] // n_vectors
        likely = likely.reshape(len(likely), -1, n_frames, len(known))  # (U, N * P, F / P, K)
        tokens: Tensor = self.translator.get_input_embeddings()(known[:-1]).to(likely)
        return likely[..., :-1].amax(2) @ tokens, likely[..., -1].amin(2)

    def _row_losses(self, vectors: Tensor, batch: SpokenBatch) -> Iterator[tuple[str, Tensor]]:
        """Score tokens and decisions of translations, given vectors (U, N, P, width)."""
        labelled = batch.labels != IGNORE
        columns = labelled.any(0).nonzero()[:, 0]  # a third of a batch is asked for a token
        logits, states = self.read(vectors, batch, columns)
        live = batch.live[:, None].expand_as(labelled)
        allowed = forbid_markers(
            logits[labelled[:, columns]], batch.ends_writes[labelled], self._markers
        )  # (N, V)
        each = cross_entropy(allowed, batch.labels[labelled], reduction="none")
        for name, chosen in (("offline", ~live[labelled]), ("simultaneous", live[labelled])):
            if chosen.any():
                yield name, each[chosen].mean()
        asked = batch.decided != NOT_ASKED
        if asked.any():
            decisions = self.head(states[asked].to(self.head.weight))
            yield "policy", cross_entropy(_wide(decisions), batch.decided[asked])

    def read(
        self, vectors: Tensor, batch: SpokenBatch, columns: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Run the rows of a batch in one masked pass.

        Args:
            vectors: of the sound, shape (U, N, P, width).
            batch: with rows.
            columns: of the batch, whose rows get logits, int64, shape (K,); None for all.

        Returns:
            logits, shape (B, K, V), and last states, shape (B, T, width).
        """
        carries = batch.ids < 0
        owners = batch.owner[:, None].expand_as(carries)[carries]
        fed = vectors.flatten(1, 2)[owners, -1 - batch.ids[carries]]
        output = self.translator(
            inputs_embeds=embedded(self.translator, batch.ids, fed),
            position_ids=batch.places.encoded,
            attention_mask=batch.bias(self._attention),
            use_cache=False,
            output_hidden_states=True,
            logits_to_keep=0 if columns is None else columns,
        )
        return output.logits, output.hidden_states[-1]


@dataclass(frozen=True, slots=True)
class SpokenLoss:
    """The losses of a stage, added up; and what each was in the last batch.

    Attributes:
        settings: which losses count.
        last: filled at each call, by the name of a loss.
    """

    settings: SpeechSettings
    last: dict[str, float]

    def __call__(self, network: nn.Module, batch: Batch) -> Tensor:
        """Return the sum of the losses that count."""
        assert isinstance(batch, SpokenBatch)
        losses: Mapping[str, Tensor] = network(batch)
        counted = [name for name in LOSSES if name in losses and name in self.settings.losses]
        self.last.clear()
        self.last.update({f"loss_{name}": float(losses[name].detach()) for name in counted})
        weights = {"policy": self.settings.policy_weight}
        weighted = [losses[name] * weights.get(name, 1.0) for name in counted]
        return torch.stack(weighted).sum()


def admit_words(layer: nn.Linear, ids: Iterable[int], *, new: bool) -> None:
    """Let a layer write the ids that a corpus has, and the blank, its last one.

    Of a new layer, others are never likeliest: their scores would be chance, and need not be
    computed while it learns. One that has learnt keeps what it knew.
    """
    with torch.no_grad():
        wanted = torch.zeros_like(layer.bias, dtype=torch.bool)
        wanted[[*ids, -1]] = True
        if new:
            layer.bias[~wanted] = _NEVER
        layer.bias[wanted & (layer.bias < _NEVER / 2)] = 0.0


def held(said: Tensor, nothing: Tensor) -> Tensor:
    """Return for each vector what is said in it, and what was said before as far as nothing is.

    Args:
        said: shape (U, T, width).
        nothing: probability that nothing is said, shape (U, T).

    Returns:
        shape (U, T, width).
    """
    kept = [said[:, 0]]
    for now, share in zip(said.unbind(1)[1:], nothing.unbind(1)[1:], strict=True):
        kept.append(now + share[:, None] * kept[-1])
    return torch.stack(kept, dim=1)


def _wide(logits: Tensor) -> Tensor:
    """Return logits in at least float32."""
    return logits if logits.dtype == torch.float64 else logits.float()


def _part_of(name: str) -> str:
    """Return the part that a parameter belongs to."""
    module, _, rest = name.partition(".")
    if module != "encoder":
        return module
    inner = rest.partition(".")[0]
    return "adapter" if inner in _ADAPTER else _WORDS if inner == _WORDS else "encoder"
