"""The ``pretrain`` command: a recipe whose base is new, and arguments, become settings of a run."""

import argparse
from pathlib import Path

from training.commands.recipe import Table, add_arguments, add_setting, settings_of
from training.errors import UsageError
from training.settings import ARCHITECTURES, NEW, OPTIMIZERS, TrainSettings

RECIPES = Path(__file__).parents[1] / "trainer" / "pretraining" / "recipes"
"""Where the recipes of new bases are."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``pretrain`` to the command line."""
    parser = subparsers.add_parser(
        "pretrain",
        help="train a base model from aligned pairs",
        description="Train a base model from aligned pairs. Run it again to resume a run that "
        "was stopped. What is not named here is as the recipe says.",
    )
    group = add_arguments(parser, RECIPES, NEW)
    add_setting(group, "--optimizer", "optimisation.optimizer", choices=OPTIMIZERS)
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
    cuts = "cut this share of the writes of aligned reads short, as a model may"
    add_setting(group, "--cut-writes", "mixture.cut_writes", cuts, metavar="SHARE")
    dropped = "leave out this share of what layers add, where the data are few for the model (0)"
    add_setting(group, "--dropout", "dropout", dropped, metavar="SHARE")
    compiled = "compile the network, minutes at the first start; needs a C++ compiler"
    add_setting(group, "--compile", "compiled", compiled)
    rounded = "int4: learn weights that lose little by 4 bits, about a tenth slower"
    add_setting(group, "--quantise", "quantise", rounded, choices=("none", "int4"))
    lines = (
        "lines of a step, each filled with several pairs: all steps have one shape, as GPUs like "
        "it (a line for each pair)"
    )
    add_setting(group, "--lines", "lines", lines, metavar="N")
    workers = "processes that build steps of such lines ahead: a GPU takes more than one can build"
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
    parser.set_defaults(run=run)


_ORDINARY: Table = {
    "slot_lengths": "1",
    "one_end": True,
    "mixture": {
        "fixed_reads": 0, "aligned_reads": 0, "waits": 0, "n": [], "k": [], "cut_writes": 0
    },
}  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Make settings of the arguments and train."""
    changes = _ORDINARY if arguments.ordinary else {}
    settings = settings_of(arguments, RECIPES, {"base": NEW}, changes, TrainSettings)
    if settings.base != NEW:
        msg = f"the base of {arguments.recipe} is {settings.base}: train it with finetune"
        raise UsageError(msg)
    from training.trainer.pretraining.run import pretrain  # noqa: PLC0415  torch takes seconds; help must not

    pretrain(settings)
    return 0
