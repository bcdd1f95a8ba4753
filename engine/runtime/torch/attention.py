"""Compute the mask or bias of attention for each architecture.

Libraries build their masks from cache order, which is wrong here: masks are always explicit. Rotary
models get 0 where a key is seen and the lowest number elsewhere. Sliding windows are decided by
encoded positions, not by cache order. ALiBi models get their bias in the mask, from explicit
positions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from engine.errors import ModelError
from engine.layout.planner import planner_of
from engine.layout.rows import Places, visible
from engine.messages import Code
from engine.settings import LayoutSettings

Bias = Tensor | dict[str, Tensor]
"""Floating, shape (B, 1 or H, Q, K); one for each kind of layer where a model mixes kinds."""


@dataclass(frozen=True, slots=True)
class Attention:
    """The kind of mask of one network.

    Attributes:
        window: positions a sliding layer sees, or None.
        mixed: some layers slide and some do not.
        slopes: ALiBi's, already divided as the network divides its scores; float32.
    """

    dtype: torch.dtype
    window: int | None = None
    mixed: bool = False
    slopes: Tensor | None = None  # (H,)

    @classmethod
    def of(cls, network: PreTrainedModel) -> "Attention":
        kinds = set(getattr(network.config, "layer_types", None) or ())
        window: int | None = getattr(network.config, "sliding_window", None)
        slides = "sliding_attention" in kinds or (not kinds and window is not None)
        return cls(
            dtype=network.dtype,
            window=window if slides else None,
            mixed=len(kinds) > 1,
            slopes=_slopes(network.config).to(network.device) if has_alibi(network) else None,
        )

    def ranks(self, layout: LayoutSettings) -> bool:
        """Return whether a layout counts keys instead of positions, see ``bias``.

        Raises:
            ModelError: it does, and the network has no ALiBi.
        """
        ranked = planner_of(layout).ranked
        if ranked and self.slopes is None:
            raise ModelError(Code.NO_ALIBI(layout=layout.name))
        return ranked

    def bias(
        self, q: Places, k: Places, *, ranked: bool = False, apart: Tensor | None = None
    ) -> Bias:
        """Compute the addition to the scores of queries ``q`` over keys ``k``.

        Args:
            q: positions and times of the queries, shape (B, Q).
            k: of the keys, shape (B, K).
            ranked: ALiBi counts the visible keys instead of positions (SimulMask).
            apart: bool, shape (B, Q, K); True where query and key are of different documents.
        """
        sight = visible(q.position, q.time, k.position, k.time)  # (B, Q, K)
        if apart is not None:
            sight = sight & ~apart
        if self.slopes is not None:
            behind = _rank_distance(sight, k.position) if ranked else _distance(q, k)
            alibi = -self.slopes[:, None, None] * behind[:, None]  # (B, H, Q, K)
            hidden = ~sight[:, None]  # (B, 1, Q, K)
            return alibi.to(self.dtype).masked_fill_(hidden, torch.finfo(self.dtype).min)
        if self.window is None:
            return self._plain(sight)
        near = self._plain(sight & (_distance(q, k) < self.window))
        if not self.mixed:
            return near
        return {"full_attention": self._plain(sight), "sliding_attention": near}

    def _plain(self, sight: Tensor) -> Tensor:
        """Return 0 where seen, else the lowest number: a row that sees nothing stays finite."""
        bias = torch.zeros(sight.shape, dtype=self.dtype, device=sight.device)  # (B, Q, K)
        bias = bias.masked_fill_(~sight, torch.finfo(self.dtype).min)
        return bias.unsqueeze(1)  # (B, 1, Q, K)


def has_alibi(network: PreTrainedModel) -> bool:
    return bool(getattr(network.config, "alibi", False))


def take_over_alibi(network: PreTrainedModel) -> None:
    """Make a Falcon take its ALiBi from the mask: its own is rebuilt from cache order.

    Its own bias is switched off, and the rotary table that replaces it rotates by 0. Logits stay
    the same (within rounding); the weights are not touched.
    """
    if has_alibi(network):
        decoder = network.get_decoder()  # type: ignore[no-untyped-call]
        decoder.use_alibi = False
        decoder.rotary_emb = _NoRotation(network.config.head_dim)


def turn_keys(network: PreTrainedModel, layer: int, keys: Tensor, distance: int) -> Tensor:
    """Move cached keys towards the start: rotations compose, so no key is computed again.

    The result is exact up to rounding (float32 1e-6, bfloat16 1e-2 of a key's largest number).

    Args:
        network: computed the keys. Without rotary encoding, the keys stay the same.
        layer: that computed them: in Gemma 3 layers with a window turn by other angles.
        keys: floating, shape (B, H, N, D).
        distance: positions.
    """
    rotary = network.get_decoder().rotary_emb  # type: ignore[no-untyped-call]
    wide = keys if keys.dtype == torch.float64 else keys.float()
    position = torch.tensor([[distance]], device=keys.device)  # (1, 1)
    kinds, prefix = list[str](), ""
    if hasattr(rotary, "layer_types"):  # the angles of each kind of layer
        kinds = [network.config.layer_types[layer]]
        prefix = f"{kinds[0]}_"
    cos, sin = cast("tuple[Tensor, Tensor]", rotary(wide, position, *kinds))  # (1, 1, D)
    scale = float(getattr(rotary, f"{prefix}attention_scaling", 1.0))
    first, second = wide.chunk(2, dim=-1)  # (B, H, N, D / 2)
    back = torch.cat((second, -first), dim=-1)  # (B, H, N, D), a quarter turn towards the start
    return ((wide * cos + back * sin) / scale).to(keys.dtype)


class _NoRotation(nn.Module):
    """A rotary table with an angle of 0 everywhere."""

    def __init__(self, head_size: int) -> None:
        super().__init__()
        self._head_size = head_size

    def forward(self, hidden: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        shape = (*position_ids.shape, self._head_size)
        return hidden.new_ones(shape), hidden.new_zeros(shape)


def _distance(q: Places, k: Places) -> Tensor:
    return q.encoded[..., :, None] - k.encoded[..., None, :]  # (B, Q, K)


def _rank_distance(sight: Tensor, position_k: Tensor) -> Tensor:
    """Count the visible keys after each key, for each query; int64, shape (B, Q, K).

    Source: SimulMask (Raffel et al. 2024), section 5.3: ALiBi does not count masked keys, so that a
    query's visible keys have no gaps.
    """
    in_order = position_k.argsort(dim=-1)[:, None, :].expand_as(sight)  # (B, Q, K)
    seen = sight.gather(-1, in_order).long()  # (B, Q, K)
    after = seen.sum(-1, keepdim=True) - seen.cumsum(-1)  # (B, Q, K)
    return torch.empty_like(after).scatter_(-1, in_order, after)


def _slopes(config: PretrainedConfig) -> Tensor:
    """Return ALiBi's slopes, shape (H,), rounded as in Falcon, over the root of the head size.

    Source: Press et al. 2022, section 3; if the number of heads is no power of two, every second
    slope of the next one fills up.
    """
    n_heads: int = config.num_attention_heads
    whole = 2 ** math.floor(math.log2(n_heads))
    slopes = [*_geometric(whole), *_geometric(2 * whole)[::2][: n_heads - whole]]
    rounded = torch.tensor(slopes).bfloat16().float()
    return rounded / math.sqrt(config.hidden_size // n_heads)


def _geometric(n: int) -> Sequence[float]:
    ratio = 2 ** (-8 / n)
    return [ratio ** (index + 1) for index in range(n)]
