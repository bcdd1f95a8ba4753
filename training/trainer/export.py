"""Write the folder of a model that is handed on: packed, with an adapter in its weights."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from engine.errors import message_of
from engine.models.adapters.adapter import usable_adapter, verify_adapter
from engine.models.fingerprint import read_fingerprint
from engine.models.llama import (
    EMBEDDING,
    WEIGHTS_FILE,
    parse_llama_weights,
    read_llama_file,
    read_llama_shape,
)
from engine.models.model_card import read_card
from engine.models.tensor_file import is_packed, pack_blocks, pack_rows
from engine.runtime.onnx.onnx_loader import merged
from engine.runtime.weights import Factors, read_factors
from engine.untrusted.faults import detail_of, refuse
from engine.untrusted.file_headers import BLOCK, CODES, SCALES
from engine.untrusted.model_folder import check_model_folder
from engine.untrusted.plain_files import file_sha256
from training.errors import TrainingError, UsageError
from training.trainer.checkpoint import replacing_folder

_HANDED_ON = ("*.json", "*.jinja", "*.safetensors", "README.md", "LICENSE", "NOTICE")
"""What a model folder holds beside the checkpoint and the record of its run."""


def name_weights(folder: Path) -> None:
    """Write the hash of a model folder's weights into its card, if one file holds them all."""
    path = folder / WEIGHTS_FILE
    named = file_sha256(path) if path.exists() else ""
    replace(read_card(folder), weights_sha256=named).save(folder)


def export_folder(folder: Path, out: Path, *, bits: int, adapter: Path | None = None) -> None:
    """Write a model folder without what training needs, whole or not at all.

    Args:
        folder: as ``pretrain`` makes it; it stays as it is.
        out: replaced if it is there.
        bits: keep matrices in 8 bits, or in 4, the table of embeddings in 8, see
            ``engine.models.tensor_file``; 0 for whole numbers.
        adapter: a folder; its factors are added to the weights, so that the model alone computes
            what both together did. The confidence must be calibrated again then.
    """
    if folder.resolve() == out.resolve():
        msg = f"{out} is the model folder itself, which stays as it is: choose another --out"
        raise UsageError(msg)
    check_model_folder(folder)
    factors = {} if adapter is None else _read_factors(folder, adapter)
    try:
        with replacing_folder(out) as fresh:
            for pattern in _HANDED_ON:
                for path in folder.glob(pattern):
                    shutil.copyfile(path, fresh / path.name)
            if bits or factors:
                write_weights(folder, fresh, factors, bits=bits)
            if factors:
                replace(read_card(fresh), calibration=None).save(fresh)
            name_weights(fresh)
    except OSError as error:
        msg = f"{out} cannot be written ({message_of(error)}): make room or choose another --out"
        raise TrainingError(msg) from error


def _read_factors(folder: Path, adapter: Path) -> Mapping[str, Factors]:
    usable = usable_adapter(adapter, read_fingerprint(folder))
    verify_adapter(usable)
    return read_factors(usable)


def write_weights(folder: Path, out: Path, factors: Mapping[str, Factors], *, bits: int) -> None:
    """Write the weights of a folder and these factors into another, vectors in float32."""
    try:
        shape = read_llama_shape(folder)
        before = parse_llama_weights(read_llama_file(folder, shape), shape)
        changed = merged(before, factors)
        weights = before | changed
        if not all(bool(np.isfinite(weight).all()) for weight in weights.values()):
            refuse(f"{WEIGHTS_FILE} holds numbers that are none (NaN) or infinite")
    except (OSError, ValueError) as error:
        msg = f"the weights of {folder} cannot be packed or changed: {detail_of(error)}"
        raise TrainingError(msg) from error
    chance = np.random.default_rng(0)
    stored = dict[str, NDArray[np.float32 | np.float16 | np.int8 | np.uint8]]()
    for name, weight in weights.items():
        if weight.ndim == 1 or not bits:
            stored[name] = weight.astype(np.float32)
        elif bits == 4 and name != EMBEDDING and not weight.shape[1] % BLOCK:
            codes, scales = pack_blocks(weight)
            stored[name + CODES], stored[name + SCALES] = codes, scales.astype(np.float16)
        else:
            swallows = name in changed and is_packed(before[name])
            packed = pack_rows(weight, chance if swallows else None)
            stored[name + CODES], stored[name + SCALES] = packed
    (out / WEIGHTS_FILE).write_bytes(save(stored))  # save_file lets nobody else read it
