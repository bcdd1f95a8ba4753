"""Check the factors in ``adapter_model.safetensors`` against the settings and the base.

Every targeted layer has a factor A, shape (rank, inputs), and a factor B, shape (outputs, rank).
peft silently loads an adapter of fewer layers and leaves the rest random, so every factor is looked
up here, by the header alone. The targeted layers are never listed: settings of a megabyte could
name eighty million.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from engine.models.adapters.lora_config import Lora
from engine.models.fingerprint import Fingerprint
from engine.models.linear_layers import linear_layers
from engine.untrusted.faults import Fault, refuse
from engine.untrusted.safetensors_header import SafetensorsHeader, TensorEntry
from engine.untrusted.strict_json import shown

WEIGHTS_FILE = "adapter_model.safetensors"

_LONGEST_NAME = 256
_PATH = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_FACTOR = re.compile(
    rf"base_model\.model\.(?P<stem>{_PATH})\.(?P<layer>0|[1-9][0-9]{{0,3}})\.(?P<module>{_PATH})"
    r"\.lora_(?P<factor>[AB])\.weight",
    re.ASCII,
)
_BEYOND = re.compile(  # what peft saves of an embedding, an output layer or a layer trained whole
    r"base_model\.model\.(?P<path>[A-Za-z_]\w*(?:\.(?:[A-Za-z_]\w*|0|[1-9][0-9]{0,3}))*?)"
    r"\.(?:lora_embedding_[AB]|lora_[AB]\.weight|(?:base_layer\.)?(?:weight|bias))",
    re.ASCII,
)
_DTYPES = frozenset({"BF16", "F16", "F32", "F64"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraWeights:
    """A summary of the factors.

    Attributes:
        modules: adapted paths within a block, sorted.
        layers: adapted blocks, ascending.
        n_parameters: numbers in all factors.
        n_bytes: length of the file.
        dtypes: of the factors, sorted.
    """

    modules: tuple[str, ...]
    layers: tuple[int, ...]
    n_parameters: int
    n_bytes: int
    dtypes: tuple[str, ...]


def fit_lora(lora: Lora, header: SafetensorsHeader, base: Fingerprint | None) -> LoraWeights:
    """Check that a file holds exactly the factors that the settings name, in the base's shapes.

    Without ``base``, or with an unknown architecture, only the ranks of the factors are checked.

    Raises:
        ValueError: a factor is missing, superfluous or of a wrong shape or type; the text continues
            a sentence that begins with the file.
    """
    stem, factors = _factors(header)
    known = None if base is None else linear_layers(base)
    if known is not None and stem != known.stem:
        detail = f"has its layers at {shown(stem)}, and the base has them at {known.stem}"
        refuse(Fault.UNFIT(detail=detail))
    n_layers = 1 + max(layer for layer, _, _ in factors)
    if base is not None:
        _check_size(lora, {layer for layer, _, _ in factors}, base)
        n_layers = base.layers
    shapes = {module: None for _, module, _ in factors} if known is None else known.shapes
    modules = tuple(sorted({module for _, module, _ in factors}))
    layers = tuple(sorted({layer for layer, _, _ in factors}))
    targeted = lora.targeted_layers(stem, shapes, n_layers)
    if targeted.idle:
        refuse(
            f"should have factors for the target {shown(targeted.idle[0])}, which is no layer of it"
        )
    for layer, module in targeted:  # stops at the first missing factor
        _check_pair(lora.rank, factors, (stem, layer, module), shapes[module])
    if factors:
        layer, module, factor = next(iter(factors))
        refuse(f"has a factor {factor} for {shown(f'{layer}.{module}')}, which is no target")
    entries = header.tensors.values()
    return LoraWeights(
        modules=modules,
        layers=layers,
        n_parameters=sum(entry.n_elements for entry in entries),
        n_bytes=header.n_bytes,
        dtypes=tuple(sorted({entry.dtype for entry in entries})),
    )


_Factors = dict[tuple[int, str, str], TensorEntry]


def _factors(header: SafetensorsHeader) -> tuple[str, _Factors]:
    """Return the tensors by layer, module and factor, and their common stem."""
    factors: _Factors = {}
    stems = set()
    for name, entry in header.tensors.items():
        match = _FACTOR.fullmatch(name) if len(name) <= _LONGEST_NAME else None
        if match is None:
            _refuse_beyond(name)
            refuse(f"has the tensor {shown(name)}, which is no factor of a layer")
        if entry.dtype not in _DTYPES:
            refuse(f"has the tensor {shown(name)} of type {entry.dtype}, which factors never are")
        stems.add(match["stem"])
        factors[int(match["layer"]), match["module"], match["factor"]] = entry
    if len(stems) != 1:
        refuse(
            f"has factors in {len(stems)} lists of layers, and one list of layers was expected"
            if stems
            else "has no factor, and one list of layers was expected"
        )
    return stems.pop(), factors


def _refuse_beyond(name: str) -> None:
    """Refuse a tensor of a sound adapter that changes more than the linear layers of blocks."""
    match = _BEYOND.fullmatch(name) if len(name) <= _LONGEST_NAME else None
    if match is not None and "lora_" not in match["path"]:
        detail = f"changes {shown(match['path'])}, and only factors of the linear layers of blocks"
        refuse(Fault.UNSUPPORTED(detail=f"{detail} are supported"))


def _check_size(lora: Lora, seen: Collection[int], base: Fingerprint) -> None:
    """Refuse another number of layers with a clear text: the base is usually the wrong one."""
    if not lora.names_blocks and len(seen) != base.layers:
        detail = f"fits a base with another number of layers: {len(seen)}, not {base.layers}"
        refuse(Fault.UNFIT(detail=detail))
    if max(seen) >= base.layers:
        last = base.layers - 1
        detail = f"has factors for layer {max(seen)}, and the base ends with layer {last}"
        refuse(Fault.UNFIT(detail=detail))
    if lora.rank > base.hidden_size:
        detail = f"has the rank {lora.rank}, and the base is {base.hidden_size} wide"
        refuse(Fault.UNFIT(detail=detail))


def _check_pair(
    rank: int, factors: _Factors, path: tuple[str, int, str], shape: tuple[int, int] | None
) -> None:
    """Remove the two factors of a layer from ``factors``, and check their shapes."""
    stem, layer, module = path
    for factor, axis in (("A", 0), ("B", 1)):
        entry = factors.pop((layer, module, factor), None)
        name = f"base_model.model.{stem}.{layer}.{module}.lora_{factor}.weight"
        if entry is None:
            refuse(f"lacks the tensor {shown(name)}")
        size = None if shape is None else shape[axis]
        expected = (rank, size) if factor == "A" else (size, rank)
        given = entry.shape
        if len(given) != 2 or any(
            want is not None and want != have for want, have in zip(expected, given, strict=True)
        ):
            sizes = ", ".join("?" if want is None else str(want) for want in expected)
            detail = f"has {shown(name)} in the shape {list(given)}, and [{sizes}] was expected"
            refuse(Fault.UNFIT(detail=detail))
