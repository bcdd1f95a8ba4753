"""Load a model folder for ONNX Runtime, without torch and transformers.

A graph is a program, and a folder may come from a stranger: so the graph is made here, for the
``config.json`` of a plain Llama or Gemma 3 of up to ``MOST_PARAMETERS``. Every other folder is left
to torch; one whose weights are not those that its card names is refused.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from engine.errors import AdapterError, ModelError, is_failure, message_of
from engine.files import ByteCount
from engine.layout.rows import Row
from engine.messages import Code, Message
from engine.models.fingerprint import known_fingerprint
from engine.models.llama import (
    WEIGHTS_FILE,
    LlamaShape,
    Stored,
    read_llama_file,
    read_llama_shape,
    stored_llama_weights,
    whole_weight,
)
from engine.models.model_card import FILE_NAME, ModelCard, read_card
from engine.runtime.causal_model import CausalModel
from engine.runtime.onnx.onnx_store import Floats, OnnxNetwork, OnnxStore, slot_model
from engine.runtime.processor import collapse_pages, free_memory_bytes, suits_one_thread
from engine.runtime.weights import Factors, LoadReport, Weights
from engine.settings import ModelSettings
from engine.text.tokenizer import PlainTokenizer, check_ids, read_plain_tokenizer
from engine.untrusted.faults import Fault, FaultError, fault_of
from engine.untrusted.file_headers import read_header
from engine.untrusted.limited_process import is_ours, try_tokenizer
from engine.untrusted.model_folder import check_model_folder
from engine.untrusted.plain_files import file_sha256

LEAST_RUNTIME = (1, 22)
"""The oldest ONNX Runtime whose attention takes a mask and a cache that it writes in place."""

MOST_PARAMETERS = 200_000_000
"""Parameters up to which a processor computes in float32 at once; torch packs larger models."""

_QUANTISATIONS = ("auto", "none", "int8")


class NotPlainError(FaultError):
    """ONNX Runtime does not compute a model; ``detail_of`` returns the reason.

    ``is_fault``: the reason is this computer, which can be mended, not the model.
    """

    def __init__(self, found: str | Message, *, is_fault: bool = False) -> None:
        super().__init__(found)
        self.is_fault = is_fault


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxWeights(Weights):
    """A model that ONNX Runtime computes; ``sha256`` is of the weights in ``folder``."""

    network: OnnxNetwork
    folder: Path
    sha256: str

    @property
    def n_parameters(self) -> int:
        return self.network.shape.n_parameters

    @property
    def width(self) -> int:
        return self.network.shape.hidden

    def new_model(self, capacity: int) -> CausalModel:
        return slot_model(self.network, capacity)

    def new_store(self, n_lanes: int, capacity: int) -> OnnxStore:
        return OnnxStore(self.network, n_lanes, capacity)

    def adapted_layers(self, *, keep_base: bool) -> "OnnxAdaptedLayers":  # noqa: ARG002  the protocol's
        """Return the layers that take adapters; the base is read from its folder again."""
        return OnnxAdaptedLayers(self)


class OnnxAdaptedLayers:
    """The layers of a network on ONNX Runtime that take factors.

    The product of the factors is added to the base's weights, which are read from the folder again,
    and the sum is loaded: nothing is added to a pass, and the result depends on base and factors
    alone.
    """

    def __init__(self, weights: OnnxWeights) -> None:
        self._weights = weights
        self._now: Mapping[str, Factors] = {}

    def put(self, factors: Mapping[str, Factors]) -> None:
        if not factors and not self._now:
            return
        network, folder = self._weights.network, self._weights.folder
        try:
            base, _ = _read_weights(folder, network.shape, self._weights.sha256)
        except NotPlainError as error:
            reason = fault_of(error)
            raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
        network.load(base | merged(base, factors))
        self._now = factors


def load_onnx(
    settings: ModelSettings, card: ModelCard, factors: Mapping[str, Factors] | None = None
) -> OnnxWeights:
    if settings.device not in ("auto", "cpu") or settings.quantise not in _QUANTISATIONS:
        asked = f"only torch computes on {settings.device} with quantisation {settings.quantise}"
        raise NotPlainError(asked)
    folder = settings.directory
    check_model_folder(folder)
    try:
        shape = read_llama_shape(folder)
    except (OSError, ValueError) as error:
        raise NotPlainError(fault_of(error, "config.json")) from error
    needed_bytes = _check_room(shape, settings.capacity)
    check_runtime()
    weights, sha256 = _read_weights(folder, shape, _hash_of_card(folder))
    weights |= merged(weights, factors or {})
    packed = settings.quantise == "int8"
    n_threads = 1 if suits_one_thread(shape.n_parameters) else 0
    try:
        network = OnnxNetwork(shape, weights, n_threads=n_threads, packed=packed)
        slot_model(network, 1).feed([Row(0, 0, 0)])  # not every processor multiplies 8 bits
    except ModelError as error:
        raise NotPlainError(error.message, is_fault=True) from error
    del weights  # not held while the tokenizer is read
    collapse_pages()
    tokenizer = _load_tokenizer(folder, shape)
    return OnnxWeights(
        network=network,
        folder=folder,
        sha256=sha256,
        tokenizer=tokenizer,
        card=card,
        base=None if factors else known_fingerprint(folder),
        report=LoadReport(quantise="int8" if packed else "none", needed_bytes=needed_bytes),
        card_folder=settings.adapter or folder,
    )


def check_runtime() -> None:
    """Raise NotPlainError if ONNX Runtime is missing or too old."""
    least = ".".join(map(str, LEAST_RUNTIME))
    try:
        import onnxruntime  # noqa: PLC0415  may be missing
    except ImportError:
        _blame(f"ONNX Runtime {least} or newer is not installed")
    onnxruntime.disable_telemetry_events()  # where no switch is read: on Windows
    found: str = onnxruntime.__version__
    if tuple(int(part) for part in found.split(".")[:2] if part.isdigit()) < LEAST_RUNTIME:
        _blame(f"ONNX Runtime {found} is too old: {least} is the oldest that can compute it")


def _blame(found: str) -> NoReturn:
    raise NotPlainError(found, is_fault=True)


def _hash_of_card(folder: Path) -> str:
    return read_card(folder).weights_sha256 if (folder / FILE_NAME).exists() else ""


def _check_room(shape: LlamaShape, capacity: int) -> int:
    if shape.n_parameters > MOST_PARAMETERS:
        msg = f"it has {shape.n_parameters:,} parameters, and {MOST_PARAMETERS:,} are the most "
        raise NotPlainError(msg + "without torch")
    row = 2 * shape.layers * shape.kv_heads * shape.head_size
    # the file, its numbers, and the runtime's arrangement of them
    needed_bytes = 10 * shape.n_parameters + 4 * row * capacity
    free_bytes = free_memory_bytes()
    if free_bytes is not None and needed_bytes > free_bytes:
        _blame(f"it needs {ByteCount(needed_bytes)} whole on cpu, {ByteCount(free_bytes)} free")
    return needed_bytes


def _read_weights(folder: Path, shape: LlamaShape, named: str) -> tuple[dict[str, Stored], str]:
    """Read the weights of a shape, and their hash: the named one, if one is named."""
    try:
        content = read_llama_file(folder, shape)
        found = hashlib.sha256(content).hexdigest()
        _check_hash(folder, found, named)
        return stored_llama_weights(content, shape), found
    except ValueError as error:
        raise NotPlainError(message_of(error)) from error


def verify_weights(folder: Path) -> None:
    """Raise ModelError if a folder's weights are not those that its card names, if it names any."""
    named = _hash_of_card(folder)
    if not named:
        return
    try:
        read_header(folder / WEIGHTS_FILE)  # tells at once of many files what a hash takes long for
        _check_hash(folder, file_sha256(folder / WEIGHTS_FILE), named)
    except OSError:
        return  # who loads them tells that they are gone
    except ValueError as error:
        reason = fault_of(error, WEIGHTS_FILE)
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error


def _check_hash(folder: Path, found: str, named: str) -> None:
    if named and found != named:
        detail = f"its {WEIGHTS_FILE} is not the one that its card names (as weights_sha256)"
        reason = Fault.DAMAGED(detail=detail)
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason))


def _load_tokenizer(folder: Path, shape: LlamaShape) -> PlainTokenizer:
    """Read the tokenizer of a folder, and try it where a stranger made it."""
    try:
        try_tokenizer(folder / "tokenizer.json")
        tokenizer = read_plain_tokenizer(folder)
        check_ids(tokenizer, shape.vocabulary)
    except BaseException as error:
        if not is_failure(error):
            raise
        if isinstance(error, FaultError | OSError):
            raise NotPlainError(fault_of(error, "tokenizer.json")) from error
        msg = f"its tokenizer cannot be used ({type(error).__name__})"
        raise NotPlainError(msg) from error
    if tokenizer.chat_template is None or not is_ours(tokenizer.chat_template):
        msg = "its chat template is not one that is known without transformers"
        raise NotPlainError(msg)
    return tokenizer


def merged(base: Mapping[str, Stored], factors: Mapping[str, Factors]) -> dict[str, Floats]:
    """Return the weights that factors change, by their names; raise AdapterError if they cannot."""
    changed = dict[str, Floats]()
    for path, pair in factors.items():
        name = f"{path}.weight"
        if name not in base:
            raise AdapterError(Code.ADAPTER_UNFIT(detail=f"the model has no layer {path}"))
        weight = whole_weight(base[name])
        size = (pair.up.shape[0], pair.down.shape[1])
        if weight.shape != size:
            detail = f"the model's layer {path} is of another shape than {list(size)}"
            raise AdapterError(Code.ADAPTER_UNFIT(detail=detail))
        with np.errstate(over="ignore", invalid="ignore"):  # looked for below
            product = pair.up.astype(np.float32) @ pair.down.astype(np.float32)
            changed[name] = weight + np.float32(pair.scale) * product
        if not bool(np.isfinite(changed[name]).all()):
            detail = f"its factors make numbers in {path} that are too large"
            raise AdapterError(Code.ADAPTER_UNFIT(detail=detail))
    return changed
