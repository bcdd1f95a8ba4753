"""A network on torch with the slot cache of one conversation, or of several computed together.

Works over unmodified transformers models: positions and masks are always explicit, because
libraries build their causal mask from cache order, which is wrong here. ``engine.runtime.loader``
makes the network.

On small models most of a decode step is overhead that does not grow with the number of
conversations, so many together are many times cheaper.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor
from transformers import PreTrainedModel

from engine.layout.planner import Eviction
from engine.layout.rows import Places
from engine.runtime.causal_model import Arithmetic, Ask, CausalModel, Computed, peak_memory_bytes
from engine.runtime.rows import Integers, RowBook, check_carried
from engine.runtime.torch.attention import Attention, turn_keys
from engine.runtime.torch.tensor_cache import MAX_ROWS, StaticSteps, TensorCache
from engine.settings import LayoutSettings


def embedded(network: PreTrainedModel, ids: Tensor, vectors: Tensor) -> Tensor:
    """Return the inputs of rows of which some carry a vector in the place of a token.

    In the type of the embeddings, shape (B, Q, width).

    Args:
        network: has the embeddings of tokens.
        ids: int64, shape (B, Q); negative where a row carries a vector.
        vectors: of these rows, line by line, shape (n, width).

    Raises:
        ValueError: there are fewer or more vectors than rows that carry one.
    """
    carries = ids < 0
    check_carried(int(carries.sum()), vectors)
    tokens: Tensor = network.get_input_embeddings()(ids.clamp(min=0))
    return tokens.masked_scatter(carries[..., None], vectors.to(tokens))


_WORTH_A_PASS = 24
"""Padded rows that cost about as much as the overhead of another pass (7 ms and 0.3 ms a row)."""


def slot_model(
    network: PreTrainedModel, capacity: int, *, static: bool | None = None
) -> CausalModel:
    return CausalModel(TorchStore(network, 1, capacity, static=static))


class TorchStore:
    """Conversations with one network; each is a lane, numbered from 0."""

    def __init__(
        self,
        network: PreTrainedModel,
        n_lanes: int,
        capacity: int,
        *,
        static: bool | None = False,
    ) -> None:
        """Make the cache, of ``capacity`` rows for each lane; the network is in evaluation mode.

        ``static``: run small passes of one conversation over fixed tensors
        (``engine.runtime.torch.tensor_cache``); None: on CUDA only, as graphs.
        """
        self.book = RowBook(n_lanes, capacity)
        self._network = network
        self.cache = TensorCache(network.config, self.book, network.dtype, network.device)
        self._attention = Attention.of(network)
        self._ranked = False  # ALiBi counts visible keys: see ``Attention.bias``
        on_cuda = network.device.type == "cuda"
        # elsewhere a pass over the valid rows alone is faster
        static = on_cuda if static is None else static
        self._steps = (
            StaticSteps(network, self.cache, self._attention, captured=on_cuda) if static else None
        )
        # padding costs a processor as much as rows do, and a graphics card next to nothing
        self._sorts = network.device.type == "cpu"
        trained = getattr(network.config, "max_position_embeddings", None)
        self.max_positions = int(trained or capacity)
        self.arithmetic = Arithmetic.of(network)

    @property
    def peak_memory_bytes(self) -> int:
        device = self._network.device
        if device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(device))
        return peak_memory_bytes()

    def use(self, layout: LayoutSettings) -> None:
        self._ranked = self._attention.ranks(layout)

    def forget_steps(self) -> None:
        if self._steps is not None:
            self._steps.forget()

    @torch.inference_mode()
    def evict(self, lane: int, gone: Eviction) -> None:
        self.cache.evict(lane, gone, partial(turn_keys, self._network))
        self.book.evict(lane, gone)

    @torch.inference_mode()
    def compute(self, ask: Ask) -> Computed:
        small = len(ask.rows) <= MAX_ROWS and ask.suppressed is not None
        plain = ask.vectors is None and not ask.keep_states
        if self._steps is not None and small and plain:
            logits = self._steps.compute(ask.rows, ask.suppressed or (), ranked=self._ranked)
            return Computed(logits)
        return self.feed([ask])[0]

    def feed(self, asked: Sequence[Ask]) -> list[Computed]:
        """Compute rows of several lanes, in rising order, and keep them.

        Raises:
            CacheFullError: the rows of a lane do not fit; other lanes may have got theirs.
        """
        computed = dict[int, Computed]()
        for group in self._groups(asked):
            computed |= self._compute(group)
        return [computed[ask.lane] for ask in asked]

    def _groups(self, asked: Sequence[Ask]) -> list[Sequence[Ask]]:
        """Divide lanes into forward passes: single rows apart where their padding costs more."""
        single = [ask for ask in asked if len(ask.rows) == 1]
        n_padded = len(single) * (max(len(ask.rows) for ask in asked) - 1)
        if not self._sorts or n_padded < _WORTH_A_PASS:
            return [asked]
        return [single, [ask for ask in asked if len(ask.rows) > 1]]

    @torch.inference_mode()
    def _compute(self, asked: Sequence[Ask]) -> dict[int, Computed]:
        fed = [(ask.lane, ask.rows) for ask in asked]
        new, cached = map(self._places, self.book.begin(fed))  # (B, Q), (B, K)
        self.cache.begin(fed)
        width = new.position.shape[-1]
        ids = [[0] * (width - len(rows)) + [row.id for row in rows] for _, rows in fed]
        output = self._network(
            **self._inputs(torch.tensor(ids, device=self._network.device), asked),
            position_ids=new.encoded,
            attention_mask=self._attention.bias(new, cached, ranked=self._ranked),
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=1,
            output_hidden_states=any(ask.keep_states for ask in asked),
        )
        self.book.commit()
        computed = dict[int, Computed]()
        for line, ask in enumerate(asked):
            logits = output.logits[line, -1]  # (V,)
            if ask.suppressed:
                logits[list(ask.suppressed)] = -torch.inf
            states = output.hidden_states[-1][line, -len(ask.rows) :] if ask.keep_states else None
            computed[ask.lane] = Computed(logits, states)
        return computed

    def _inputs(self, ids: Tensor, asked: Sequence[Ask]) -> dict[str, Tensor]:
        """Return the ids (B, Q) of a pass, or what is fed for them where rows carry vectors."""
        vectors = [torch.from_numpy(ask.vectors) for ask in asked if ask.vectors is not None]
        if not vectors:
            return {"input_ids": ids}
        return {"inputs_embeds": embedded(self._network, ids, torch.cat(vectors).to(ids.device))}

    def _places(self, columns: Integers) -> Places:
        return Places(*torch.from_numpy(columns).to(self._network.device))
