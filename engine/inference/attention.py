"""What attention adds to its scores, as each architecture wants to be told it.

Libraries draw their masks from cache order, which is wrong here: masks are always explicit.
Rotary models get 0 where a key is seen and the lowest number elsewhere. Sliding windows are judged
by what the position encoding is given, not by cache order. ALiBi models get their bias in the mask,
from explicit positions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from engine.errors import ModelError
from engine.layout.rows import Places, visible
from engine.settings import LayoutSettings

Bias = Tensor | dict[str, Tensor]
"""Floating, shape (B, 1 or H, Q, K); one for each kind of layer where a model mixes kinds."""


@dataclass(frozen=True, slots=True)
class Attention:
    """How one network is told who sees whom.

    Attributes:
        dtype: floating type of the network.
        window: positions a sliding layer sees, or None.
        mixed: some layers slide and some do not.
        slopes: ALiBi's, already divided as the network divides its scores; float32, shape (H,).
    """

    dtype: torch.dtype
    window: int | None = None
    mixed: bool = False
    slopes: Tensor | None = None

    @classmethod
    def of(cls, network: PreTrainedModel) -> "Attention":
        """Read a network's configuration."""
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
        """Tell whether a layout has keys counted instead of positions, see ``bias``.

        Raises:
            ModelError: it does, and the network has no ALiBi to count them for.
        """
        if layout.ranked and self.slopes is None:
            msg = (
                f"the layout {layout.name} needs a model with ALiBi, and this one has none: "
                "choose another layout"
            )
            raise ModelError(msg)
        return layout.ranked

    def bias(
        self, q: Places, k: Places, *, ranked: bool = False, apart: Tensor | None = None
    ) -> Bias:
        """Draw what is added to the scores of queries ``q`` over keys ``k``.

        Args:
            q: the queries' places, shape (B, Q).
            k: the keys', shape (B, K).
            ranked: ALiBi counts the visible keys instead of positions (SimulMask).
            apart: bool, shape (B, Q, K); True where query and key are of different documents.
        """
        sight = visible(q.position, q.time, k.position, k.time)  # (B, Q, K)
        if apart is not None:
            sight = sight & ~apart
        if self.slopes is not None:
            behind = _rank_distance(sight, k.position) if ranked else _distance(q, k)
            alibi = -self.slopes[:, None, None] * behind[:, None]  # (B, H, Q, K)
            hidden = ~sight[:, None]
            return alibi.to(self.dtype).masked_fill_(hidden, torch.finfo(self.dtype).min)
        if self.window is None:
            return self._plain(sight)
        near = self._plain(sight & (_distance(q, k) < self.window))
        if not self.mixed:
            return near
        return {"full_attention": self._plain(sight), "sliding_attention": near}

    def _plain(self, sight: Tensor) -> Tensor:
        """Give 0 where seen, the lowest number elsewhere: a row that sees nothing stays finite."""
        bias = torch.zeros(sight.shape, dtype=self.dtype, device=sight.device)
        return bias.masked_fill_(~sight, torch.finfo(self.dtype).min).unsqueeze(1)


def has_alibi(network: PreTrainedModel) -> bool:
    """Tell whether a network encodes positions by ALiBi."""
    return bool(getattr(network.config, "alibi", False))


def take_over_alibi(network: PreTrainedModel) -> None:
    """Let a Falcon take its ALiBi from the mask: its own is rebuilt from cache order.

    The bias it would add is switched off, and the rotation that takes its place is made to turn
    nothing. Logits stay what they were (within rounding); the weights are not touched.
    """
    if has_alibi(network):
        decoder = network.get_decoder()  # type: ignore[no-untyped-call]
        decoder.use_alibi = False
        decoder.rotary_emb = _NoRotation(network.config.head_dim)


def turn_keys(network: PreTrainedModel, keys: Tensor, distance: int) -> Tensor:
    """Move cached keys towards the start: rotations compose, so no key is computed again.

    Args:
        network: what computed the keys. One that encodes positions otherwise turns nothing.
        keys: floating, shape (B, H, N, D).
        distance: positions.

    Returns:
        new tensor; exact up to rounding (float32 1e-6, bfloat16 1e-2 of a key's largest number).
    """
    rotary = network.get_decoder().rotary_emb  # type: ignore[no-untyped-call]
    wide = keys if keys.dtype == torch.float64 else keys.float()
    place = torch.tensor([[distance]], device=keys.device)
    cos, sin = cast("tuple[Tensor, Tensor]", rotary(wide, place))  # (1, 1, D)
    scale = float(getattr(rotary, "attention_scaling", 1.0))
    first, second = wide.chunk(2, dim=-1)
    back = torch.cat((second, -first), dim=-1)  # a quarter turn towards the start
    return ((wide * cos + back * sin) / scale).to(keys.dtype)


class _NoRotation(nn.Module):
    """In the place of a rotary table: an angle of 0 everywhere."""

    def __init__(self, head_size: int) -> None:
        super().__init__()
        self._head_size = head_size

    def forward(self, hidden: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Give cosine 1 and sine 0; each of shape (B, N, D)."""
        shape = (*position_ids.shape, self._head_size)
        return hidden.new_ones(shape), hidden.new_zeros(shape)


def _distance(q: Places, k: Places) -> Tensor:
    """How far each key is behind each query; int64, shape (B, Q, K)."""
    return q.encoded[..., :, None] - k.encoded[..., None, :]


def _rank_distance(sight: Tensor, position_k: Tensor) -> Tensor:
    """Count the visible keys after each key, for each query; int64, shape (B, Q, K).

    Source: SimulMask (Raffel et al. 2024), section 4.3: what the mask hides is taken out of ALiBi's
    count, so that a query's visible keys stand without a gap.
    """
    in_order = position_k.argsort(dim=-1)[:, None, :].expand_as(sight)
    seen = sight.gather(-1, in_order).long()
    after = seen.sum(-1, keepdim=True) - seen.cumsum(-1)
    return torch.empty_like(after).scatter_(-1, in_order, after)


def _slopes(config: PretrainedConfig) -> Tensor:
    """ALiBi's slopes, rounded as Falcon rounds them, over the root of the head size.

    Source: Press et al. 2022, section 3; where heads are no power of two, every second slope of the
    next one fills up.
    """
    n_heads: int = config.num_attention_heads
    whole = 2 ** math.floor(math.log2(n_heads))
    slopes = [*_geometric(whole), *_geometric(2 * whole)[::2][: n_heads - whole]]
    rounded = torch.tensor(slopes).bfloat16().float()
    return rounded / math.sqrt(config.hidden_size // n_heads)


def _geometric(n: int) -> Sequence[float]:
    ratio = 2 ** (-8 / n)
    return [ratio ** (index + 1) for index in range(n)]
