"""Load a model folder onto a device by torch.

Only safetensors are read, nothing is fetched, and no code of a folder is run: transformers trusts
folders, so those that could run code, load other files, block or grow are refused before it sees
them (``engine.untrusted.model_folder``), too large a network is stopped while it is only shapes,
and the result is checked against the files. Every failure becomes one sentence of this program.

The memory is estimated first; if ``auto`` was requested and the best plan does not fit, the next
one is used and the report notes it.
"""

import contextlib
import logging
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Self, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from transformers import (
    AutoModelForCausalLM,
    BitsAndBytesConfig,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging as transformers_logging

from engine.errors import ModelError, is_failure
from engine.files import ByteCount
from engine.messages import Code, Message
from engine.models.fingerprint import Footprint, known_fingerprint, read_footprint
from engine.models.llama import parse_llama_weights, read_llama_file, read_llama_shape
from engine.models.model_card import ModelCard
from engine.runtime.causal_model import CausalModel
from engine.runtime.load_plan import (
    SMALL,
    LoadPlan,
    compute_dtype,
    fitting,
    give_memory_back,
    load_plans,
    share_processor,
)
from engine.runtime.torch.attention import take_over_alibi
from engine.runtime.torch.linear_layers import (
    NEVER_PACKED,
    TorchAdaptedLayers,
    quantisation_config,
    unfuse_layers,
)
from engine.runtime.torch.torch_store import TorchStore, slot_model
from engine.runtime.weights import Factors, LoadReport, Weights
from engine.settings import ModelSettings
from engine.text.prompt import word_ids
from engine.text.tokenizer import check_ids
from engine.untrusted.faults import Fault, FaultError, fault_of, refuse
from engine.untrusted.limited_process import TRIED_WORDS, try_tokenizer
from engine.untrusted.model_folder import MAX_CONFIG_BYTES, check_model_folder
from engine.untrusted.strict_json import JsonObject, shown

_log = logging.getLogger(__name__)

_ONE_AT_A_TIME = threading.Lock()
"""transformers puts methods of its classes out of use while it reads weights, and back afterwards:
of two readings at once the second puts back what the first had put there, for good."""


def pretrained_network(
    folder: Path,
    *,
    dtype: torch.dtype | None,
    packing: BitsAndBytesConfig | None,
    device: torch.device,
) -> PreTrainedModel:
    """Load all weights of a folder as its configuration describes them.

    Args:
        dtype: of the weights; None: as they are stored.
        packing: how they are packed while they are read, or None.
        device: of packed weights; whole ones are on the processor.

    Raises:
        ModelError: the folder is refused, or its files do not belong together.
        torch.OutOfMemoryError: the weights do not fit on the device.
    """
    check_model_folder(folder)
    _silence_libraries()
    try:
        _check_kind(folder, packs=packing is not None)
        size = read_footprint(folder)
        growth = growth_limit(size.n_tensors, _numbers(size))
        with _ONE_AT_A_TIME, growth, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the library, on facts that are checked here
            kind: type = AutoModelForCausalLM
            given: dict[str, object] = {"pretrained_model_name_or_path": folder}
            if size.n_packed:
                kind, given = _unpacked(folder)
                dtype = dtype or torch.float32
            loaded = kind.from_pretrained(  # type: ignore[attr-defined]
                **given,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                ignore_mismatched_sizes=True,  # reported by ``_check_result``, not by the library
                dtype=dtype or "auto",
                quantization_config=packing,
                device_map=None if packing is None else {"": device},
                output_loading_info=True,
            )
        network, result = cast("tuple[PreTrainedModel, dict[str, set[object]]]", loaded)
        _check_result(result)
        network.config.return_dict = True  # regardless of the file: outputs are read by name
    except (ModelError, torch.OutOfMemoryError, MemoryError):
        raise
    except Exception as error:
        refused = "its config.json and its weights make no model that is known here"
        raise _cannot_be_loaded(folder, error, refused) from error
    return network


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """Load a tokenizer, try it, and check its ids against the rows of the embedding table.

    Raises:
        ModelError: it cannot be loaded or used, or has ids that the table does not have.
    """
    check_model_folder(folder)
    _silence_libraries()
    try:
        try_tokenizer(folder / "tokenizer.json")
        tokenizer = cast(
            "PreTrainedTokenizerFast",
            PreTrainedTokenizerFast.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            ),
        )
        check_ids(tokenizer, _setting(folder, "vocab_size"))
        word_ids(tokenizer, TRIED_WORDS[0])  # by transformers, which has settings of its own
    except BaseException as error:
        if not is_failure(error):
            raise
        raise _cannot_be_loaded(folder, error, "its tokenizer cannot be used") from error
    return tokenizer


def _unpacked(folder: Path) -> tuple[type, dict[str, object]]:
    """Return a network's class, and in the place of a folder its configuration and its weights."""
    shape = read_llama_shape(folder)
    weights = parse_llama_weights(read_llama_file(folder, shape), shape)
    kind, described = (
        (Gemma3ForCausalLM, Gemma3TextConfig) if shape.is_gemma else (LlamaForCausalLM, LlamaConfig)
    )
    return kind, {
        "pretrained_model_name_or_path": None,
        "config": described.from_pretrained(folder, local_files_only=True, trust_remote_code=False),
        "state_dict": {
            name: torch.from_numpy(np.require(array, requirements=["A", "W"]))
            for name, array in weights.items()
        },
    }


def _cannot_be_loaded(folder: Path, error: BaseException, refused: str) -> ModelError:
    """Return the error to raise; messages of libraries, on their own arguments, go to the log."""
    if isinstance(error, FaultError):  # of this program: files that do not fit
        reason = fault_of(error)
    else:
        _log.info("a library refused the model in %s", folder, exc_info=error)
        reason = Fault.UNSUPPORTED(detail=f"{refused} ({type(error).__name__})")
    return ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason))


def _silence_libraries() -> None:
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]


def _check_kind(folder: Path, *, packs: bool) -> None:
    kind = _setting(folder, "model_type")
    if packs and kind in NEVER_PACKED:
        refuse(Fault.UNSUPPORTED(detail=f"a {kind} cannot be packed: use --quantize none"))
    if kind not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        detail = f"its config.json says that it is a {shown(kind)}, which is no kind known here"
        refuse(Fault.UNSUPPORTED(detail=detail))


def _check_result(result: Mapping[str, set[object]]) -> None:
    """Refuse a network that the library filled with random numbers, or without some weights."""
    for key, found in (
        ("missing_keys", "its weights lack {}"),
        ("mismatched_keys", "its weights have {} in another shape than its config.json asks for"),
        ("unexpected_keys", "its config.json has no place for its weights {}"),
    ):
        names = sorted(item[0] if isinstance(item, tuple) else str(item) for item in result[key])
        if names:
            first, n_more = shown(names[0]), len(names) - 1
            refuse(found.format(f"{first} and {n_more} more" if n_more else first))


def _numbers(footprint: Footprint) -> int:
    """Return the largest count of numbers; up to sixteen packed ones are stored in one."""
    return footprint.n_parameters * (1 if footprint.stored_bytes > 1 else 16)


def _setting(folder: Path, key: str) -> object:
    return JsonObject.read(folder / "config.json", MAX_CONFIG_BYTES).values.get(key)


_ROOM = 1 << 26  # numbers of masks and tables that are in no file
_PARTS, _SPARE_PARTS = 20, 1000  # modules and tensors for each tensor of the file, and others


class TooLargeError(FaultError):
    """The network is larger than its weights."""


@contextlib.contextmanager
def growth_limit(n_tensors: int, n_numbers: int) -> Iterator[None]:
    """Limit a network that is built as shapes (on torch's device ``meta``) in this thread.

    A configuration may have a thousand layers with the weights of six. Libraries build all of them
    before they read the weights, first as shapes alone and then in memory. The limit is four times
    what the files have: a shared table is built twice, and a layer that will be packed twice more.
    """
    thread, counted = threading.get_ident(), [0, 0]
    most_parts, most_numbers = _PARTS * n_tensors + _SPARE_PARTS, 4 * n_numbers + _ROOM

    def count(parts: int, numbers: int) -> None:
        if threading.get_ident() != thread:
            return
        counted[0] += parts
        counted[1] += numbers
        if counted[0] > most_parts or counted[1] > most_numbers:
            msg = "its config.json asks for a larger network than it has weights for"
            raise TooLargeError(msg)

    def count_tensor(_owner: nn.Module, _name: str, tensor: Tensor | None) -> None:
        if tensor is not None and tensor.is_meta:  # the same tensors are later filled from the file
            count(1, tensor.numel())

    def count_part(_owner: nn.Module, _name: str, _part: nn.Module | None) -> None:
        count(1, 0)

    with contextlib.ExitStack() as hooks:
        for handle in (
            register_module_parameter_registration_hook(count_tensor),
            register_module_buffer_registration_hook(count_tensor),
            register_module_module_registration_hook(count_part),
        ):
            hooks.callback(handle.remove)
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchWeights(Weights):
    """A model that torch computes, in evaluation mode."""

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast

    @property
    def n_parameters(self) -> int:
        return self.network.num_parameters()

    @property
    def width(self) -> int:
        width: int = self.network.config.hidden_size
        return width

    def with_note(self, note: Message) -> Self:
        return replace(self, report=replace(self.report, notes=(*self.report.notes, note)))

    def new_model(self, capacity: int) -> CausalModel:
        return slot_model(self.network, capacity)

    def new_store(self, n_lanes: int, capacity: int) -> TorchStore:
        return TorchStore(self.network, n_lanes, capacity)

    def adapted_layers(self, *, keep_base: bool) -> TorchAdaptedLayers:
        return TorchAdaptedLayers(self.network, keep_base=keep_base)

    def share_processor(self) -> None:
        share_processor(self.n_parameters)

    def give_memory_back(self) -> None:
        give_memory_back(self.network.device)


def load_torch(
    settings: ModelSettings, card: ModelCard, factors: Mapping[str, Factors] | None = None
) -> TorchWeights:
    folder = settings.directory
    tokenizer = load_tokenizer(folder)
    footprint = read_footprint(folder)
    plans = load_plans(settings, footprint)
    fit = fitting(folder, plans, settings, footprint)
    network, report = _load_first(folder, plans, fit, footprint)
    network.eval()  # type: ignore[no-untyped-call]
    if factors:
        TorchAdaptedLayers(network, keep_base=False).put(factors)
    return TorchWeights(
        network=network,
        tokenizer=tokenizer,
        card=card,
        base=None if factors else known_fingerprint(folder),
        report=report,
        card_folder=settings.adapter or folder,
    )


def load_network(
    folder: Path, *, quantise: str, device: torch.device, dtype: torch.dtype | None
) -> PreTrainedModel:
    """Load the weights of a folder, whole or packed.

    Args:
        quantise: ``none``, ``nf4`` or ``int8``.
        dtype: of whole or unpacked weights; None: as they are stored.

    Raises:
        ModelError: they cannot be loaded or packed, or bitsandbytes is missing.
        torch.OutOfMemoryError: they do not fit on the device.
    """
    packs = quantise != "none"
    packing = quantisation_config(quantise, dtype or torch.bfloat16) if packs else None
    network = pretrained_network(folder, dtype=dtype, packing=packing, device=device)
    unfuse_layers(network)
    network.to(device=device)  # type: ignore[call-arg]
    take_over_alibi(network)
    return network


def _load_first(
    folder: Path, plans: Sequence[LoadPlan], fit: Sequence[LoadPlan], footprint: Footprint
) -> tuple[PreTrainedModel, LoadReport]:
    """Load by the first plan that succeeds; note why earlier ones were skipped."""
    reasons = [plan.shortage for plan in plans[: plans.index(fit[0])]]
    for plan in fit:
        try:
            network = load_network(
                folder,
                quantise=plan.quantise,
                device=plan.device,
                dtype=_dtype(plan, footprint),
            )
        except (torch.OutOfMemoryError, MemoryError):
            give_memory_back(plan.device)
            reasons.append(Code.RAN_OUT(shortage=plan.shortage))
            continue
        size, notes = ByteCount(plan.needed_bytes), list[Message]()
        if reasons:
            notes.append(Code.LOADED_OTHERWISE(reasons=_joined(reasons), kept=plan.kept, size=size))
        return network, LoadReport(
            quantise=plan.quantise, needed_bytes=plan.needed_bytes, notes=tuple(notes)
        )
    raise ModelError(Code.TOO_LARGE(folder=str(folder), reasons=_joined(reasons)))


def _joined(reasons: Sequence[Message]) -> Message:
    return reduce(lambda joined, reason: Code.AND_IT(reasons=joined, reason=reason), reasons)


def _dtype(plan: LoadPlan, footprint: Footprint) -> torch.dtype | None:
    if plan.dtype is not None:
        return plan.dtype
    if plan.device.type == "cpu" and footprint.n_parameters <= SMALL:
        return torch.float32
    return None if plan.quantise == "none" else compute_dtype(plan.device)
