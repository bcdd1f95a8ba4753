"""The ``finetune`` command: a recipe and arguments become settings of a run.

Alone, or on several processes: ``accelerate launch -m training finetune ...``.
"""

import argparse
import os
import shlex
import sys
from pathlib import Path

import platformdirs

from training.commands.recipe import Table, add_arguments, settings_of
from training.errors import UsageError
from training.settings import NEW, QUANTISATIONS, STORED, Mixture

RECIPES = Path(__file__).parents[1] / "finetuning" / "recipes"
"""Where the recipes of adapters are."""

_POLICIES = ("both", "read-n", "wait-k", "offline")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``finetune`` to the command line."""
    parser = subparsers.add_parser(
        "finetune",
        help="train a LoRA adapter on a base",
        description="Train a LoRA adapter on aligned pairs. Run it again to go on with a run that "
        "was stopped. What is not named here is as the recipe says; docs/training.md lists all.",
    )
    group = add_arguments(parser, RECIPES, "surtitle")
    group.add_argument(
        "--base", metavar="DIR|NAME", help="model folder, or name on the hub (the bundled model)"
    )
    group.add_argument("--method", metavar="NAME", help="as in docs/results.md (exposst)")
    group.add_argument("--policies", choices=_POLICIES, help="offline is always among them")
    group.add_argument(
        "--batch",
        dest="optimisation.batch_pairs",
        type=int,
        metavar="PAIRS",
        help="sentence pairs in a step, where --batch-tokens does not say its rows",
    )
    group.add_argument(
        "--licence", dest="licences", nargs="+", metavar="CORPUS=LICENCE", help="for its card"
    )
    group.add_argument("--quantise", choices=QUANTISATIONS, help="nf4: base in 4 bits (QLoRA)")
    group.add_argument("--pass-tokens", type=int, metavar="N", help="rows computed at once")
    group.add_argument(
        "--gradient-checkpointing", action="store_true", default=None, help="less memory, slower"
    )
    _add_lora(parser)
    _add_dev(parser)
    parser.set_defaults(run=run)


def _add_lora(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("adapter")
    group.add_argument("--rank", dest="lora.rank", type=int)
    group.add_argument("--alpha", dest="lora.alpha", type=int)
    group.add_argument("--dropout", dest="lora.dropout", type=float)
    group.add_argument(
        "--stored", dest="lora.stored", choices=STORED, help="the saved factors; trained in fp32"
    )
    group.add_argument(
        "--targets", dest="lora.targets", metavar="LAYER,...", help="linear layers (all)"
    )


def _add_dev(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("early stopping")
    group.add_argument("--dev", dest="dev.sets", nargs="+", metavar="LANG=SOURCE,REFERENCE")
    group.add_argument(
        "--dev-policies", dest="dev.policies", metavar="P,P,...", help="decoded, as read:3"
    )
    group.add_argument(
        "--dev-limit", dest="dev.limit", type=int, metavar="LINES", help="of each dev set"
    )
    group.add_argument(
        "--max-laal",
        dest="dev.max_laal",
        type=float,
        metavar="WORDS",
        help="more lag does not count",
    )
    group.add_argument(
        "--every", dest="dev.every_steps", type=int, metavar="STEPS", help="between two decodings"
    )
    group.add_argument(
        "--patience",
        dest="dev.patience",
        type=int,
        metavar="N",
        help="decodings without a new best",
    )


def run(arguments: argparse.Namespace) -> int:
    """Turn arguments into settings and train.

    Raises:
        TrainingError: one sentence says what is wrong.
    """
    changes: Table = {"commands": [shlex.join(["surtitle-train", *sys.argv[1:]])]}
    changes |= _shares(arguments.policies)
    settings = settings_of(arguments, RECIPES, {"models": str(_library())}, changes)
    if settings.base == NEW:
        msg = "an adapter is trained on a base that is there: name one, or make it with pretrain"
        raise UsageError(msg)
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
