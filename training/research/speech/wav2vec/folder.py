"""Read and write folders of wav2vec 2.0 as on the hub: config.json and model.safetensors.

Nothing of a folder is run: ``transformers`` does not open it, no remote code is trusted
(``trust_remote_code`` is False by construction), and a pickle is refused. Names, types, shapes and
numbers are checked before a network gets them. A stage writes such a folder, too; the
adapter is in the same file under ``surtitle.``, and the blocks are in ``config.json``.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import ModelError
from engine.messages import Code
from engine.models.tensor_file import float_tensor, map_tensor_file
from engine.untrusted.faults import Fault, about, fault_of, refuse
from engine.untrusted.safetensors_header import MAX_HEADER_BYTES, SafetensorsHeader, read_header
from engine.untrusted.strict_json import JsonObject, shown
from training.research.speech.wav2vec.encoder import Wav2VecEncoder, Wav2VecShape

INNER: Final = "wav2vec"
"""Folder of such an encoder in the model folder of a stage."""

WEIGHTS: Final = "model.safetensors"
"""File of the weights."""

_CONFIG, _PICKLE = "config.json", "pytorch_model.bin"
_MOST_CONFIG, _MOST_BYTES = 1 << 20, 1 << 32
_WIDEST, _DEEPEST, _WIDEST_FEED, _LONGEST_KERNEL = 4096, 64, 1 << 15, 1024
_MOST_IDS, _MOST_FRAMES, _MOST_BLOCKS = 1 << 18, 64, 256
_OWN, _HUB = "surtitle.", "wav2vec2."
_POSITIONS = "wav2vec2.encoder.pos_conv_embed.conv."
_NORMS = (
    ("weight_g", "weight_v"),
    ("parametrizations.weight.original0", "parametrizations.weight.original1"),
)
"""Names of length and direction of a weight that is normed, older and newer."""

_UNUSED = frozenset({"wav2vec2.masked_spec_embed"})


def load_wav2vec(folder: Path, translator_width: int, vocabulary: int) -> Wav2VecEncoder:
    """Load an encoder; an adapter that is not there begins with random weights.

    Args:
        folder: of the hub, or ``INNER`` of a stage.
        translator_width: numbers in a row of the translator.
        vocabulary: ids of its own words, the blank among them, where the folder says nothing.

    Returns:
        on the processor, float32.

    Raises:
        ModelError: the folder is damaged, oversized, or of another kind; one sentence.
    """
    try:
        with about(_CONFIG):
            shape = _shape(JsonObject.read(folder / _CONFIG, _MOST_CONFIG), vocabulary)
        if not (folder / WEIGHTS).exists() and (folder / _PICKLE).exists():
            refuse(Fault.WEIGHTS_PICKLED(name=_PICKLE))
        with about(WEIGHTS):
            tensors = _tensors(folder / WEIGHTS, shape, translator_width)
    except (OSError, ValueError) as error:
        reason = fault_of(error)
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
    encoder = Wav2VecEncoder(shape, translator_width)
    encoder.load_state_dict(tensors, strict=False)  # their names were checked
    return encoder


def save_wav2vec(encoder: Wav2VecEncoder, folder: Path) -> None:
    """Write a folder that ``load_wav2vec`` reads; other programs read the hub's part of it.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir()
    card = encoder.card
    config = {
        "model_type": "wav2vec2",
        "architectures": ["Wav2Vec2Model"],
        "conv_dim": card.conv_dim,
        "conv_kernel": card.conv_kernel,
        "conv_stride": card.conv_stride,
        "conv_bias": card.conv_bias,
        "feat_extract_norm": "layer" if card.norms_each else "group",
        "hidden_size": card.width,
        "num_hidden_layers": card.layers,
        "num_attention_heads": card.heads,
        "intermediate_size": card.feed_forward,
        "num_conv_pos_embeddings": card.position_kernel,
        "num_conv_pos_embedding_groups": card.position_groups,
        "do_stable_layer_norm": card.norms_before,
        "layer_norm_eps": card.epsilon,
        "surtitle": {
            "block_frames": card.block_frames,
            "context_frames": card.context_frames,
            "left_blocks": card.left_blocks,
            "vocabulary": card.vocabulary,
        },
    }
    text = json.dumps(config, indent=2) + "\n"
    (folder / _CONFIG).write_text(text, encoding="utf-8")
    tensors = dict[str, Tensor]()
    for name, tensor in encoder.state_dict().items():
        stored = tensor.detach().float().cpu().contiguous()
        if name == f"{_POSITIONS}weight":
            tensors[f"{_POSITIONS}weight_g"] = stored.norm(dim=(0, 1), keepdim=True)
            tensors[f"{_POSITIONS}weight_v"] = stored
        else:
            tensors[name if name.startswith(_HUB) else _OWN + name] = stored
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def _shape(config: JsonObject, vocabulary: int) -> Wav2VecShape:
    """Read the shape; a missing key is that of the hub's base, as ``transformers`` takes it."""
    if "auto_map" in config:
        refuse(Fault.NAMES_CODE(detail="names code of its own ('auto_map')"))
    if config.text("model_type", "") != "wav2vec2":
        kind = shown(config.values.get("model_type"))
        refuse(Fault.UNSUPPORTED(detail=f"is of the kind {kind}, and 'wav2vec2' was expected"))
    config.check_supported(
        {
            "hidden_act": ("gelu",),
            "feat_extract_activation": ("gelu",),
            "feat_extract_norm": ("group", "layer"),
            "add_adapter": (False,),
            "adapter_attn_dim": (None,),
        }
    )
    usual = Wav2VecShape()
    own = config.inner("surtitle") if "surtitle" in config else JsonObject({})

    def many(key: str, default: tuple[int, ...], most: int) -> tuple[int, ...]:
        numbers = config.integers(key, least=1, most=most, default=default)
        if len(numbers) > _DEEPEST:
            refuse(f"gives {shown(key)} {len(numbers)} numbers, and {_DEEPEST} are the most")
        return numbers

    def one(key: str, default: int, most: int) -> int:
        return config.integer(key, least=1, most=most, default=default)

    epsilon = (
        config.number("layer_norm_eps", least=0, most=1)
        if "layer_norm_eps" in config
        else usual.epsilon
    )
    return Wav2VecShape(
        conv_dim=many("conv_dim", usual.conv_dim, _WIDEST),
        conv_kernel=many("conv_kernel", usual.conv_kernel, _LONGEST_KERNEL),
        conv_stride=many("conv_stride", usual.conv_stride, _LONGEST_KERNEL),
        conv_bias=config.flag("conv_bias", default=usual.conv_bias),
        norms_each=config.text("feat_extract_norm", "group") == "layer",
        width=one("hidden_size", usual.width, _WIDEST),
        layers=one("num_hidden_layers", usual.layers, _DEEPEST),
        heads=one("num_attention_heads", usual.heads, _WIDEST),
        feed_forward=one("intermediate_size", usual.feed_forward, _WIDEST_FEED),
        position_kernel=one("num_conv_pos_embeddings", usual.position_kernel, _LONGEST_KERNEL),
        position_groups=one("num_conv_pos_embedding_groups", usual.position_groups, _WIDEST),
        norms_before=config.flag("do_stable_layer_norm", default=usual.norms_before),
        epsilon=epsilon,
        block_frames=own.integer(
            "block_frames", least=1, most=_MOST_FRAMES, default=usual.block_frames
        ),
        context_frames=own.integer(
            "context_frames", most=_MOST_FRAMES, default=usual.context_frames
        ),
        left_blocks=own.integer("left_blocks", most=_MOST_BLOCKS, default=usual.left_blocks),
        vocabulary=own.integer("vocabulary", most=_MOST_IDS, default=vocabulary),
    )


def _tensors(path: Path, shape: Wav2VecShape, translator_width: int) -> Mapping[str, Tensor]:
    """Read and check the tensors of a file, by the names of the network."""
    with torch.device("meta"):
        empty = Wav2VecEncoder(shape, translator_width)
    shapes = {name: tuple(tensor.shape) for name, tensor in empty.state_dict().items()}
    n_bytes = 4 * sum(map(math.prod, shapes.values()))
    if n_bytes > _MOST_BYTES:
        detail = f"has {n_bytes} bytes by its config, and {_MOST_BYTES} are the most"
        refuse(Fault.OVERSIZED(detail=detail))
    header = read_header(path, MAX_HEADER_BYTES)
    stored = _names(header, shapes)
    with map_tensor_file(path) as content:
        arrays = {
            name: np.array(float_tensor(content, header, at), np.float32)
            for name, at in stored.items()
        }
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            refuse(f"holds numbers in {name} that are none (NaN) or infinite")
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    for scale, direction in _NORMS:
        if _POSITIONS + scale in tensors:
            length, turned = tensors.pop(_POSITIONS + scale), tensors.pop(_POSITIONS + direction)
            norm = turned.norm(dim=(0, 1), keepdim=True).clamp_min(torch.finfo().tiny)
            tensors[f"{_POSITIONS}weight"] = turned * (length / norm)
    return tensors


def _names(header: SafetensorsHeader, shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, str]:
    """Return by the names of the network those in a file; heads of other tasks are left out."""
    prefixed = any(name.startswith(_HUB) for name in header.tensors)
    wanted = _stored_shapes(shapes)
    found = dict[str, str]()
    for name, entry in header.tensors.items():
        own = name.startswith(_OWN)
        if prefixed and not (own or name.startswith(_HUB)):
            continue  # of another task
        inner = name.removeprefix(_OWN) if own else name if prefixed else _HUB + name
        if inner in _UNUSED:
            continue
        if inner not in wanted or own == inner.startswith(_HUB):
            refuse(f"has the tensor {shown(name)}, which no network of its config has")
        if entry.shape != wanted[inner]:
            sizes = list(wanted[inner])
            refuse(f"has {name} in the shape {list(entry.shape)}, and {sizes} was expected")
        found[inner] = name
    _check_whole(found, shapes)
    return found


def _check_whole(found: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a file that lacks a tensor of the hub's part, or of an adapter that it begins."""
    weight = f"{_POSITIONS}weight"
    written = [pair for pair in _NORMS if all(_POSITIONS + part in found for part in pair)]
    n_parts = sum(_POSITIONS + part in found for pair in _NORMS for part in pair)
    if len(written) != 1 or n_parts != len(written[0]):
        refuse(f"lacks the length and the direction of {weight}, or has them twice")
    has_own = any(not name.startswith(_HUB) for name in found)
    for name in shapes:
        if name != weight and name not in found and (has_own or name.startswith(_HUB)):
            refuse(f"lacks the tensor {name}")


def _stored_shapes(shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, tuple[int, ...]]:
    """Return the shapes in a file: the weight of positions is stored by length and direction."""
    weight = f"{_POSITIONS}weight"
    stored = {name: size for name, size in shapes.items() if name != weight}
    for length, direction in _NORMS:
        stored[_POSITIONS + length] = (1, 1, shapes[weight][2])
        stored[_POSITIONS + direction] = shapes[weight]
    return stored
