"""The spectrum of sound as it comes: 80 log-mel bins every 10 ms.

A window of 25 ms ends where its frame ends, so a frame needs no sound after it; before the first
sample is silence.
"""

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError
from engine.messages import Code
from engine.models.model_card import (
    ENCODER_FILE,
    FRAMES_MERGED,
    N_BINS,
    ModelCard,
    SpeechCard,
    check_speech_header,
    most_bytes,
    translator_sha256,
)
from engine.models.tensor_file import Arrays, check_size, parse_tensors, read_tensor_file
from engine.untrusted.faults import Fault, fault_of, refuse
from engine.untrusted.file_headers import MAX_HEADER_BYTES, read_header
from engine.untrusted.plain_files import file_sha256

HOP = 160
"""Samples of a frame."""

_WINDOW, _SIZE = 400, 512
_LOWEST_HZ, _HIGHEST_HZ = 20.0, 7600.0
_LEAST = 1e-7
"""Energy below which all is silence."""

Frames = NDArray[np.float32]


class LogMel:
    """Feed samples, get frames.

    Invariant: the frames of all calls together are those of one call with all samples.
    """

    def __init__(self) -> None:
        self._waiting = np.zeros(_WINDOW - HOP, np.float32)

    def feed(self, samples: Samples) -> Frames:
        """Return the frames that are whole now: float32, shape (n_frames, 80).

        ``samples``: shape (N,), float32 from -1 to 1, 16 kHz.
        """
        heard = np.concatenate([self._waiting, samples])
        n_frames = max(0, (len(heard) - _WINDOW + HOP) // HOP)
        self._waiting = heard[n_frames * HOP :].copy()
        if not n_frames:
            return np.zeros((0, N_BINS), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(heard, _WINDOW)[::HOP][:n_frames]
        power = np.abs(np.fft.rfft(windows.astype(np.float64) * np.hanning(_WINDOW), _SIZE)) ** 2
        energy = power @ _triangles()
        return np.log(np.maximum(energy, _LEAST)).astype(np.float32)


@functools.cache
def _triangles() -> NDArray[np.float64]:
    """Return the weight of each frequency in each bin, shape (257, 80)."""
    lowest, highest = _mel(np.array([_LOWEST_HZ, _HIGHEST_HZ]))
    edges = np.linspace(lowest, highest, N_BINS + 2)
    mels = _mel(np.arange(_SIZE // 2 + 1) * SAMPLE_RATE_HZ / _SIZE)[:, None]
    rising = (mels - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mels) / (edges[2:] - edges[1:-1])
    weights: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling))
    return weights


def _mel(hertz: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1127.0 * np.log(1.0 + hertz / 700.0)


MEL_FRAMES = 4
"""Frames of the spectrum in one of the encoder's: two convolutions of stride 2."""

_KERNEL = 3
_THETA = 10_000.0


class SpeechEncoder(nn.Module):
    """The network; its tensors are those of ``SpeechCard.shapes``.

    Shapes: B utterances, N blocks, F frames of a block, C numbers of a frame.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, card: SpeechCard, translator_width: int) -> None:
        """Make a network of random weights, for a translator of this width."""
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
        """Encode whole utterances in one pass; return shape (B, N, F, C).

        Args:
            mel: log-mel frames, shape (B, N * F * 4, 80); what is behind an utterance is not seen.
            n_blocks: of each utterance, int64, shape (B,).
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

        From (B, N, F, C) to (B, N, F / 4, width of the translator).
        """
        return merge_frames(encoded, self.merge_first, self.merge_second, self.out)

    def convolve(
        self, mel: Tensor, before: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Turn spectrum frames (B, 4 * frames, 80) into (B, frames, C), looking back only.

        ``before`` is what the call before returned besides; None: nothing was heard before.
        """
        x = ((mel - self.mean) * self.scale).transpose(1, 2)  # (B, 80, T)
        heard, half = before or (x.new_zeros(len(x), N_BINS, 1), None)
        y = functional.gelu(self.first(torch.cat((heard, x), dim=2)))  # (B, C, T / 2)
        half = y.new_zeros(*y.shape[:2], 1) if half is None else half
        z = functional.gelu(self.second(torch.cat((half, y), dim=2)))  # (B, C, T / 4)
        return z.transpose(1, 2), (x[..., -1:], y[..., -1:])

    @property
    def stack(self) -> Sequence["EncoderLayer"]:
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
    """Merge four frames into one, and give each the translator's width W, block by block.

    From (B, N, F, C) to (B, N, F / 4, W).
    """
    x = encoded.flatten(0, 1).transpose(1, 2)  # (B * N, C, F)
    x = functional.gelu(first(x))
    x = functional.gelu(second(x)).transpose(1, 2)  # (B * N, F / 4, C)
    read: Tensor = out(x)
    return read.reshape(*encoded.shape[:2], *read.shape[1:])


def sees(block: Tensor, is_ahead: Tensor, left_blocks: int) -> Tensor:
    """Return which rows see which, shape (R, R)."""
    distance = block[:, None] - block[None]
    near = (distance >= 0) & (distance <= left_blocks)
    return near & (~is_ahead[None] | (distance == 0))


class Block(NamedTuple):
    """One block of sound.

    Attributes:
        vectors: what the translator reads, float32, shape (positions, width of the translator).
        words: how likely each id of the encoder's own words is after each frame, as logits,
            float32, shape (frames, vocabulary); None where it writes none.
    """

    vectors: NDArray[np.float32]
    words: NDArray[np.float32] | None = None


def block_samples(card: SpeechCard) -> int:
    return card.block_frames * MEL_FRAMES * HOP


class BlockStream:
    """Feed samples of one speech, get blocks; ``flush`` ends it.

    A block comes when its right context was heard. A speech that ends within one is filled up with
    silence, as in training, so each is whole; the last one sees nothing ahead.

    Invariant: the blocks of all calls together are those of one masked pass over the speech, for
    any cut into chunks. Memory is bounded, however long the speech.
    """

    def __init__(self, encoder: SpeechEncoder) -> None:
        self._encoder = encoder
        self._card = encoder.card
        self._mel = LogMel()
        self._n_samples = 0
        self._before: tuple[Tensor, Tensor] | None = None  # of the convolutions
        self._spectrum = np.zeros((0, len(encoder.mean)), np.float32)  # less than a frame
        self._frames = encoder.mean.new_zeros(1, 0, self._card.width)  # not encoded yet
        self._cached: list[tuple[Tensor, Tensor]] = []  # keys and values of each layer, not turned

    @torch.inference_mode()
    def feed(self, samples: Samples) -> list[Block]:
        """Hear more; return the blocks that are certain now.

        ``samples``: shape (N,), float32 from -1 to 1, 16 kHz.
        """
        self._n_samples += len(samples)
        self._take(samples)
        n_own, n_ahead = self._card.block_frames, self._card.context_frames
        return list(self._encoded(least=n_own + n_ahead))

    @torch.inference_mode()
    def flush(self) -> list[Block]:
        missing = -self._n_samples % block_samples(self._card)
        self._take(np.zeros(missing, np.float32))
        return list(self._encoded(least=1))

    def _take(self, samples: Samples) -> None:
        spectrum = np.concatenate([self._spectrum, self._mel.feed(samples)])
        n_whole = len(spectrum) // MEL_FRAMES * MEL_FRAMES
        self._spectrum = spectrum[n_whole:].copy()
        if n_whole:
            mel = torch.from_numpy(spectrum[None, :n_whole]).to(self._frames)
            frames, self._before = self._encoder.convolve(mel, self._before)
            self._frames = torch.cat((self._frames, frames), dim=1)

    def _encoded(self, least: int) -> Iterator[Block]:
        n_own, n_ahead = self._card.block_frames, self._card.context_frames
        while self._frames.shape[1] >= least:
            x = self._encode(self._frames[:, : n_own + n_ahead])[:, None]  # (1, 1, F, C)
            self._frames = self._frames[:, n_own:].clone()
            words = None if self._encoder.words is None else self._encoder.words(x)[0, 0]
            yield Block(
                self._encoder.vectors(x)[0, 0].float().numpy(force=True),
                None if words is None else words.float().numpy(force=True),
            )

    def _encode(self, x: Tensor) -> Tensor:
        """Encode a block and the frames ahead of it, shape (1, R, C); return the block's own."""
        encoder, n_own = self._encoder, self._card.block_frames
        n_kept = self._card.left_blocks * n_own
        cached = self._cached or [(x.new_zeros(0), x.new_zeros(0))] * len(encoder.stack)
        # turned by their places among those in sight: only differences of times count
        n_left = cached[0][0].shape[-2] if self._cached else 0
        time = torch.arange(n_left + x.shape[1], device=x.device)
        cos, sin = rotation(time, self._card.width // self._card.heads, x.dtype)
        fresh = []
        for layer, (keys, values) in zip(encoder.stack, cached, strict=True):
            q, k, v = layer.project(x)
            seen, held = (
                torch.cat(it, dim=2) if n_left else it[1] for it in ((keys, k), (values, v))
            )
            q = turned(q, (cos[n_left:], sin[n_left:]))
            x = layer.finish(x, attend(q, turned(seen, (cos, sin)), held))
            end = n_left + n_own
            first = max(0, end - n_kept)
            fresh.append((seen[:, :, first:end].clone(), held[:, :, first:end].clone()))
        self._cached = fresh
        encoded: Tensor = encoder.norm(x[:, :n_own])
        return encoded


def load_speech_encoder(folder: Path, card: ModelCard, translator_width: int) -> SpeechEncoder:
    """Load the encoder that a card names, on the processor, in evaluation mode.

    Raises:
        ModelError: the folder has none, or one that is damaged, oversized, or of another model.
    """
    if card.speech is None:
        raise ModelError(Code.NO_SPEECH_ENCODER(model=card.name))
    try:
        arrays = _arrays(folder, card.speech, translator_width)
    except MemoryError as error:
        raise ModelError(Code.OUT_OF_MEMORY(reason=ENCODER_FILE)) from error
    except (OSError, ValueError) as error:
        reason = fault_of(error, ENCODER_FILE)
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
    with torch.device("meta"):
        encoder = SpeechEncoder(card.speech, translator_width)
    tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    encoder.load_state_dict(tensors, assign=True)
    return encoder.requires_grad_(requires_grad=False).eval()


def _arrays(folder: Path, card: SpeechCard, translator_width: int) -> Arrays:
    """Read the tensors of the encoder, after all checks that need none of them."""
    file, limit = folder / ENCODER_FILE, MAX_HEADER_BYTES + most_bytes(card, translator_width)
    check_size(file, limit)
    check_speech_header(read_header(file), card, translator_width)
    if file_sha256(file) != card.encoder_sha256:
        refuse("was changed or damaged after its card was written")
    if translator_sha256(folder) != card.translator_sha256:
        detail = "belongs to other weights than those beside it"
        refuse(Fault.DAMAGED(detail=detail))
    arrays = parse_tensors(read_tensor_file(file, limit))
    if not all(np.isfinite(array).all() for array in arrays.values()):
        refuse("holds numbers that are none (NaN) or infinite")
    return arrays
