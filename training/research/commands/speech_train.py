"""The ``speech-train`` command: one stage of a translator that reads sound.

Alone, or on several processes: ``accelerate launch -m training.research speech-train ...``.
"""

import argparse
from functools import partial
from pathlib import Path

from training.commands.launch import train_and_tell
from training.commands.recipe import add_recipe, add_setting, noted_settings
from training.errors import UsageError
from training.research.speech.settings import SpeechTrainSettings
from training.settings import FALLS, NEW, PRECISIONS

RECIPES = Path(__file__).parents[1] / "speech" / "recipes"
"""Where the recipes are."""

_add = partial(add_setting, settings=SpeechTrainSettings)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``speech-train`` to the command line."""
    parser = subparsers.add_parser(
        "speech-train",
        help="teach a translator to read sound, stage by stage",
        description="Train an encoder, its adapter and a policy head for a translator, by the "
        "stage that the recipe names. Run it again to resume a run that was stopped. What is not "
        "named here is as the recipe says.",
    )
    add_recipe(parser, RECIPES, None)  # names the stage
    table = "table that speech-data wrote, by the target language"
    _add(parser, "--data", "data", table, metavar="LANG=F.tsv")
    base = "model folder of the stage before; first, of a translator (the bundled one)"
    _add(parser, "--base", "base", base, metavar="DIR")
    _add(parser, "--method", "method", "exposst for slots (the recipe's), easist for interleaved")
    stage = parser.add_argument_group("stage")
    _add(stage, "--parts", "speech.parts", "that are trained", metavar="P,P,...")
    _add(stage, "--losses", "speech.losses", "that are added up", metavar="L,L,...")
    _add(stage, "--policy-weight", "speech.policy_weight", "of the loss of decisions")
    _add(stage, "--masks", "speech.masks", "parts of each spectrum that are hidden")
    _add(stage, "--warp", "speech.warp", "share by which each voice is changed at most, as 0.15")
    hub = (
        "folder of wav2vec 2.0 as on the hub, made to look back by blocks: the stage begins from it"
    )
    _add(stage, "--encoder", "speech.pretrained", hub, metavar="DIR")
    for name in ("width", "layers", "heads", "feed_forward"):
        _add(stage, f"--{name.replace('_', '-')}", f"speech.encoder.{name}", "of a new encoder")
    group = parser.add_argument_group("training")
    _add(group, "--rate", "optimisation.rate", "highest learning rate of AdamW")
    _add(group, "--warm-up", "optimisation.warm_up_steps", "in which the rate rises")
    _add(group, "--fall", "optimisation.fall", "of the rate", choices=FALLS)
    _add(group, "--epochs", "optimisation.epochs", "times every utterance is used")
    _add(group, "--batch", "optimisation.batch_pairs", "utterances in a step", metavar="N")
    _add(group, "--seed", "optimisation.seed")
    machine = parser.add_argument_group("machine")
    _add(machine, "--device", "device")
    _add(machine, "--pass-tokens", "pass_tokens", "frames computed at once", metavar="N")
    _add(machine, "--precision", "precision", "of a translator that stays", choices=PRECISIONS)
    _add(machine, "--checkpoint-steps", "checkpoint_steps", "between two checkpoints")
    _add(machine, "--stop-after", "stop_after_steps", "pause; run again to go on")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make settings of the arguments and train.

    Raises:
        TrainingError: one sentence says what is wrong.
        SurtitleError: likewise.
    """
    settings = noted_settings("surtitle-research", arguments, RECIPES, SpeechTrainSettings)
    if settings.base == NEW:
        msg = "sound is read by a translator that is there: name its folder with --base"
        raise UsageError(msg)
    from training.research.speech.run import train_speech  # noqa: PLC0415  torch takes seconds; help must not

    train_and_tell(train_speech, settings, settings.out / "model")
    return 0
