"""Models of the hub that Surtitle suggests, with their sizes before they are fetched.

The numbers are those of the files when this was written. Any other model can be named as well. All
Whisper models are in CTranslate2's format.
"""

from dataclasses import dataclass

from engine.models.memory_footprint import Footprint


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model by its name on the hub.

    Attributes:
        name: ``owner/name``.
        download_bytes: size of its weights.
        footprint: its size in memory.
        licence: as the hub names it.
        is_gated: its owner must grant access on the hub before it can be fetched.
    """

    name: str
    download_bytes: int
    footprint: Footprint
    licence: str = "Apache-2.0"
    is_gated: bool = False


@dataclass(frozen=True, slots=True)
class _Shape:
    """The shape of a decoder with gated feed-forward parts, as in its config.json.

    Attributes:
        tied: the output layer is the embedding table.
    """

    layers: int
    width: int
    feed_forward: int
    heads: int
    kv_heads: int = 8
    head_size: int = 128
    vocabulary: int = 151_936
    tied: bool = True

    def model(
        self, name: str, n_bytes: int, *, licence: str = "Apache-2.0", is_gated: bool = False
    ) -> KnownModel:
        """Count its numbers as ``memory_footprint`` would; biases of projections are left out."""
        queries, keys = self.heads * self.head_size, self.kv_heads * self.head_size
        attention = self.width * (2 * queries + 2 * keys)
        rows = queries + 2 * keys + 2 * self.width + 2 * self.feed_forward
        tables = self.vocabulary * self.width * (1 if self.tied else 2)
        footprint = Footprint(
            n_linear=self.layers * (attention + 3 * self.width * self.feed_forward),
            n_rows=self.layers * rows,
            n_other=tables + self.width * (2 * self.layers + 1),
            n_cached=2 * self.layers * keys,
            stored_bytes=2,
        )
        return KnownModel(
            name=name,
            download_bytes=n_bytes,
            footprint=footprint,
            licence=licence,
            is_gated=is_gated,
        )


KNOWN_MODELS = (  # smallest first
    _Shape(24, 896, 4864, 14, 2, 64).model("Qwen/Qwen2.5-0.5B-Instruct", 988_097_824),
    _Shape(28, 1024, 3072, 16).model("Qwen/Qwen3-0.6B", 1_503_300_328),
    _Shape(28, 1536, 8960, 12, 2).model("Qwen/Qwen2.5-1.5B-Instruct", 3_087_467_144),
    _Shape(28, 2048, 6144, 16).model("Qwen/Qwen3-1.7B", 4_063_515_592),
    _Shape(36, 2560, 9728, 32).model("Qwen/Qwen3-4B", 8_044_982_000),
    _Shape(28, 3584, 18_944, 28, 4, vocabulary=152_064, tied=False).model(
        "Qwen/Qwen2.5-7B-Instruct", 15_231_271_864
    ),
    _Shape(32, 4096, 14_336, 32, vocabulary=128_256, tied=False).model(
        "meta-llama/Llama-3.1-8B-Instruct", 16_060_556_376, licence="Llama 3.1", is_gated=True
    ),
)
"""Instruct models without code of their own, in families that docs/models.md lists."""

STANDARD_WHISPER = "base.en"

_SYSTRAN = "Systran/faster-"
WHISPER_MODELS = {
    "tiny.en": f"{_SYSTRAN}whisper-tiny.en",
    "tiny": f"{_SYSTRAN}whisper-tiny",
    "base.en": f"{_SYSTRAN}whisper-base.en",
    "base": f"{_SYSTRAN}whisper-base",
    "distil-small.en": f"{_SYSTRAN}distil-whisper-small.en",
    "small.en": f"{_SYSTRAN}whisper-small.en",
    "small": f"{_SYSTRAN}whisper-small",
    "distil-medium.en": f"{_SYSTRAN}distil-whisper-medium.en",
    "medium.en": f"{_SYSTRAN}whisper-medium.en",
    "medium": f"{_SYSTRAN}whisper-medium",
    "distil-large-v3": f"{_SYSTRAN}distil-whisper-large-v3",
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "large-v2": f"{_SYSTRAN}whisper-large-v2",
    "large-v3": f"{_SYSTRAN}whisper-large-v3",
}
"""Hub ids of Whisper models by their common names, smallest model first."""


def smaller_whisper(name: str) -> str:
    """Return the next smaller Whisper of the same languages, or an empty text."""
    if name not in WHISPER_MODELS:
        return ""
    names = list(WHISPER_MODELS)
    smaller = names[: names.index(name)]
    alike = [model for model in smaller if model.endswith(".en") == name.endswith(".en")]
    return alike[-1] if alike else ""
