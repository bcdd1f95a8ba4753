"""Every row that a model was ever fed, when it left the cache, and a network that computes them.

Keys are kept and turned in the engine; here each pass is computed from all rows, by the definition.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from engine.layout.rows import NEVER, visible


@dataclass
class Entry:
    """A row that was fed, with its vector if it carries one.

    Attributes:
        number: of its pass.
        moves: numbers of the passes from which on it stood so many positions further up.
        gone: number of the first pass that does not see it any more.
        taken: it was taken back, not evicted.
    """

    row: object
    vector: object
    number: int
    moves: list = field(default_factory=list)
    gone: int = NEVER
    taken: bool = False

    def position(self, number):
        return self.row.position - sum(by for first, by in self.moves if first <= number)


@dataclass
class Pass:
    """A forward pass: its entries, and what came out."""

    entries: list
    logits: torch.Tensor
    states: torch.Tensor | None


class History:
    """What a model does from now on."""

    def __init__(self, model):
        self.entries, self.passes, self.cached, self.n_evicted = [], [], [], 0
        store = model._store
        compute, truncate, evict = store.compute, store.book.truncate, store.evict

        def note_compute(ask):
            computed = compute(ask)
            vectors = iter(() if ask.vectors is None else ask.vectors)
            new = [
                Entry(row, next(vectors) if row.id < 0 else None, len(self.passes))
                for row in ask.rows
            ]
            self.entries += new
            self.cached += new
            self.passes.append(Pass(new, computed.logits.clone(), computed.states))
            return computed

        def note_truncate(lane, n_rows):
            if not self._evicts:
                for entry in self.cached[n_rows:]:
                    entry.gone, entry.taken = len(self.passes), True
                del self.cached[n_rows:]
            truncate(lane, n_rows)

        def note_evict(lane, gone):
            self.n_evicted += gone.stop - gone.start
            for entry in self.cached[gone.start : gone.stop]:
                entry.gone = len(self.passes)
            for entry in self.cached[gone.stop :]:
                entry.moves.append((len(self.passes), gone.distance))
            del self.cached[gone.start : gone.stop]
            self._evicts = True
            evict(lane, gone)
            self._evicts = False

        self._evicts = False
        store.compute, store.book.truncate, store.evict = note_compute, note_truncate, note_evict

    def recomputed(self, network):
        """Logits and states of the rows of every pass, by the definition: (N, V), (N, width)."""
        model, inputs = network.model, []
        for entry in self.entries:
            if entry.vector is None:
                inputs.append(model.embed_tokens.weight[entry.row.id])
            else:
                inputs.append(torch.from_numpy(np.array(entry.vector)).to(network.dtype))
        hidden = torch.stack(inputs)  # (N, width)
        with torch.inference_mode():
            for layer in model.layers:
                hidden = hidden + self._attended(
                    layer.self_attn, layer.input_layernorm(hidden), model
                )
                hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
            states = model.norm(hidden)
            return network.lm_head(states), states

    def _attended(self, attention, hidden, model):
        index_of = {id(entry): index for index, entry in enumerate(self.entries)}
        size = attention.head_dim
        q, k, v = (
            it(hidden).view(len(hidden), -1, size).transpose(0, 1)
            for it in (attention.q_proj, attention.k_proj, attention.v_proj)
        )  # (H, N, D)
        out = torch.zeros_like(q)
        for number, one in enumerate(self.passes):
            alive = [e for e in self.entries if e.number <= number < e.gone]
            key_at, query_at = ([index_of[id(e)] for e in it] for it in (alive, one.entries))
            place_k, place_q = (
                [
                    torch.tensor([e.position(number) for e in it]),
                    torch.tensor([e.row.time for e in it]),
                    torch.tensor([e.position(number) + e.row.shift for e in it]),
                ]
                for it in (alive, one.entries)
            )
            sight = visible(*place_q[:2], *place_k[:2])  # (Q, K)
            turned_q = _turned(model, q[:, query_at], place_q[2])
            turned_k = _turned(model, k[:, key_at], place_k[2])
            groups = len(q) // len(k)
            scores = turned_q @ turned_k.repeat_interleave(groups, 0).transpose(1, 2)
            scores = (scores / size**0.5).masked_fill(~sight, -torch.inf)
            out[:, query_at] = scores.softmax(-1) @ v[:, key_at].repeat_interleave(groups, 0)
        return attention.o_proj(out.transpose(0, 1).flatten(1))


def _turned(model, x, positions):
    cos, sin = model.rotary_emb(x, positions[None])
    return apply_rotary_pos_emb(x[None], x[None], cos.to(x), sin.to(x))[0][0]
