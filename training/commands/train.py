"""The commands ``pretrain`` and ``finetune``: a recipe and arguments become settings of a run.

Alone, or on several processes: ``accelerate launch -m training finetune ...``.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from training.commands.recipe import Table, add_arguments, add_setting, settings_of
from training.errors import UsageError
from training.settings import ARCHITECTURES, NEW, Mixture, TrainSettings

if TYPE_CHECKING:
    from training.trainer.processes import Processes


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    for add in (add_pretrain, add_finetune):
        add(subparsers)


RECIPES = Path(__file__).parents[1] / "trainer" / "recipes"
BASES, ADAPTERS = RECIPES / "pretraining", RECIPES / "finetuning"
"""Where the recipes of new bases and of adapters are."""


def add_pretrain(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "pretrain",
        help="train a base model from aligned pairs",
        description="Train a base model from aligned pairs. Run it again to resume a run that "
        "was stopped. What is not named here is as the recipe says.",
    )
    group = add_arguments(parser, BASES, NEW)
    decay = (
        "share of the run, at its end, in which a rate that falls late falls to 0; with 0 it "
        "stays, and the run can be prolonged by more --epochs"
    )
    add_setting(group, "--decay", "optimisation.decay", decay, metavar="SHARE")
    group.add_argument(
        "--ordinary",
        action="store_true",
        help="train no simultaneous policy and no slots: a base for comparing methods on",
    )
    dropped = "leave out this share of what layers add, where the data are few for the model (0)"
    add_setting(group, "--dropout", "dropout", dropped, metavar="SHARE")
    rounded = "int4: learn weights that lose little by 4 bits, about a tenth slower"
    add_setting(group, "--quantise", "quantise", rounded, choices=("none", "int4"))
    workers = "processes that build steps ahead: a GPU takes more than one can build"
    add_setting(group, "--workers", "workers", workers, metavar="N")
    begin = (
        "begin with the tokenizer, weights and optimiser state of another run, to go on with other "
        "data or another schedule"
    )
    add_setting(group, "--begin-with", "begin_with", begin, metavar="DIR")
    trained_on = (
        "train all weights of this model on, of any family that the program runs, for example what "
        "cut-vocabulary wrote; its shape and its tokenizer stay"
    )
    add_setting(group, "--train-on", "train_on", trained_on, metavar="DIR")
    shape = parser.add_argument_group("model")
    kinds = "falcon: with ALiBi"
    add_setting(shape, "--architecture", "shape.architecture", kinds, choices=ARCHITECTURES)
    for name in ("hidden", "layers", "feed_forward", "heads", "vocabulary"):
        add_setting(shape, f"--{name.replace('_', '-')}", f"shape.{name}")
    parser.set_defaults(run=run_pretrain)


_ORDINARY: Table = {
    "slot_lengths": "1",
    "one_end": True,
    "mixture": {"fixed_reads": 0, "aligned_reads": 0, "waits": 0, "n": [], "k": []},
}


def run_pretrain(arguments: argparse.Namespace) -> int:
    changes = _ORDINARY if arguments.ordinary else {}
    settings = settings_of("surtitle-train", arguments, BASES, TrainSettings, changes, NEW)
    if settings.base != NEW:
        msg = f"the base of {arguments.recipe} is {settings.base}: train it with finetune"
        raise UsageError(msg)
    from training.trainer.pretraining import pretrain  # noqa: PLC0415  torch takes seconds; help must not

    pretrain(settings)
    return 0


_POLICIES = ("both", "read-n", "wait-k", "offline")


def add_finetune(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "finetune",
        help="train a LoRA adapter on a base",
        description="Train a LoRA adapter on aligned pairs. Run it again to resume a run that "
        "was stopped. What is not named here is as the recipe says; docs/training.md lists all.",
    )
    group = add_arguments(parser, ADAPTERS, "surtitle")
    base = "model folder, or name on the hub (the bundled model)"
    add_setting(group, "--base", "base", base, metavar="DIR|NAME")
    add_setting(group, "--method", "method", "as in docs/results.md (exposst)", metavar="NAME")
    group.add_argument("--policies", choices=_POLICIES, help="offline is always among them")
    waits = "drawn under wait-k; SimulMask trains with 4 more than it is decoded with"
    add_setting(group, "--k", "mixture.k", waits, metavar="K,K,...")
    add_setting(group, "--n", "mixture.n", "drawn under read-n", metavar="N,N,...")
    batch = "sentence pairs in a step, where --batch-tokens does not say its rows"
    add_setting(group, "--batch", "optimisation.batch_pairs", batch, metavar="PAIRS")
    quantise = "nf4: base in 4 bits (QLoRA)"
    add_setting(group, "--quantise", "quantise", quantise, choices=("none", "nf4"))
    add_setting(group, "--pass-tokens", "pass_tokens", "rows computed at once", metavar="N")
    less = "less memory, slower"
    add_setting(group, "--gradient-checkpointing", "gradient_checkpointing", less)
    lora = parser.add_argument_group("adapter")
    for name in ("rank", "alpha", "dropout"):
        add_setting(lora, f"--{name}", f"lora.{name}")
    add_setting(lora, "--targets", "lora.targets", "linear layers (all)", metavar="LAYER,...")
    dev = parser.add_argument_group("early stopping")
    add_setting(dev, "--dev", "dev.sets", metavar="LANG=SOURCE,REFERENCE")
    add_setting(dev, "--dev-policies", "dev.policies", "decoded, as read:3", metavar="P,P,...")
    add_setting(dev, "--dev-limit", "dev.limit", "of each dev set", metavar="LINES")
    add_setting(dev, "--max-laal", "dev.max_laal", "more lag does not count", metavar="WORDS")
    add_setting(dev, "--every", "dev.every_steps", "between two decodings", metavar="STEPS")
    add_setting(dev, "--patience", "dev.patience", "decodings without a new best", metavar="N")
    parser.set_defaults(run=run_finetune)


def run_finetune(arguments: argparse.Namespace) -> int:
    changes = _shares(arguments.policies)
    settings = settings_of("surtitle-train", arguments, ADAPTERS, TrainSettings, changes)
    if settings.base == NEW:
        msg = "an adapter is trained on a base that is there: name one, or make it with pretrain"
        raise UsageError(msg)
    from training.trainer.finetuning import finetune  # noqa: PLC0415  torch takes seconds; help must not

    train_and_tell(finetune, settings, settings.out / "adapter")
    return 0


def _shares(policies: str | None) -> Table:
    """Share the samples out to policies as the default mixture does, without those not wanted."""
    usual = Mixture()
    reads, aligned, waits = usual.fixed_reads, usual.aligned_reads, usual.waits
    together = reads + aligned + waits
    shares = {
        None: (),
        "both": (reads, aligned, waits),
        "read-n": (reads * together / (reads + aligned), aligned * together / (reads + aligned), 0),
        "wait-k": (0, 0, together),
        "offline": (0, 0, 0),
    }[policies]
    names = ("mixture.fixed_reads", "mixture.aligned_reads", "mixture.waits")
    return {name: round(share, 6) for name, share in zip(names, shares, strict=False)}


Settings = TypeVar("Settings", bound="TrainSettings")


def launched_processes(device: str) -> "Processes":
    """Return one process, or those of ``accelerate launch`` or torchrun, on a device by name."""
    from engine.runtime.load_plan import pick_device  # noqa: PLC0415  torch takes seconds; help must not
    from training.trainer.processes import LaunchedProcesses, OneProcess  # noqa: PLC0415  likewise

    picked = pick_device(device)
    # launchers tell each process so what it is part of
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return OneProcess(picked)
    shards = os.environ.get("ACCELERATE_USE_FSDP") == "true"
    return LaunchedProcesses(cpu=picked.type == "cpu", shards=shards)


def train_and_tell(
    train: Callable[[Settings, "Processes"], object], settings: Settings, result: Path
) -> None:
    """Train in the launched processes; the first of them prints the result once it is there."""
    processes = launched_processes(settings.device)
    train(settings, processes)
    if processes.rank == 0 and result.exists():
        sys.stdout.write(f"{result}\n")
