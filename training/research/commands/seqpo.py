"""The ``seqpo`` command: learn when to write by reward, from a base or an adapter.

Alone, or on several processes: ``accelerate launch -m training.research seqpo ...``.
"""

import argparse
from functools import partial
from pathlib import Path

from training.commands.launch import train_and_tell
from training.commands.recipe import add_recipe, add_setting, noted_settings
from training.errors import UsageError
from training.research.seqpo.settings import QUALITIES, REWARDS, TRUNCATIONS, RewardSettings
from training.settings import NEW

RECIPES = Path(__file__).parents[1] / "seqpo" / "recipes"
"""Where the recipes are."""

_add = partial(add_setting, settings=RewardSettings)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``seqpo`` to the command line."""
    parser = subparsers.add_parser(
        "seqpo",
        help="learn by reward when to write",
        description="Sample translations, reward quality and low lagging, and follow the policy "
        "gradient. Run it again to resume a run that was stopped. What is not named here is as "
        "the recipe says; docs/training.md lists all.",
    )
    add_recipe(parser, RECIPES, "seqpo")
    unseen = "files that align wrote, best of pairs that the base has not seen"
    _add(parser, "--data", "data", unseen, metavar="LANG=F.tsv")
    _add(parser, "--name", "name", "of the adapter")
    base = "model folder, or name on the hub (the bundled model)"
    _add(parser, "--base", "base", base, metavar="DIR|NAME")
    start = "adapter to begin with (an untrained one)"
    _add(parser, "--start", "seqpo.start", start, metavar="DIR")
    whole = "train the whole network; the result is a model folder"
    _add(parser, "--all-weights", "seqpo.all_weights", whole)
    _add(parser, "--rank", "lora.rank")
    _add_learning(parser)
    parser.set_defaults(run=run)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that most runs leave as they are."""
    group = parser.add_argument_group("learning")
    _add(group, "--steps", "seqpo.steps")
    _add(group, "--rate", "optimisation.rate", "highest learning rate of AdamW")
    _add(group, "--seed", "optimisation.seed")
    _add(group, "--policies", "seqpo.policies", "as read:1,read:2", metavar="P,P,...")
    _add(group, "--sources", "seqpo.sources", "of a step")
    _add(group, "--group", "seqpo.group", "translations of a source")
    _add(group, "--temperature", "seqpo.temperature", "of sampling")
    _add(group, "--lanes", "seqpo.lanes", "translations sampled side by side")
    rewards = parser.add_argument_group("reward")
    _add(rewards, "--quality", "seqpo.quality", choices=QUALITIES)
    _add(rewards, "--reward", "seqpo.reward", choices=REWARDS)
    _add(rewards, "--truncation", "seqpo.truncation", choices=TRUNCATIONS)
    _add(rewards, "--balance", "seqpo.balance", "weight of quality")
    _add(rewards, "--lag-weight", "seqpo.lag_weight", "0: quality only")
    away = "of moving away from the start"
    _add(rewards, "--divergence-price", "seqpo.divergence_price", away)
    dev = parser.add_argument_group("development sets")
    _add(dev, "--dev", "dev.sets", metavar="LANG=SOURCE,REFERENCE")
    _add(dev, "--dev-policies", "dev.policies", "decoded, as read:2", metavar="P,P,...")
    _add(dev, "--dev-limit", "dev.limit", "of each dev set", metavar="LINES")
    _add(dev, "--every", "dev.every_steps", "between two decodings", metavar="STEPS")
    machine = parser.add_argument_group("machine")
    _add(machine, "--device", "device")
    _add(machine, "--pass-tokens", "pass_tokens", "rows computed at once", metavar="N")
    _add(machine, "--checkpoint-steps", "checkpoint_steps", "between two checkpoints")
    _add(machine, "--stop-after", "stop_after_steps", "pause; run again to go on")


def run(arguments: argparse.Namespace) -> int:
    """Make settings of the arguments and train."""
    settings = noted_settings("surtitle-research", arguments, RECIPES, RewardSettings)
    if settings.base == NEW:
        msg = "learning by reward begins with a base that is there: name one"
        raise UsageError(msg)
    from training.research.seqpo.run import learn_by_reward  # noqa: PLC0415  torch takes seconds; help must not

    result = settings.out / ("model" if settings.seqpo.all_weights else "adapter")
    train_and_tell(learn_by_reward, settings, result)
    return 0
