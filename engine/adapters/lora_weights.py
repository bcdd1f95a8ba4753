"""``adapter_model.safetensors``: the factors of a LoRA adapter, held against settings and base.

For every targeted layer there is a factor A, shape (rank, inputs), and a factor B, shape (outputs,
rank). peft loads an adapter of fewer layers without a word and leaves the rest at random, so every
factor is looked for here, by the header alone. What the settings could name is never listed: a file
of a megabyte could make that eighty million layers.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from engine.adapters.lora_config import Lora
from engine.models.fingerprint import Fingerprint
from engine.models.linear_layers import linear_layers
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
_DTYPES = frozenset({"BF16", "F16", "F32", "F64"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraWeights:
    """What the file of factors holds.

    Attributes:
        modules: paths within a block that are adapted, sorted.
        layers: blocks that are adapted, rising.
        n_parameters: numbers in all factors.
        n_bytes: length of the file.
        dtypes: types of the factors, sorted.
    """

    modules: tuple[str, ...]
    layers: tuple[int, ...]
    n_parameters: int
    n_bytes: int
    dtypes: tuple[str, ...]


def fit_lora(lora: Lora, header: SafetensorsHeader, base: Fingerprint | None) -> LoraWeights:
    """Check that a file holds exactly the factors that the settings name, in the base's shapes.

    Args:
        lora: the settings.
        header: of the file.
        base: what the adapter was made for. Without one, or with an architecture that is not
            known, only what the factors themselves tell can be checked.

    Raises:
        ValueError: a factor is missing, superfluous or of a wrong shape or type; the text goes on
            a sentence that begins with the file.
    """
    stem, factors = _factors(header)
    known = None if base is None else linear_layers(base)
    if known is not None and stem != known.stem:
        msg = f"has its layers at {shown(stem)}, and the base has them at {known.stem}"
        raise ValueError(msg)
    n_layers = 1 + max(layer for layer, _, _ in factors)
    if base is not None:
        _check_size(lora, {layer for layer, _, _ in factors}, base)
        n_layers = base.layers
    shapes = {module: None for _, module, _ in factors} if known is None else known.shapes
    modules = tuple(sorted({module for _, module, _ in factors}))
    layers = tuple(sorted({layer for layer, _, _ in factors}))
    places = lora.places(stem, shapes, n_layers)
    if places.idle:
        msg = f"should have factors for the target {shown(places.idle[0])}, which is no layer of it"
        raise ValueError(msg)
    for layer, module in places:  # no further than the first that is missing
        _check_pair(lora.rank, factors, (stem, layer, module), shapes[module])
    if factors:
        layer, module, factor = next(iter(factors))
        msg = f"has a factor {factor} for {shown(f'{layer}.{module}')}, which is no target"
        raise ValueError(msg)
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
    """Sort the tensors by layer, module and factor; they must all lie under one stem."""
    factors: _Factors = {}
    stems = set()
    for name, entry in header.tensors.items():
        match = _FACTOR.fullmatch(name) if len(name) <= _LONGEST_NAME else None
        if match is None:
            msg = f"has the tensor {shown(name)}, which is no factor of a layer"
            raise ValueError(msg)
        if entry.dtype not in _DTYPES:
            msg = f"has the tensor {shown(name)} of type {entry.dtype}, which factors never are"
            raise ValueError(msg)
        stems.add(match["stem"])
        factors[int(match["layer"]), match["module"], match["factor"]] = entry
    if len(stems) != 1:
        found = "no factor" if not stems else f"factors in {len(stems)} lists of layers"
        msg = f"has {found}, and one list of layers was expected"
        raise ValueError(msg)
    return stems.pop(), factors


def _check_size(lora: Lora, seen: Collection[int], base: Fingerprint) -> None:
    """Say it in words where the number of layers is another: that is the usual wrong base."""
    if not lora.names_blocks and len(seen) != base.layers:
        msg = f"has factors for {len(seen)} layers, and the base has {base.layers}"
        raise ValueError(msg)
    if max(seen) >= base.layers:
        msg = f"has factors for layer {max(seen)}, and the base has {base.layers} layers"
        raise ValueError(msg)
    if lora.rank > base.hidden_size:
        msg = f"has the rank {lora.rank}, and the base is {base.hidden_size} wide"
        raise ValueError(msg)


def _check_pair(
    rank: int, factors: _Factors, place: tuple[str, int, str], shape: tuple[int, int] | None
) -> None:
    """Take the two factors of a layer out of those that are left, and check their shapes."""
    stem, layer, module = place
    for factor, axis in (("A", 0), ("B", 1)):
        entry = factors.pop((layer, module, factor), None)
        name = f"base_model.model.{stem}.{layer}.{module}.lora_{factor}.weight"
        if entry is None:
            msg = f"lacks the tensor {shown(name)}"
            raise ValueError(msg)
        size = None if shape is None else shape[axis]
        wanted = (rank, size) if factor == "A" else (size, rank)
        given = entry.shape
        if len(given) != 2 or any(
            one is not None and one != other for one, other in zip(wanted, given, strict=True)
        ):
            told = ", ".join("?" if one is None else str(one) for one in wanted)
            msg = f"has {shown(name)} in the shape {list(given)}, and [{told}] was expected"
            raise ValueError(msg)
