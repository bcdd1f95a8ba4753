"""Run the research commands: ``surtitle-research COMMAND`` or ``python -m training.research``.

They serve the papers: learning when to write, comparing systems, talks, other tools' files.
"""

import sys

from training.commands import evaluate, finetune
from training.commands.command_line import run_command
from training.research import methods
from training.research.commands import (
    calibrate_lag,
    comet,
    compare,
    convert,
    long_form,
    policy_head,
    record_scores,
    seqpo,
    speech_align,
    speech_data,
    speech_evaluate,
    speech_train,
)

_COMMANDS = (
    seqpo, policy_head, calibrate_lag, long_form, compare, record_scores, convert, comet,
    speech_data, speech_align, speech_train, speech_evaluate,
)  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the command line without the program's name; None for that of the process.

    Returns:
        the exit code: 0, 1 for a failure, 2 for wrong usage; a failure is one sentence on stderr.
    """
    methods.add()
    description = "Learn when to write, compare systems and measure talks, as the papers do."
    return run_command("surtitle-research", description, (*_COMMANDS, finetune, evaluate), argv)


if __name__ == "__mp_main__":  # in a process that this one has started
    methods.add()

if __name__ == "__main__":
    sys.exit(main())
