"""The part of a card about a speech encoder, and the header of the file beside it, without torch.

The encoder turns sound into vectors that a translator reads in the place of source tokens
(``engine.runtime.sound``). It is of use to one translator only, which the card names by its hash.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from engine.untrusted.faults import Fault, refuse
from engine.untrusted.file_headers import SafetensorsHeader
from engine.untrusted.plain_files import file_sha256
from engine.untrusted.strict_json import NEEDED, SHA256, Between, shown

ENCODER_FILE = "speech_encoder.safetensors"
N_BINS = 80
"""Bins of the spectrum that an encoder hears."""

FRAMES_MERGED = 4
"""Frames of the encoder that one vector stands for: two convolutions of stride 2."""

_MOST_BYTES = 1 << 32
_MOST_FRAMES, _MOST_BLOCKS = 64, 256
_WIDEST, _DEEPEST, _MOST_HEADS, _WIDEST_FEED, _MOST_IDS = 4096, 64, 64, 1 << 15, 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechCard:
    """The shape of a speech encoder, and what it belongs to; the sizes are those of our own.

    Attributes:
        translator_sha256: of the weights that it was trained for.
        block_frames: frames of 40 ms that are encoded together; a multiple of ``FRAMES_MERGED``.
        context_frames: frames after a block that it sees, at most as many as a block has.
        left_blocks: blocks before it that it sees.
        heads: of each layer; an even number of numbers of the width belongs to each.
        feed_forward: width within a layer.
        vocabulary: ids that its own words are written with, the blank among them; 0: it writes
            none.
    """

    encoder_sha256: Annotated[str, SHA256, NEEDED] = ""
    translator_sha256: Annotated[str, SHA256, NEEDED] = ""
    block_frames: Annotated[int, Between(1, _MOST_FRAMES)] = 8
    context_frames: Annotated[int, Between(0, _MOST_FRAMES)] = 4
    left_blocks: Annotated[int, Between(0, _MOST_BLOCKS)] = 16
    width: Annotated[int, Between(1, _WIDEST)] = 256
    layers: Annotated[int, Between(1, _DEEPEST)] = 6
    heads: Annotated[int, Between(1, _MOST_HEADS)] = 4
    feed_forward: Annotated[int, Between(1, _WIDEST_FEED)] = 1024
    vocabulary: Annotated[int, Between(0, _MOST_IDS)] = 0

    def __post_init__(self) -> None:
        if self.block_frames < 1 or self.block_frames % FRAMES_MERGED:
            refuse(f"has {self.block_frames} frames a block, no multiple of {FRAMES_MERGED}")
        if not 0 <= self.context_frames <= self.block_frames:
            refuse(
                f"sees {self.context_frames} frames after a block, and {self.block_frames} is the "
                "most: as many as a block has"
            )
        if self.heads < 1 or self.width < 1 or self.width % (2 * self.heads):
            refuse(f"divides a width of {self.width} among {self.heads} heads, which leaves a rest")

    @property
    def positions(self) -> int:
        return self.block_frames // FRAMES_MERGED

    def shapes(self, translator_width: int) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of every tensor by its name, all of float32."""
        width, feed, merged = self.width, self.feed_forward, FRAMES_MERGED + 1
        shapes: dict[str, tuple[int, ...]] = {"mean": (N_BINS,), "scale": (N_BINS,)}
        _add(shapes, "first", width, N_BINS, 3)
        _add(shapes, "second", width, width, 3)
        for layer in range(self.layers):
            at = f"layers.{layer}."
            _add(shapes, f"{at}attention_norm", width)
            _add(shapes, f"{at}joint", 3 * width, width)
            _add(shapes, f"{at}mixed", width, width)
            _add(shapes, f"{at}feed_norm", width)
            _add(shapes, f"{at}wide", feed, width)
            _add(shapes, f"{at}narrow", width, feed)
        _add(shapes, "norm", width)
        _add(shapes, "merge_first", width, width, merged)
        _add(shapes, "merge_second", width, width, merged)
        _add(shapes, "out", translator_width, width)
        if self.vocabulary:
            _add(shapes, "words", self.vocabulary, width)
        return shapes

    def n_bytes(self, translator_width: int) -> int:
        return 4 * sum(map(math.prod, self.shapes(translator_width).values()))


def _add(shapes: dict[str, tuple[int, ...]], name: str, *weight: int) -> None:
    shapes[f"{name}.weight"] = weight
    shapes[f"{name}.bias"] = weight[:1]


def check_speech_header(header: SafetensorsHeader, card: SpeechCard, translator_width: int) -> None:
    """Refuse a file that does not hold just the tensors that a card promises.

    Raises:
        ValueError: it does not; the text continues a sentence that begins with the file.
    """
    shapes = card.shapes(translator_width)
    for name, entry in header.tensors.items():
        if name not in shapes or entry.dtype != "F32":
            refuse(
                f"has the tensor {shown(name)} of type {entry.dtype}, and tensors of type F32 of "
                f"an encoder of {card.layers} layers were expected"
            )
        if entry.shape != shapes[name]:
            wanted = list(shapes[name])
            refuse(f"has {name} in the shape {list(entry.shape)}, and {wanted} was expected")
    for name in shapes:
        if name not in header.tensors:
            refuse(f"lacks the tensor {name}")


def most_bytes(card: SpeechCard, translator_width: int) -> int:
    """Return how many bytes the tensors may have.

    Raises:
        ValueError: more than can be read here.
    """
    n_bytes = card.n_bytes(translator_width)
    if n_bytes > _MOST_BYTES:
        detail = f"has {n_bytes} bytes by its card, and {_MOST_BYTES} are the most"
        refuse(Fault.OVERSIZED(detail=detail))
    return n_bytes


def translator_sha256(folder: Path) -> str:
    """Return the hash of the weights in a model folder; of several files that of their hashes.

    Raises:
        OSError: there are none, or they cannot be read.
    """
    paths = sorted(folder.glob("model-*.safetensors")) or [folder / "model.safetensors"]
    hashes = [file_sha256(path) for path in paths]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
