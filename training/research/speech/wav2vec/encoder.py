"""wav2vec 2.0 made block-causal: an encoder of the hub that looks back by blocks, a little ahead.

The weights are those of ``transformers``' Wav2Vec2, under their names; what would see the whole
sound is replaced, as wav2vec-S does (Fu et al. 2024) or by blocks:

* Attention has the mask of ``engine.runtime.sound.encoder``: a block, the blocks before it, and the
  frames ahead of it, which are rows of their own.
* The convolution of positions sees, for a block, the frames before it, the block and the frames
  ahead; behind these are zeros, as behind the end of a sound.
* The group norm of the first convolution, over all of time, becomes a norm of each frame over its
  channels, with the same scale and bias, so such a network must be trained on before it is of use.
* 80 samples of silence come before the sound, so the frame of 20 ms that ends at a time needs
  nothing after it. Samples stay as they are; to scale them to variance 1 would take all of them.

The weight norm of the positions is folded into its weight, and nothing is dropped while training.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.audio.chunks import Samples
from engine.models.speech_card import FRAMES_MERGED
from engine.runtime.sound.block_stream import Block
from engine.runtime.sound.encoder import attend, merge_frames, sees
from engine.untrusted.faults import Fault, refuse

FRAME_SAMPLES = 320
"""Samples of a frame: 20 ms."""

_LEAST_KERNEL = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wav2VecShape:
    """Shape of such a network; the sizes that stand here are those of the hub's base.

    Attributes:
        conv_dim: channels of each convolution of the front end.
        conv_kernel: of each.
        conv_stride: of each; together they make a frame of 20 ms.
        conv_bias: whether they have one.
        norms_each: whether each is normed, else the first alone (``feat_extract_norm``).
        width: numbers in a frame.
        layers: of attention.
        heads: of each layer.
        feed_forward: width within a layer.
        position_kernel: of the convolution of positions.
        position_groups: of the same.
        norms_before: whether layers norm what they read (``do_stable_layer_norm``), else what they
            write.
        epsilon: of the norms.
        block_frames: frames that are encoded together.
        context_frames: frames after a block that it sees.
        left_blocks: blocks before it that it sees.
        vocabulary: ids that its own words are written with, the blank among them; 0: none.
    """

    conv_dim: tuple[int, ...] = (512,) * 7
    conv_kernel: tuple[int, ...] = (10, 3, 3, 3, 3, 2, 2)
    conv_stride: tuple[int, ...] = (5, 2, 2, 2, 2, 2, 2)
    conv_bias: bool = False
    norms_each: bool = False
    width: int = 768
    layers: int = 12
    heads: int = 12
    feed_forward: int = 3072
    position_kernel: int = 128
    position_groups: int = 16
    norms_before: bool = False
    epsilon: float = 1e-5
    block_frames: int = 16
    context_frames: int = 8
    left_blocks: int = 16
    vocabulary: int = 0

    def __post_init__(self) -> None:
        depth = len(self.conv_dim)
        if not depth or depth != len(self.conv_kernel) or depth != len(self.conv_stride):
            refuse("gives its convolutions lists of several lengths")
        if math.prod(self.conv_stride) != FRAME_SAMPLES or self.before_samples < 0:
            detail = f"makes frames of {math.prod(self.conv_stride)} samples, not {FRAME_SAMPLES}"
            refuse(Fault.UNSUPPORTED(detail=detail))
        if self.position_kernel < _LEAST_KERNEL:
            refuse(f"gives positions a kernel of {self.position_kernel}, which sees no neighbour")
        if self.width % self.heads or self.width % self.position_groups:
            refuse(
                f"divides a width of {self.width} among {self.heads} heads or "
                f"{self.position_groups} groups, which leaves a rest"
            )
        if self.block_frames < 1 or self.block_frames % FRAMES_MERGED:
            refuse(f"has {self.block_frames} frames a block, no multiple of {FRAMES_MERGED}")
        if not 0 <= self.context_frames <= self.block_frames:
            refuse(f"sees {self.context_frames} frames after a block of {self.block_frames}")

    @property
    def positions(self) -> int:
        """Vectors of a block."""
        return self.block_frames // FRAMES_MERGED

    @property
    def block_samples(self) -> int:
        """Samples of a block."""
        return self.block_frames * FRAME_SAMPLES

    @property
    def before_samples(self) -> int:
        """Samples that a frame sees before its own."""
        seen, stride = 1, 1
        for kernel, step in zip(self.conv_kernel, self.conv_stride, strict=True):
            seen += (kernel - 1) * stride
            stride *= step
        return seen - stride


class Wav2VecEncoder(nn.Module):
    """The network, with an adapter as that of ``SpeechEncoder``.

    Shapes: B utterances, N blocks, F frames of a block, C numbers of a frame.

    Attributes:
        card: its shape.
    """

    def __init__(self, card: Wav2VecShape, translator_width: int) -> None:
        """Make a network of random weights.

        Args:
            card: its shape.
            translator_width: numbers in a row of the translator.
        """
        super().__init__()
        self.card = card
        width = card.width
        self.wav2vec2 = nn.ModuleDict(
            {
                "feature_extractor": _convolutions(card),
                "feature_projection": nn.ModuleDict(
                    {
                        "layer_norm": nn.LayerNorm(card.conv_dim[-1], eps=card.epsilon),
                        "projection": nn.Linear(card.conv_dim[-1], width),
                    }
                ),
                "encoder": _Attending(card),
            }
        )
        merged = FRAMES_MERGED + 1
        self.merge_first = nn.Conv1d(width, width, merged, stride=2, padding=2)
        self.merge_second = nn.Conv1d(width, width, merged, stride=2, padding=2)
        self.out = nn.Linear(width, translator_width)
        self.words = nn.Linear(width, card.vocabulary) if card.vocabulary else None

    def forward(self, sound: Tensor, n_blocks: Tensor) -> Tensor:
        """Encode whole utterances in one pass.

        Args:
            sound: samples, shape (B, N * F * 320, 1); what is behind an utterance is not seen.
            n_blocks: of each utterance, int64, shape (B,).

        Returns:
            shape (B, N, F, C).
        """
        card, inner = self.card, self.attending
        heard = functional.pad(sound[..., 0], (card.before_samples, 0))
        frames = self.frames(heard)  # (B, N * F, C)
        n_own, n_ahead = card.block_frames, card.context_frames
        own = frames.reshape(len(frames), -1, n_own, card.width)  # (B, N, F, C)
        ahead = functional.pad(own[:, 1:, :n_ahead], (0, 0, 0, 0, 0, 1))
        number = torch.arange(own.shape[1], device=frames.device)
        exists = number < n_blocks[:, None] - 1  # (B, N): whether a block follows
        ahead = ahead * exists[..., None, None]
        n_left = inner.n_left
        starts = functional.pad(frames, (0, 0, n_left, 0))  # (B, L + N * F, C)
        before = starts.unfold(1, n_left, n_own)[:, : own.shape[1]].transpose(2, 3)  # (B, N, L, C)
        each = torch.cat((own, ahead), dim=2)  # (B, N, F + A, C)
        x = inner.placed(before.flatten(0, 1), each.flatten(0, 1))  # (B * N, F + A, C)
        row = torch.arange(n_own + n_ahead, device=frames.device)
        is_ahead = (row >= n_own).repeat(len(number))  # (R,)
        block = number.repeat_interleave(len(row))
        seen = sees(block, is_ahead, card.left_blocks)  # (R, R)
        real = ~is_ahead | exists.repeat_interleave(len(row), dim=1)  # (B, R)
        mask = (seen & real[:, None])[:, None]  # (B, 1, R, R)
        rows = x.reshape(len(own), -1, card.width)  # (B, R, C)
        for layer in inner.stack:
            q, k, v = layer.project(rows)
            rows = layer.finish(rows, attend(q, k, v, mask))
        return inner.ended(rows).reshape(each.shape)[:, :, :n_own]

    def frames(self, heard: Tensor) -> Tensor:
        """Turn samples, shape (B, before_samples + frames * 320), into frames (B, frames, C)."""
        x = heard[:, None]
        extractor = cast("nn.ModuleDict", self.wav2vec2["feature_extractor"])
        for layer in cast("Sequence[nn.ModuleDict]", extractor["conv_layers"]):
            x = layer["conv"](x)
            if "layer_norm" in layer:
                x = layer["layer_norm"](x.transpose(1, 2)).transpose(1, 2)
            x = functional.gelu(x)
        projection = cast("nn.ModuleDict", self.wav2vec2["feature_projection"])
        projected: Tensor = projection["projection"](projection["layer_norm"](x.transpose(1, 2)))
        return projected

    def vectors(self, encoded: Tensor) -> Tensor:
        """Return what the translator reads of encoded blocks, as ``SpeechEncoder.vectors``."""
        return merge_frames(encoded, self.merge_first, self.merge_second, self.out)

    @property
    def attending(self) -> "_Attending":
        """The part after the front end."""
        return cast("_Attending", self.wav2vec2["encoder"])


class Wav2VecStream:
    """Feed samples of one speech, get blocks, as ``engine.runtime.sound.block_stream`` does.

    Invariant: the blocks of all calls together are those of one masked pass over the speech, for
    any cut into chunks. Memory is bounded, however long the speech.
    """

    def __init__(self, encoder: Wav2VecEncoder) -> None:
        self._encoder = encoder
        self._card = encoder.card
        self._n_samples = 0
        self._heard = np.zeros(self._card.before_samples, np.float32)
        weight = encoder.out.weight
        self._before = weight.new_zeros(1, encoder.attending.n_left, self._card.width)
        self._frames = weight.new_zeros(1, 0, self._card.width)  # not encoded yet
        self._cached: list[tuple[Tensor, Tensor]] = []  # keys and values of each layer

    @torch.inference_mode()
    def feed(self, samples: Samples) -> list[Block]:
        """Hear more; return the blocks that are certain now."""
        self._n_samples += len(samples)
        self._take(samples)
        return list(self._encoded(least=self._card.block_frames + self._card.context_frames))

    @torch.inference_mode()
    def flush(self) -> list[Block]:
        """Hear that nothing follows; return the last blocks, none where nothing was heard."""
        self._take(np.zeros(-self._n_samples % self._card.block_samples, np.float32))
        return list(self._encoded(least=1))

    def _take(self, samples: Samples) -> None:
        heard = np.concatenate([self._heard, samples])
        n_before = self._card.before_samples
        n_whole = (len(heard) - n_before) // FRAME_SAMPLES * FRAME_SAMPLES
        self._heard = heard[n_whole:].copy()
        if n_whole:
            sound = torch.from_numpy(heard[None, : n_before + n_whole]).to(self._frames)
            self._frames = torch.cat((self._frames, self._encoder.frames(sound)), dim=1)

    def _encoded(self, least: int) -> Iterator[Block]:
        n_own, n_ahead = self._card.block_frames, self._card.context_frames
        words = self._encoder.words
        while self._frames.shape[1] >= least:
            x = self._encode(self._frames[:, : n_own + n_ahead])[:, None]  # (1, 1, F, C)
            past = torch.cat((self._before, self._frames[:, :n_own]), dim=1)
            self._before = past[:, n_own:].clone()
            self._frames = self._frames[:, n_own:].clone()
            yield Block(
                self._encoder.vectors(x)[0, 0].float().numpy(force=True),
                None if words is None else words(x)[0, 0].float().numpy(force=True),
            )

    def _encode(self, frames: Tensor) -> Tensor:
        """Encode a block and the frames ahead of it, shape (1, R, C); return the block's own."""
        inner, n_own = self._encoder.attending, self._card.block_frames
        x = inner.placed(self._before, frames)
        n_kept, fresh = self._card.left_blocks * n_own, list[tuple[Tensor, Tensor]]()
        for number, layer in enumerate(inner.stack):
            q, k, v = layer.project(x)
            n_left = 0
            if self._cached:
                keys, values = self._cached[number]
                n_left = keys.shape[2]
                k, v = torch.cat((keys, k), dim=2), torch.cat((values, v), dim=2)
            x = layer.finish(x, attend(q, k, v))
            end = n_left + n_own
            first = max(0, end - n_kept)
            fresh.append((k[:, :, first:end].clone(), v[:, :, first:end].clone()))
        self._cached = fresh
        return inner.ended(x)[:, :n_own]


class _Attending(nn.Module):
    """Positions and layers of attention."""

    def __init__(self, card: Wav2VecShape) -> None:
        super().__init__()
        kernel = card.position_kernel
        self.n_left, self._n_right = kernel // 2, kernel - 1 - kernel // 2
        self._norms_before = card.norms_before
        conv = nn.Conv1d(card.width, card.width, kernel, groups=card.position_groups)
        self.pos_conv_embed = nn.ModuleDict({"conv": conv})
        self.layer_norm = nn.LayerNorm(card.width, eps=card.epsilon)
        self.layers = nn.ModuleList(_Layer(card) for _ in range(card.layers))

    @property
    def stack(self) -> Sequence["_Layer"]:
        """The layers of attention."""
        return [cast("_Layer", layer) for layer in self.layers]

    def placed(self, before: Tensor, frames: Tensor) -> Tensor:
        """Add positions to frames (B, R, C), given those before them, shape (B, n_left, C)."""
        window = functional.pad(torch.cat((before, frames), dim=1), (0, 0, 0, self._n_right))
        position: Tensor = self.pos_conv_embed["conv"](window.transpose(1, 2)).transpose(1, 2)
        x = frames + functional.gelu(position)
        return x if self._norms_before else cast("Tensor", self.layer_norm(x))

    def ended(self, x: Tensor) -> Tensor:
        """Norm what the last layer wrote, where layers do not."""
        return cast("Tensor", self.layer_norm(x)) if self._norms_before else x


class _Layer(nn.Module):
    """Attention and feed-forward, each normed before or after."""

    def __init__(self, card: Wav2VecShape) -> None:
        super().__init__()
        width, epsilon = card.width, card.epsilon
        self._n_heads, self._norms_before = card.heads, card.norms_before
        names = ("q_proj", "k_proj", "v_proj", "out_proj")
        self.attention = nn.ModuleDict({name: nn.Linear(width, width) for name in names})
        self.layer_norm = nn.LayerNorm(width, eps=epsilon)
        self.feed_forward = nn.ModuleDict(
            {
                "intermediate_dense": nn.Linear(width, card.feed_forward),
                "output_dense": nn.Linear(card.feed_forward, width),
            }
        )
        self.final_layer_norm = nn.LayerNorm(width, eps=epsilon)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of rows (B, R, C), shape (B, H, R, D) each."""
        read = self.layer_norm(x) if self._norms_before else x
        shape = (*x.shape[:2], self._n_heads, -1)
        q, k, v = (
            self.attention[name](read).reshape(shape).transpose(1, 2)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        return q, k, v

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """Return the output for rows (B, R, C), given what they saw, shape (B, H, R, D)."""
        x = x + self.attention["out_proj"](attended.transpose(1, 2).flatten(2))
        if self._norms_before:
            return x + self._fed(self.final_layer_norm(x))
        x = self.layer_norm(x)
        return cast("Tensor", self.final_layer_norm(x + self._fed(x)))

    def _fed(self, x: Tensor) -> Tensor:
        wide = functional.gelu(self.feed_forward["intermediate_dense"](x))
        return cast("Tensor", self.feed_forward["output_dense"](wide))


def _convolutions(card: Wav2VecShape) -> nn.ModuleDict:
    channels, made = 1, list[nn.ModuleDict]()
    sizes = zip(card.conv_dim, card.conv_kernel, card.conv_stride, strict=True)
    for number, (width, kernel, stride) in enumerate(sizes):
        conv = nn.Conv1d(channels, width, kernel, stride=stride, bias=card.conv_bias)
        parts: dict[str, nn.Module] = {"conv": conv}
        if card.norms_each or number == 0:
            parts["layer_norm"] = nn.LayerNorm(width)
        made.append(nn.ModuleDict(parts))
        channels = width
    return nn.ModuleDict({"conv_layers": nn.ModuleList(made)})
