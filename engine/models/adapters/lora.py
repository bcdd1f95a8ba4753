"""Parse ``adapter_config.json``: peft's settings of a LoRA (https://arxiv.org/abs/2106.09685).

peft trusts the file: it evaluates patterns and imports a module that the settings name. So it is
parsed here, settings that would change the meaning of the factors are refused, and the factors are
added by ``engine.runtime.torch.linear_layers``.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from engine.models.fingerprint import Fingerprint, linear_layers
from engine.untrusted.faults import Fault, refuse
from engine.untrusted.file_headers import SafetensorsHeader, TensorEntry
from engine.untrusted.strict_json import JsonObject, shown

CONFIG_FILE = "adapter_config.json"

_MOST_RANK = 65_536
_LONGEST_NAME = 256
_TARGET = re.compile(r"\w+(?:\.\w+)*", re.ASCII)

_READ = frozenset(
    (
        *("bias", "fan_in_fan_out", "init_lora_weights", "layers_to_transform", "lora_alpha"),
        *("peft_type", "r", "target_modules", "task_type", "use_rslora"),
    )
)
_WITHOUT_EFFECT = frozenset(  # on the output of a trained adapter
    (
        *("auto_mapping", "base_model_name_or_path", "ensure_weight_tying", "inference_mode"),
        *("layers_pattern", "lora_dropout", "megatron_core", "peft_version"),
        *("qalora_group_size", "revision"),
    )
)
_SUPPORTED: Mapping[str, tuple[object, ...]] = {
    "bias": ("none",),
    "fan_in_fan_out": (False,),
    "init_lora_weights": (True, False, "gaussian", "orthogonal"),  # others change the base, too
    "task_type": (None, "CAUSAL_LM"),
}
"""The supported values; the first is the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lora:
    """The settings of a LoRA adapter.

    Attributes:
        alpha: the product of the factors is multiplied by alpha / rank.
        targets: paths of layers within a block, or ends of such paths.
        layers: the adapted blocks; None for all.
        rank_stabilised: alpha is divided by the square root of the rank instead.
    """

    rank: int
    alpha: float
    targets: frozenset[str]
    layers: frozenset[int] | None = None
    rank_stabilised: bool = False


def _ends(path: str) -> list[str]:
    """Return a path, and each of its ends without the first parts."""
    parts = path.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def parse_lora(content: JsonObject) -> Lora:
    """Parse ``adapter_config.json``; raise ValueError if it is garbled or not supported."""
    if content.text("peft_type") != "LORA":
        detail = f"describes {shown(content.text('peft_type'))}, and only LORA is supported"
        refuse(Fault.UNSUPPORTED(detail=detail))
    for key, value in content.values.items():
        if key not in _READ | _WITHOUT_EFFECT and value not in (None, False, "", [], {}):
            refuse(Fault.UNSUPPORTED(detail=f"sets {shown(key)}, which is not supported"))
    content.check_supported(_SUPPORTED)
    alpha = content.number("lora_alpha")
    if alpha <= 0:
        refuse(f"has a 'lora_alpha' of {alpha}, and only more than 0 has a meaning")
    return Lora(
        rank=content.integer("r", least=1, most=_MOST_RANK),
        alpha=alpha,
        targets=_targets(content),
        layers=_layers(content),
        rank_stabilised=content.flag("use_rslora", default=False),
    )


def _targets(content: JsonObject) -> frozenset[str]:
    if isinstance(content.values.get("target_modules"), str):
        detail = "names its 'target_modules' by a pattern, and only a list of names is supported"
        refuse(Fault.UNSUPPORTED(detail=detail))
    targets = content.texts("target_modules")
    for target in targets:
        if len(target) > _LONGEST_NAME or not _TARGET.fullmatch(target):
            refuse(f"has the target {shown(target)}, which is no name of a layer")
    if not targets:
        refuse("names no target")
    return frozenset(targets)


def _layers(content: JsonObject) -> frozenset[int] | None:
    chosen = content.values.get("layers_to_transform")
    if chosen is None or chosen == []:
        return None
    if isinstance(chosen, list):
        return frozenset(content.integers("layers_to_transform", most=9999))
    return frozenset([content.integer("layers_to_transform", most=9999)])


# Every targeted layer has a factor A, shape (rank, inputs), and a factor B, shape (outputs, rank).
# peft silently loads an adapter of fewer layers and leaves the rest random, so every factor is
# looked up here, by the header alone. The targeted layers are never listed: settings of a megabyte
# could name eighty million.

WEIGHTS_FILE = "adapter_model.safetensors"

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
    """The factors: adapted paths within a block (sorted), adapted blocks, sizes and dtypes."""

    modules: tuple[str, ...]
    layers: tuple[int, ...]
    n_parameters: int
    n_bytes: int
    dtypes: tuple[str, ...]


def fit_lora(lora: Lora, header: SafetensorsHeader, base: Fingerprint | None) -> LoraWeights:
    """Check that a file holds exactly the factors that the settings name, in the base's shapes.

    Without ``base``, or with an unknown architecture, only the ranks of the factors are checked.
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
    ends = {module: lora.targets.intersection(_ends(module)) for module in shapes}
    idle = lora.targets.difference(*ends.values())
    if idle:
        refuse(f"should have factors for the target {shown(min(idle))}, which is no layer of it")
    for layer in range(n_layers):
        for module in sorted(ends) if lora.layers is None or layer in lora.layers else ():
            if ends[module]:  # stops at the first missing factor
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
    if lora.layers is None and len(seen) != base.layers:
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
