"""``adapter_config.json``: what peft is told of a LoRA adapter (https://arxiv.org/abs/2106.09685).

peft believes the file: it evaluates patterns and imports a module that the settings name. So we
read it ourselves, take what we know, refuse what would change the meaning of the factors, and add
the factors ourselves (``engine.loading.lora_layers``).
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from engine.untrusted.strict_json import JsonObject, shown

CONFIG_FILE = "adapter_config.json"

_MOST_RANK = 65_536
_LONGEST_NAME = 256
_TARGET = re.compile(r"\w+(?:\.\w+)*", re.ASCII)
_OF_ONE_BLOCK = re.compile(
    r"(?:(?P<stem>[A-Za-z_][\w.]*)\.)?(?P<layer>0|[1-9][0-9]{0,3})\.(?P<module>[A-Za-z_][\w.]*)",
    re.ASCII,
)

_READ = frozenset(
    (
        *("bias", "fan_in_fan_out", "init_lora_weights", "layers_to_transform", "lora_alpha"),
        *("peft_type", "r", "target_modules", "task_type", "use_rslora"),
    )
)
_WITHOUT_EFFECT = frozenset(  # on what a trained adapter computes
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
"""What may stand there; the first is what a missing key means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lora:
    """What peft is told of an adapter.

    Attributes:
        rank: of all factors.
        alpha: the product of the factors is multiplied by alpha / rank.
        targets: paths of layers in the network, or ends of such paths.
        layers: the blocks that are adapted; None for all.
        rank_stabilised: alpha is divided by the square root of the rank instead.
    """

    rank: int
    alpha: float
    targets: frozenset[str]
    layers: frozenset[int] | None = None
    rank_stabilised: bool = False

    @property
    def names_blocks(self) -> bool:
        """Tell whether some blocks may be left out on purpose."""
        parts = (part for target in self.targets for part in target.split("."))
        return self.layers is not None or any(part.isdigit() for part in parts)

    def places(self, stem: str, modules: Collection[str], n_layers: int) -> "Places":
        """Find what the targets name in blocks that are alike, as peft does.

        A target that is the whole path of a layer names it whatever ``layers`` says.

        Args:
            stem: path of the list of blocks.
            modules: paths of layers within a block.
            n_layers: blocks.
        """
        chosen = range(n_layers)
        layers = frozenset(it for it in chosen if self.layers is None or it in self.layers)
        ends = {module: self.targets.intersection(_ends(module)) for module in modules}
        used = set().union(*ends.values()) if layers else set[str]()
        single: dict[int, set[str]] = {}
        stems = {None, *_ends(stem)}
        for target in self.targets:
            match = _OF_ONE_BLOCK.fullmatch(target)
            if match is None or match["module"] not in ends:
                continue
            layer, is_whole = int(match["layer"]), match["stem"] == stem
            if match["stem"] in stems and layer in (chosen if is_whole else layers):
                single.setdefault(layer, set()).add(match["module"])
                used.add(target)
        return Places(
            layers=layers,
            everywhere=tuple(sorted(module for module, found in ends.items() if found)),
            single=single,
            idle=tuple(sorted(self.targets - used)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The layers that targets name. They can be very many, and are counted out one by one.

    Attributes:
        layers: the blocks in which ``everywhere`` holds.
        everywhere: paths within a block, sorted.
        single: by block, paths that are named there alone, or there as well.
        idle: targets that name nothing, sorted.
    """

    layers: frozenset[int]
    everywhere: tuple[str, ...]
    single: Mapping[int, Collection[str]]
    idle: tuple[str, ...]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Name block and path of each layer, block by block."""
        for layer in sorted(self.layers.union(self.single)):
            modules = self.everywhere if layer in self.layers else ()
            if layer in self.single:
                modules = tuple(sorted({*modules, *self.single[layer]}))
            for module in modules:
                yield layer, module


def _ends(path: str) -> list[str]:
    """Give a path, and what is left of it without its first parts."""
    parts = path.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def parse_lora(content: JsonObject) -> Lora:
    """Take the settings from ``adapter_config.json``.

    Raises:
        ValueError: they are garbled, or ask for what is not supported.
    """
    if content.text("peft_type") != "LORA":
        msg = f"describes {shown(content.text('peft_type'))}, and only LORA is supported"
        raise ValueError(msg)
    for key, value in content.values.items():
        if key not in _READ | _WITHOUT_EFFECT and value not in (None, False, "", [], {}):
            msg = f"sets {shown(key)}, which is not supported"
            raise ValueError(msg)
    _check_plain(content)
    alpha = content.number("lora_alpha")
    if alpha <= 0:
        msg = f"has a 'lora_alpha' of {alpha}, and only more than 0 has a meaning"
        raise ValueError(msg)
    return Lora(
        rank=content.integer("r", least=1, most=_MOST_RANK),
        alpha=alpha,
        targets=_targets(content),
        layers=_layers(content),
        rank_stabilised=content.flag("use_rslora", default=False),
    )


def _check_plain(content: JsonObject) -> None:
    """Check that the settings that are read have the one value that is supported."""
    for key, values in _SUPPORTED.items():
        value = content.values.get(key, values[0])
        if not any(value is one or (value == one and isinstance(one, str)) for one in values):
            msg = f"sets {shown(key)} to {shown(value)}, which is not supported"
            raise ValueError(msg)


def _targets(content: JsonObject) -> frozenset[str]:
    if isinstance(content.values.get("target_modules"), str):
        msg = "names its 'target_modules' by a pattern, and only a list of names is supported"
        raise ValueError(msg)  # noqa: TRY004  callers catch one error for all that is wrong
    targets = content.texts("target_modules")
    for target in targets:
        if len(target) > _LONGEST_NAME or not _TARGET.fullmatch(target):
            msg = f"has the target {shown(target)}, which is no name of a layer"
            raise ValueError(msg)
    if not targets:
        msg = "names no target"
        raise ValueError(msg)
    return frozenset(targets)


def _layers(content: JsonObject) -> frozenset[int] | None:
    chosen = content.values.get("layers_to_transform")
    if chosen is None or chosen == []:
        return None
    if isinstance(chosen, list):
        return frozenset(content.integers("layers_to_transform", most=9999))
    return frozenset([content.integer("layers_to_transform", most=9999)])
