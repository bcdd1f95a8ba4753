"""A speech encoder that looks back by blocks, and a little ahead: wav2vec-S at a small size.

A block is encoded with the blocks before it and a few frames of the next one, its right context::

              key  block 1   ahead 1  block 2   ahead 2
    query block 1     1        1        .         .
          ahead 1     1        1        .         .
          block 2     1        .        1         1
          ahead 2     1        .        1         1

The frames ahead are rows of their own: the next block computes them again as its own, and nobody
else sees them. So a block is never computed twice as itself, and the encoding block by block
(``engine.runtime.sound.block_stream``) equals one pass under this mask.

Source: wav2vec-S (Fu et al. 2024, https://aclanthology.org/2024.findings-acl.681) and its length
adapter in EASiST (Fu et al. 2025): two convolutions of kernel 5 and stride 2 inside each block. Our
deviations: a log-mel front end of causal convolutions in the place of wav2vec's, rotary positions,
and left context of a bounded number of blocks.
"""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.models.speech_card import FRAMES_MERGED, N_BINS, SpeechCard

MEL_FRAMES = 4
"""Frames of the spectrum in one of the encoder's: two convolutions of stride 2."""

_KERNEL = 3
_THETA = 10_000.0


class SpeechEncoder(nn.Module):
    """The network; its tensors are those of ``SpeechCard.shapes``.

    Shapes: B utterances, N blocks, F frames of a block, C numbers of a frame.

    Attributes:
        card: its shape.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, card: SpeechCard, translator_width: int) -> None:
        """Make a network of random weights.

        Args:
            card: its shape.
            translator_width: numbers in a row of the translator.
        """
        super().__init__()
        self.card = card
        width = card.width
        self.register_buffer("mean", torch.zeros(N_BINS))
        self.register_buffer("scale", torch.ones(N_BINS))
        self.first = nn.Conv1d(N_BINS, width, _KERNEL, stride=2)
        self.second = nn.Conv1d(width, width, _KERNEL, stride=2)
        self.layers = nn.ModuleList(EncoderLayer(card) for _ in range(card.layers))
        self.norm = nn.LayerNorm(width)
        merged = FRAMES_MERGED + 1
        self.merge_first = nn.Conv1d(width, width, merged, stride=2, padding=2)
        self.merge_second = nn.Conv1d(width, width, merged, stride=2, padding=2)
        self.out = nn.Linear(width, translator_width)
        self.words = nn.Linear(width, card.vocabulary) if card.vocabulary else None

    def forward(self, mel: Tensor, n_blocks: Tensor) -> Tensor:
        """Encode whole utterances in one pass.

        Args:
            mel: log-mel frames, shape (B, N * F * 4, 80); what is behind an utterance is not seen.
            n_blocks: of each utterance, int64, shape (B,).

        Returns:
            shape (B, N, F, C).
        """
        frames, _ = self.convolve(mel, None)
        own = self._in_blocks(frames)
        ahead = own[:, 1:, : self.card.context_frames]  # (B, N - 1, A, C)
        x = torch.cat((own.flatten(1, 2), ahead.flatten(1, 2)), dim=1)  # (B, R, C)
        time, block, is_ahead = self._rows(own.shape[1], x.device)
        seen = sees(block, is_ahead, self.card.left_blocks)  # (R, R)
        exists = ~is_ahead | (block < n_blocks[:, None] - 1)  # (B, R)
        mask = (seen & exists[:, None])[:, None]  # (B, 1, R, R)
        turn = rotation(time, self.card.width // self.card.heads, x.dtype)
        for layer in self.stack:
            q, k, v = layer.project(x)
            x = layer.finish(x, attend(turned(q, turn), turned(k, turn), v, mask))
        n_own = own.shape[1] * own.shape[2]
        return self._in_blocks(self.norm(x[:, :n_own]))

    def vectors(self, encoded: Tensor) -> Tensor:
        """Return what the translator reads of encoded blocks.

        Args:
            encoded: shape (B, N, F, C).

        Returns:
            shape (B, N, F / 4, width of the translator).
        """
        return merge_frames(encoded, self.merge_first, self.merge_second, self.out)

    def convolve(
        self, mel: Tensor, before: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Turn frames of the spectrum into a quarter as many of the encoder, looking back only.

        Args:
            mel: shape (B, 4 * frames, 80).
            before: what the call before returned; None: nothing was heard before.

        Returns:
            shape (B, frames, C), and what to give to the next call.
        """
        x = ((mel - self.mean) * self.scale).transpose(1, 2)  # (B, 80, T)
        heard, half = before or (x.new_zeros(len(x), N_BINS, 1), None)
        y = functional.gelu(self.first(torch.cat((heard, x), dim=2)))  # (B, C, T / 2)
        half = y.new_zeros(*y.shape[:2], 1) if half is None else half
        z = functional.gelu(self.second(torch.cat((half, y), dim=2)))  # (B, C, T / 4)
        return z.transpose(1, 2), (x[..., -1:], y[..., -1:])

    @property
    def stack(self) -> Sequence["EncoderLayer"]:
        """The layers of attention."""
        return [cast("EncoderLayer", layer) for layer in self.layers]

    def _in_blocks(self, frames: Tensor) -> Tensor:
        """Divide frames, shape (B, N * F, C), into blocks."""
        n_own = self.card.block_frames
        return frames.reshape(len(frames), -1, n_own, frames.shape[-1])

    def _rows(self, n_blocks: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """Return time, block, and whether it is ahead of its block, of every row, shape (R,)."""
        n_frames, n_ahead = self.card.block_frames, self.card.context_frames
        own = torch.arange(n_blocks * n_frames, device=device)
        block_ahead = torch.arange(n_blocks - 1, device=device)[:, None]
        ahead = (block_ahead + 1) * n_frames + torch.arange(n_ahead, device=device)
        time = torch.cat((own, ahead.flatten()))
        block = torch.cat((own // n_frames, block_ahead.expand(ahead.shape).flatten()))
        return time, block, torch.arange(len(time), device=device) >= len(own)


class EncoderLayer(nn.Module):
    """Attention and feed-forward, each normed before (https://arxiv.org/abs/2002.04745)."""

    def __init__(self, card: SpeechCard) -> None:
        super().__init__()
        width, feed = card.width, card.feed_forward
        self._n_heads = card.heads
        self.attention_norm = nn.LayerNorm(width)
        self.joint = nn.Linear(width, 3 * width)
        self.mixed = nn.Linear(width, width)
        self.feed_norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, feed)
        self.narrow = nn.Linear(feed, width)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of rows (B, R, C), shape (B, H, R, D) each."""
        joint: Tensor = self.joint(self.attention_norm(x))
        joint = joint.reshape(*joint.shape[:2], 3, self._n_heads, -1)  # (B, R, 3, H, D)
        q, k, v = joint.permute(2, 0, 3, 1, 4)  # (B, H, R, D) each
        return q, k, v

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """Return the output for rows (B, R, C), given what they saw, shape (B, H, R, D)."""
        x = x + self.mixed(attended.transpose(1, 2).flatten(2))
        fed: Tensor = x + self.narrow(functional.gelu(self.wide(self.feed_norm(x))))
        return fed


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return what queries (B, H, Q, D) see of keys and values (B, H, K, D)."""
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def rotation(time: Tensor, head_size: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return cosines and sines of rows at these times, shape (R, D / 2) each."""
    rates = _THETA ** (-torch.arange(0, head_size, 2, device=time.device).double() / head_size)
    angles = time.double()[:, None] * rates
    return angles.cos().to(dtype), angles.sin().to(dtype)


def turned(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Turn rows (B, H, R, D) by their times (Su et al. 2021, https://arxiv.org/abs/2104.09864)."""
    (cos, sin), (first, second) = turn, x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


def merge_frames(encoded: Tensor, first: nn.Conv1d, second: nn.Conv1d, out: nn.Linear) -> Tensor:
    """Merge four frames into one, and give each the translator's width, block by block.

    Args:
        encoded: shape (B, N, F, C).
        first: halves the frames.
        second: halves them again.
        out: from the encoder's width to the translator's, W.

    Returns:
        shape (B, N, F / 4, W).
    """
    x = encoded.flatten(0, 1).transpose(1, 2)  # (B * N, C, F)
    x = functional.gelu(first(x))
    x = functional.gelu(second(x)).transpose(1, 2)  # (B * N, F / 4, C)
    read: Tensor = out(x)
    return read.reshape(*encoded.shape[:2], *read.shape[1:])


def sees(block: Tensor, is_ahead: Tensor, left_blocks: int) -> Tensor:
    """Return which rows see which, shape (R, R), see the module."""
    distance = block[:, None] - block[None]
    near = (distance >= 0) & (distance <= left_blocks)
    return near & (~is_ahead[None] | (distance == 0))
