"""The ``seqpo`` command: learn when to write by reward, from a base or an adapter.

Alone, or on several processes: ``accelerate launch -m training seqpo ...``.
"""

import argparse
import shlex
import sys
from pathlib import Path

from training.commands.launch import launched_processes, model_library
from training.commands.recipe import Table, add_setting, recipe_names, settings_of
from training.errors import UsageError
from training.seqpo_settings import QUALITIES, REWARDS, TRUNCATIONS
from training.settings import NEW

RECIPES = Path(__file__).parents[1] / "seqpo" / "recipes"
"""Where the recipes are."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``seqpo`` to the command line."""
    parser = subparsers.add_parser(
        "seqpo",
        help="learn by reward when to write",
        description="Sample translations, reward quality and low lagging, and follow the policy "
        "gradient. Run it again to resume a run that was stopped. What is not named here is as "
        "the recipe says; docs/training.md lists all.",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder")
    known = ", ".join(recipe_names(RECIPES))
    parser.add_argument(
        "--recipe", default="seqpo", metavar="NAME|F.toml", help=f"{known}, or a file (%(default)s)"
    )
    unseen = "files that align wrote, best of pairs that the base has not seen"
    add_setting(parser, "--data", "data", unseen, metavar="LANG=F.tsv")
    add_setting(parser, "--name", "name", "of the adapter")
    base = "model folder, or name on the hub (the bundled model)"
    add_setting(parser, "--base", "base", base, metavar="DIR|NAME")
    start = "adapter to begin with (an untrained one)"
    add_setting(parser, "--start", "seqpo.start", start, metavar="DIR")
    whole = "train the whole network; the result is a model folder"
    add_setting(parser, "--all-weights", "seqpo.all_weights", whole)
    add_setting(parser, "--rank", "lora.rank")
    _add_learning(parser)
    parser.set_defaults(run=run)


def _add_learning(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that most runs leave as they are."""
    group = parser.add_argument_group("learning")
    add_setting(group, "--steps", "seqpo.steps")
    add_setting(group, "--rate", "optimisation.rate", "highest learning rate of AdamW")
    add_setting(group, "--seed", "optimisation.seed")
    add_setting(group, "--policies", "seqpo.policies", "as read:1,read:2", metavar="P,P,...")
    add_setting(group, "--sources", "seqpo.sources", "of a step")
    add_setting(group, "--group", "seqpo.group", "translations of a source")
    add_setting(group, "--temperature", "seqpo.temperature", "of sampling")
    add_setting(group, "--lanes", "seqpo.lanes", "translations sampled side by side")
    rewards = parser.add_argument_group("reward")
    add_setting(rewards, "--quality", "seqpo.quality", choices=QUALITIES)
    add_setting(rewards, "--reward", "seqpo.reward", choices=REWARDS)
    add_setting(rewards, "--truncation", "seqpo.truncation", choices=TRUNCATIONS)
    add_setting(rewards, "--balance", "seqpo.balance", "weight of quality")
    add_setting(rewards, "--lag-weight", "seqpo.lag_weight", "0: quality only")
    away = "of moving away from the start"
    add_setting(rewards, "--divergence-price", "seqpo.divergence_price", away)
    dev = parser.add_argument_group("development sets")
    add_setting(dev, "--dev", "dev.sets", metavar="LANG=SOURCE,REFERENCE")
    add_setting(dev, "--dev-policies", "dev.policies", "decoded, as read:2", metavar="P,P,...")
    add_setting(dev, "--dev-limit", "dev.limit", "of each dev set", metavar="LINES")
    add_setting(dev, "--every", "dev.every_steps", "between two decodings", metavar="STEPS")
    machine = parser.add_argument_group("machine")
    add_setting(machine, "--device", "device")
    add_setting(machine, "--pass-tokens", "pass_tokens", "rows computed at once", metavar="N")
    add_setting(machine, "--checkpoint-steps", "checkpoint_steps", "between two checkpoints")
    add_setting(machine, "--stop-after", "stop_after_steps", "pause; run again to go on")


def run(arguments: argparse.Namespace) -> int:
    """Make settings of the arguments and train."""
    commands = [shlex.join(["surtitle-train", *sys.argv[1:]])]
    usual: Table = {"models": str(model_library())}
    settings = settings_of(arguments, RECIPES, usual, {"commands": commands})
    if settings.base == NEW:
        msg = "learning by reward begins with a base that is there: name one"
        raise UsageError(msg)
    from training.seqpo.run import learn_by_reward  # noqa: PLC0415  torch takes seconds; help must not

    processes = launched_processes(settings.device)
    learn_by_reward(settings, processes)
    result = settings.out / ("model" if settings.seqpo.all_weights else "adapter")
    if processes.rank == 0 and result.exists():
        sys.stdout.write(f"{result}\n")
    return 0
