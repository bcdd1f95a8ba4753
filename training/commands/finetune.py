"""The ``finetune`` command: a recipe and arguments become settings of a run.

Alone, or on several processes: ``accelerate launch -m training finetune ...``.
"""

import argparse
import os
import shlex
import sys
from pathlib import Path

import platformdirs

from engine.settings import DEVICES
from training.errors import UsageError
from training.finetuning.recipes import Table, make_settings, read_recipe, recipe_names
from training.finetuning.settings import FALLS, QUANTISATIONS, STORED, FinetuneSettings
from training.settings import PRECISIONS, Mixture

_POLICIES = ("both", "read-n", "wait-k", "offline")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``finetune`` to the command line."""
    parser = subparsers.add_parser(
        "finetune",
        help="train a LoRA adapter on a base",
        description="Train a LoRA adapter on aligned pairs. Run it again to go on with a run that "
        "was stopped. What is not named here is as the recipe says; docs/training.md lists all.",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder")
    parser.add_argument(
        "--recipe",
        default="surtitle",
        metavar="NAME|F.toml",
        help=f"one of {', '.join(recipe_names())}, or a file (%(default)s)",
    )
    parser.add_argument("--data", nargs="+", metavar="LANG=F.tsv", help="files that align wrote")
    parser.add_argument(
        "--base", metavar="DIR|NAME", help="model folder, or name on the hub (the bundled model)"
    )
    _add_samples(parser)
    _add_optimisation(parser)
    _add_dev(parser)
    _add_machine(parser)
    parser.set_defaults(run=run)


def _add_samples(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("samples")
    group.add_argument("--method", metavar="NAME", help="as in docs/results.md (exposst)")
    group.add_argument(
        "--slot", metavar="N,N,...", help="slot lengths to draw from; captions use the first"
    )
    group.add_argument("--policies", choices=_POLICIES, help="offline is always among them")
    group.add_argument("--weight", nargs="+", metavar="CORPUS=W", help="copies in an epoch")
    group.add_argument("--max-length", type=int, metavar="TOKENS", help="longer pairs are left out")
    group.add_argument("--name", help="of the adapter (that of DIR)")
    group.add_argument("--licence", nargs="+", metavar="CORPUS=LICENCE", help="for its card")


def _add_optimisation(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("training")
    group.add_argument("--rank", type=int)
    group.add_argument("--alpha", type=int)
    group.add_argument("--dropout", type=float)
    group.add_argument("--stored", choices=STORED, help="the saved factors; trained in fp32")
    group.add_argument("--targets", metavar="LAYER,...", help="linear layers (all)")
    group.add_argument("--rate", type=float, help="highest learning rate")
    group.add_argument("--warm-up", type=int, metavar="STEPS")
    group.add_argument("--fall", choices=FALLS, help="of the rate: with the steps' root, or to 0")
    group.add_argument("--epochs", type=float)
    group.add_argument("--batch", type=int, metavar="PAIRS", help="sentence pairs in a step")
    group.add_argument("--batch-tokens", type=int, metavar="N", help="instead of --batch")
    group.add_argument("--seed", type=int)


def _add_dev(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("early stopping")
    group.add_argument("--dev", nargs="+", metavar="LANG=SOURCE,REFERENCE")
    group.add_argument("--dev-policies", metavar="P,P,...", help="decoded, for example read:3")
    group.add_argument("--dev-limit", type=int, metavar="LINES", help="of each dev set")
    group.add_argument("--max-laal", type=float, metavar="WORDS", help="more lag does not count")
    group.add_argument("--every", type=int, metavar="STEPS", help="between two decodings")
    group.add_argument("--patience", type=int, metavar="N", help="decodings without a new best")


def _add_machine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("machine")
    group.add_argument("--quantise", choices=QUANTISATIONS, help="nf4: base in 4 bits (QLoRA)")
    group.add_argument("--device", choices=DEVICES)
    group.add_argument("--precision", choices=PRECISIONS)
    group.add_argument("--pass-tokens", type=int, metavar="N", help="rows computed at once")
    group.add_argument(
        "--gradient-checkpointing", action="store_true", default=None, help="less memory, slower"
    )
    group.add_argument("--checkpoint-steps", type=int, metavar="STEPS")
    group.add_argument("--stop-after", type=int, metavar="STEPS", help="pause; run again to go on")
    group.add_argument("--tensorboard", action="store_true", default=None, help="write curves")


_PLACES = {
    "out": "out", "base": "base", "method": "method", "max_length": "max_length", "name": "name",
    "rank": "lora.rank", "alpha": "lora.alpha", "dropout": "lora.dropout",
    "stored": "lora.stored",
    "rate": "optimisation.rate", "warm_up": "optimisation.warm_up_steps",
    "fall": "optimisation.fall",
    "epochs": "optimisation.epochs", "batch": "optimisation.batch_pairs",
    "batch_tokens": "optimisation.batch_tokens", "seed": "optimisation.seed",
    "dev_limit": "dev.limit", "max_laal": "dev.max_laal", "every": "dev.every_steps",
    "patience": "dev.patience", "quantise": "quantise", "device": "device",
    "precision": "precision", "pass_tokens": "pass_tokens",
    "gradient_checkpointing": "gradient_checkpointing", "checkpoint_steps": "checkpoint_steps",
    "stop_after": "stop_after_steps", "tensorboard": "tensorboard",
}  # fmt: skip
"""Where an argument's value stands in a recipe."""


def run(arguments: argparse.Namespace) -> int:
    """Turn arguments into settings and train.

    Raises:
        TrainingError: one sentence says what is wrong.
    """
    settings = settings_of(arguments)
    from engine.loading.device import pick_device  # noqa: PLC0415  torch takes seconds; help must not
    from training.finetuning.run import finetune  # noqa: PLC0415  likewise
    from training.trainer.distributed import LaunchedProcesses, Machines, OneProcess  # noqa: PLC0415  likewise

    device = pick_device(settings.device)
    # accelerate launch, or torchrun, tells each process so what it is part of
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        machines: Machines = OneProcess(device)
    else:
        shards = os.environ.get("ACCELERATE_USE_FSDP") == "true"
        machines = LaunchedProcesses(cpu=device.type == "cpu", shards=shards)
    finetune(settings, machines)
    adapter = settings.out / "adapter"
    if machines.rank == 0 and adapter.exists():
        sys.stdout.write(f"{adapter}\n")
    return 0


def _library() -> Path:
    """Find where models that are fetched lie, as ``surtitle`` does."""
    home = os.environ.get("SURTITLE_HOME")
    data = Path(home) if home else platformdirs.user_data_path("surtitle", appauthor=False)
    return data / "models"


def settings_of(arguments: argparse.Namespace) -> FinetuneSettings:
    """Lay the arguments over the recipe.

    Raises:
        UsageError: something is written wrongly, or is not there.
    """
    table = read_recipe(arguments.recipe)
    for name, place in _PLACES.items():
        value = getattr(arguments, name)
        if value is not None:
            _put(table, place, str(value) if isinstance(value, Path) else value)
    _put_lists(table, arguments)
    _put_named(table, arguments)
    table.setdefault("models", str(_library()))
    _put(table, "commands", [shlex.join(["surtitle-train", *sys.argv[1:]])])
    settings = make_settings(table)
    _check_files(settings)
    return settings


def _put(table: Table, place: str, value: object) -> None:
    """Put a value where a path of keys leads."""
    *outer, key = place.split(".")
    for name in outer:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            msg = f"{name} should be a table of settings, got {inner!r}"
            raise UsageError(msg)
        table = inner
    table[key] = value


def _put_lists(table: Table, arguments: argparse.Namespace) -> None:
    """Put what is written with commas."""
    if arguments.slot:
        _put(table, "slot_lengths", [_number(one) for one in arguments.slot.split(",")])
    if arguments.targets:
        _put(table, "lora.targets", arguments.targets.split(","))
    if arguments.dev_policies:
        _put(table, "dev.policies", arguments.dev_policies.replace(",", " ").split())
    if arguments.policies:
        _put_policies(table, arguments.policies)


def _put_named(table: Table, arguments: argparse.Namespace) -> None:
    """Put what is written NAME=VALUE; names may hold dots."""
    for place, texts, read in (
        (table.setdefault("data", {}), arguments.data, str),
        (table.setdefault("licences", {}), arguments.licence, str),
        (table.setdefault("weights", {}), arguments.weight, _share),
    ):
        if isinstance(place, dict):  # else it is refused with the rest
            place.update((name, read(value)) for name, value in _named(texts))
    for name, value in _named(arguments.dev):
        _put(table, f"dev.sets.{name}", value.split(","))


def _put_policies(table: Table, policies: str) -> None:
    """Share the samples out to policies as the default mixture does, without those not wanted."""
    usual = Mixture()
    reads, aligned, waits = usual.fixed_reads, usual.aligned_reads, usual.waits
    together = reads + aligned + waits
    shares = {
        "both": (reads, aligned, waits),
        "read-n": (reads * together / (reads + aligned), aligned * together / (reads + aligned), 0),
        "wait-k": (0, 0, together),
        "offline": (0, 0, 0),
    }[policies]
    for name, share in zip(("fixed_reads", "aligned_reads", "waits"), shares, strict=True):
        _put(table, f"mixture.{name}", round(share, 6))


def _named(texts: list[str] | None) -> list[tuple[str, str]]:
    found = list[tuple[str, str]]()
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            msg = f"NAME=VALUE was expected, got {text!r}"
            raise UsageError(msg)
        found.append((name, value))
    return found


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        msg = f"a whole number was expected, got {text!r}"
        raise UsageError(msg) from error


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        msg = f"a number was expected, got {text!r}"
        raise UsageError(msg) from error


def _check_files(settings: FinetuneSettings) -> None:
    if not settings.languages:
        msg = "there is nothing to train on: name files with --data LANG=F.tsv"
        raise UsageError(msg)
    for path in settings.data.values():
        if not path.is_file():
            msg = f"{path} was to be read and does not exist: make it with surtitle-train align"
            raise UsageError(msg)
    for language, paths in settings.dev.sets.items():
        if language not in settings.languages:
            msg = f"the dev set of {language!r} is of no language that is trained"
            raise UsageError(msg)
        for path in paths:
            if not path.is_file():
                msg = f"{path} was to be read and does not exist: name two files with --dev"
                raise UsageError(msg)
