"""Models of the hub that Surtitle can use at once: what is known of them before they are fetched.

Numbers are of the files as they were when this was written. Any other model can be named as well.
The Whisper models are all in CTranslate2's form.
"""

from dataclasses import dataclass

from engine.models.memory_footprint import Footprint


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model by its name on the hub.

    Attributes:
        name: ``owner/name``.
        download_bytes: of its weights, to be fetched once.
        licence: as the hub names it.
        is_gated: its owner wants to be asked on the hub before it can be fetched.
        footprint: what it needs in memory.
    """

    name: str
    download_bytes: int
    licence: str
    is_gated: bool
    footprint: Footprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The shape of a decoder with gated feed-forward parts, as its config.json gives it.

    Attributes:
        tied: the output layer is the embedding table.
    """

    layers: int
    width: int
    feed_forward: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    tied: bool

    @property
    def footprint(self) -> Footprint:
        """Count its numbers as ``memory_footprint`` would; biases of projections are left out."""
        queries, keys = self.heads * self.head_size, self.kv_heads * self.head_size
        attention = self.width * (2 * queries + 2 * keys)
        n_linear = self.layers * (attention + 3 * self.width * self.feed_forward)
        rows = queries + 2 * keys + 2 * self.width + 2 * self.feed_forward
        tables = self.vocabulary * self.width * (1 if self.tied else 2)
        return Footprint(
            n_linear=n_linear,
            n_rows=self.layers * rows,
            n_other=tables + self.width * (2 * self.layers + 1),
            n_cached=2 * self.layers * keys,
            stored_bytes=2,
        )


def _qwen3(layers: int, width: int, feed_forward: int, heads: int) -> Footprint:
    return Shape(
        layers=layers,
        width=width,
        feed_forward=feed_forward,
        heads=heads,
        kv_heads=8,
        head_size=128,
        vocabulary=151_936,
        tied=True,
    ).footprint


def _qwen25(layers: int, width: int, feed_forward: int, heads: tuple[int, int]) -> Footprint:
    head_size = width // heads[0]
    return Shape(
        layers=layers,
        width=width,
        feed_forward=feed_forward,
        heads=heads[0],
        kv_heads=heads[1],
        head_size=head_size,
        vocabulary=151_936 if width < 3584 else 152_064,
        tied=width < 3584,
    ).footprint


def _open(name: str, download_bytes: int, footprint: Footprint) -> KnownModel:
    return KnownModel(
        name=name,
        download_bytes=download_bytes,
        licence="Apache-2.0",
        is_gated=False,
        footprint=footprint,
    )


KNOWN_MODELS = (  # smallest first
    _open("Qwen/Qwen2.5-0.5B-Instruct", 988_097_824, _qwen25(24, 896, 4864, (14, 2))),
    _open("Qwen/Qwen3-0.6B", 1_503_300_328, _qwen3(28, 1024, 3072, 16)),
    _open("Qwen/Qwen2.5-1.5B-Instruct", 3_087_467_144, _qwen25(28, 1536, 8960, (12, 2))),
    _open("Qwen/Qwen3-1.7B", 4_063_515_592, _qwen3(28, 2048, 6144, 16)),
    _open("Qwen/Qwen3-4B", 8_044_982_000, _qwen3(36, 2560, 9728, 32)),
    _open("Qwen/Qwen2.5-7B-Instruct", 15_231_271_864, _qwen25(28, 3584, 18_944, (28, 4))),
    KnownModel(
        name="meta-llama/Llama-3.1-8B-Instruct",
        download_bytes=16_060_556_376,
        licence="Llama 3.1",
        is_gated=True,
        footprint=Shape(
            layers=32,
            width=4096,
            feed_forward=14_336,
            heads=32,
            kv_heads=8,
            head_size=128,
            vocabulary=128_256,
            tied=False,
        ).footprint,
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
"""Names of Whisper models that people know, smallest model first, and where each is on the hub."""


def smaller_whisper(name: str) -> str:
    """Return the next smaller Whisper of the same languages, or an empty text."""
    if name not in WHISPER_MODELS:
        return ""
    names = list(WHISPER_MODELS)
    smaller = names[: names.index(name)]
    alike = [other for other in smaller if other.endswith(".en") == name.endswith(".en")]
    return alike[-1] if alike else ""
