"""Encode sound block by block as it comes, each block once."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.audio.chunks import Samples
from engine.models.speech_card import SpeechCard
from engine.runtime.sound.encoder import MEL_FRAMES, SpeechEncoder, attend, rotation, turned
from engine.runtime.sound.log_mel import HOP, LogMel


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
    """Return the samples of a block."""
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

        Args:
            samples: shape (N,), float32 from -1 to 1, 16 kHz.
        """
        self._n_samples += len(samples)
        self._take(samples)
        n_own, n_ahead = self._card.block_frames, self._card.context_frames
        return list(self._encoded(least=n_own + n_ahead))

    @torch.inference_mode()
    def flush(self) -> list[Block]:
        """Hear that nothing follows; return the last blocks, none where nothing was heard."""
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
        """Encode blocks while so many frames wait."""
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
