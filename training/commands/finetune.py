"""The ``finetune`` command: a recipe and arguments become settings of a run.

Alone, or on several processes: ``accelerate launch -m training finetune ...``.
"""

import argparse
from pathlib import Path

from training.commands.launch import train_and_tell
from training.commands.recipe import Table, add_arguments, add_setting, noted_settings
from training.errors import UsageError
from training.settings import NEW, STORED, Mixture, TrainSettings

RECIPES = Path(__file__).parents[1] / "trainer" / "finetuning" / "recipes"
"""Where the recipes of adapters are."""

_POLICIES = ("both", "read-n", "wait-k", "offline")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``finetune`` to the command line."""
    parser = subparsers.add_parser(
        "finetune",
        help="train a LoRA adapter on a base",
        description="Train a LoRA adapter on aligned pairs. Run it again to resume a run that "
        "was stopped. What is not named here is as the recipe says; docs/training.md lists all.",
    )
    group = add_arguments(parser, RECIPES, "surtitle")
    base = "model folder, or name on the hub (the bundled model)"
    add_setting(group, "--base", "base", base, metavar="DIR|NAME")
    add_setting(group, "--method", "method", "as in docs/results.md (exposst)", metavar="NAME")
    group.add_argument("--policies", choices=_POLICIES, help="offline is always among them")
    waits = "drawn under wait-k; SimulMask trains with 4 more than it is decoded with"
    add_setting(group, "--k", "mixture.k", waits, metavar="K,K,...")
    add_setting(group, "--n", "mixture.n", "drawn under read-n", metavar="N,N,...")
    batch = "sentence pairs in a step, where --batch-tokens does not say its rows"
    add_setting(group, "--batch", "optimisation.batch_pairs", batch, metavar="PAIRS")
    add_setting(group, "--licence", "licences", "for its card", metavar="CORPUS=LICENCE")
    quantise = "nf4: base in 4 bits (QLoRA)"
    add_setting(group, "--quantise", "quantise", quantise, choices=("none", "nf4"))
    add_setting(group, "--pass-tokens", "pass_tokens", "rows computed at once", metavar="N")
    less = "less memory, slower"
    add_setting(group, "--gradient-checkpointing", "gradient_checkpointing", less)
    lora = parser.add_argument_group("adapter")
    for name in ("rank", "alpha", "dropout"):
        add_setting(lora, f"--{name}", f"lora.{name}")
    stored = "the saved factors; trained in fp32"
    add_setting(lora, "--stored", "lora.stored", stored, choices=STORED)
    add_setting(lora, "--targets", "lora.targets", "linear layers (all)", metavar="LAYER,...")
    dev = parser.add_argument_group("early stopping")
    add_setting(dev, "--dev", "dev.sets", metavar="LANG=SOURCE,REFERENCE")
    add_setting(dev, "--dev-policies", "dev.policies", "decoded, as read:3", metavar="P,P,...")
    add_setting(dev, "--dev-limit", "dev.limit", "of each dev set", metavar="LINES")
    add_setting(dev, "--max-laal", "dev.max_laal", "more lag does not count", metavar="WORDS")
    add_setting(dev, "--every", "dev.every_steps", "between two decodings", metavar="STEPS")
    add_setting(dev, "--patience", "dev.patience", "decodings without a new best", metavar="N")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make settings of the arguments and train."""
    changes = _shares(arguments.policies)
    settings = noted_settings("surtitle-train", arguments, RECIPES, TrainSettings, changes)
    if settings.base == NEW:
        msg = "an adapter is trained on a base that is there: name one, or make it with pretrain"
        raise UsageError(msg)
    from training.trainer.finetuning.run import finetune  # noqa: PLC0415  torch takes seconds; help must not

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
