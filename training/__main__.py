"""Run the training commands: ``surtitle-train COMMAND`` or ``python -m training COMMAND``."""

import sys

from training.commands import (
    align,
    augment,
    calibrate,
    cut_vocabulary,
    evaluate,
    export,
    finetune,
    prepare,
    pretrain,
    punctuation,
)
from training.commands.command_line import run_command

_COMMANDS = (
    prepare, augment, align, cut_vocabulary, pretrain, finetune, export, evaluate, calibrate,
    punctuation,
)  # fmt: skip

_MOVED = {
    "seqpo", "compare", "record-scores", "convert", "comet", "calibrate-lag", "policy-head",
    "long-form",
}  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the command line without the program's name; None for that of the process.

    Returns:
        the exit code: 0, 1 for a failure, 2 for wrong usage; a failure is one sentence on stderr.
    """
    given = sys.argv[1:] if argv is None else argv
    if given and given[0] in _MOVED:
        name = given[0]
        sys.stderr.write(f"surtitle-train {name}: type surtitle-research {name}\n")
        return 2
    description = "Prepare data, train and measure models for Surtitle."
    return run_command("surtitle-train", description, _COMMANDS, given)


if __name__ == "__main__":
    sys.exit(main())
