"""Run the training commands: ``surtitle-train COMMAND`` or ``python -m training COMMAND``."""

import sys

from training.commands import data, evaluate, models, train
from training.commands.command_line import run_command

_COMMANDS = (data, train, evaluate, models)


def main(argv: list[str] | None = None) -> int:
    """Run one command, see ``run_command``."""
    description = "Prepare data, train and measure models for Surtitle."
    return run_command("surtitle-train", description, _COMMANDS, argv)


if __name__ == "__main__":
    sys.exit(main())
