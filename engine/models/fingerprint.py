"""Identify the base model of an adapter by its shape and its tokenizer.

Read from ``config.json`` and ``tokenizer.json`` alone, so a base of gigabytes takes milliseconds.
Two checkpoints of the same shape and tokenizer have the same fingerprint.
``docs/adapter-format.md`` defines each field, to the byte.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from engine.errors import ModelError
from engine.messages import Code
from engine.untrusted.faults import fault_of
from engine.untrusted.model_folder import MAX_CONFIG_BYTES
from engine.untrusted.regular_file import file_sha256
from engine.untrusted.strict_json import SHA256, Between, JsonObject

_MOST_LAYERS = 1024
_OWN_HEAD_SIZE = (
    "gemma2",
    "gemma3_text",
    "qwen3",
)  # head_dim has a default there that hidden_size does not give
_OWN_KV_HEADS = (
    "gemma2",
    "gemma3_text",
    "mistral",
    "qwen2",
    "qwen3",
)  # and so has num_key_value_heads
_Size = Annotated[int, Between(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The shape of a base model and the hash of its tokenizer.

    Attributes:
        architecture: transformers' name of the family (``model_type``), for example llama.
        layers: decoder layers.
        hidden_size: width of the residual stream.
        heads: query heads of a layer.
        kv_heads: key and value heads of a layer.
        head_size: width of one head.
        feed_forward: width of the feed-forward part.
        vocabulary: rows of the embedding table.
        tokenizer_sha256: of the bytes of tokenizer.json, in lower-case hexadecimal.
    """

    architecture: str
    layers: Annotated[int, Between(1, _MOST_LAYERS)]
    hidden_size: _Size
    heads: _Size
    kv_heads: _Size
    head_size: _Size
    feed_forward: _Size
    vocabulary: _Size
    tokenizer_sha256: Annotated[str, SHA256]

    def difference(self, other: "Fingerprint") -> str | None:
        """Describe the first field in which another base differs; None if all are equal."""
        for field in fields(self):
            mine, its = getattr(self, field.name), getattr(other, field.name)
            if mine != its:
                name = field.name.replace("_", " ")
                if field.name == "tokenizer_sha256":
                    name, mine, its = "tokenizer sha256", f"{mine[:12]}...", f"{its[:12]}..."
                return f"{name} {mine} there and {its} here"
        return None


def read_fingerprint(folder: Path) -> Fingerprint:
    """Compute the fingerprint of a model folder.

    Raises:
        ModelError: config.json or tokenizer.json is missing or garbled.
    """
    try:
        config = JsonObject.read(folder / "config.json", MAX_CONFIG_BYTES)
        return _fingerprint(config, file_sha256(folder / "tokenizer.json"))
    except OSError as error:
        name = Path(error.filename or "config.json").name
        reason = fault_of(error, name)
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
    except ValueError as error:
        reason = fault_of(error, "config.json")
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error


def known_fingerprint(folder: Path) -> Fingerprint | None:
    """Return the fingerprint of a model folder; None if no adapter can be checked against it."""
    try:
        return read_fingerprint(folder)
    except ModelError:
        return None


def _fingerprint(config: JsonObject, tokenizer_sha256: str) -> Fingerprint:
    architecture = config.text("model_type")
    hidden_size = config.size("hidden_size")
    heads = config.size("num_attention_heads")
    head_size = hidden_size // heads
    if architecture == "falcon":
        kv_heads, feed_forward = _falcon(config, hidden_size, heads)
    else:
        kv_heads = config.size(
            "num_key_value_heads", None if architecture in _OWN_KV_HEADS else heads
        )
        head_size = config.size("head_dim", None if architecture in _OWN_HEAD_SIZE else head_size)
        feed_forward = config.size("intermediate_size")
    return Fingerprint(
        architecture=architecture,
        layers=config.size("num_hidden_layers", most=_MOST_LAYERS),
        hidden_size=hidden_size,
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        feed_forward=feed_forward,
        vocabulary=config.size("vocab_size"),
        tokenizer_sha256=tokenizer_sha256,
    )


def _falcon(config: JsonObject, hidden_size: int, heads: int) -> tuple[int, int]:
    """Return key heads and feed-forward width, whose defaults transformers computes."""
    kv_heads = config.size("num_kv_heads", heads)
    if not _optional_flag(config, "new_decoder_architecture", default=False):
        kv_heads = 1 if _optional_flag(config, "multi_query", default=True) else heads
    return kv_heads, config.size("ffn_hidden_size", 4 * hidden_size)


def _optional_flag(config: JsonObject, key: str, *, default: bool) -> bool:
    return default if config.values.get(key) is None else config.flag(key)
