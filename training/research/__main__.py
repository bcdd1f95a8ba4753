"""Run the commands of research: ``python -m training.research COMMAND``.

They serve the papers, and are no part of the program that is installed: learning when to write,
translators that read sound, systems held against each other, talks, other tools' files. Here
``pretrain``, ``finetune`` and ``evaluate``, those of ``surtitle-train``, know the papers' methods.
"""

import sys
from importlib import import_module
from typing import cast

from training.commands import evaluate, train
from training.commands.command_line import Command, run_command
from training.research import methods

STORIES = {
    "seqpo": ("seqpo",),
    "when_to_write": ("policy-head",),
    "talks": ("long-form",),
    "compare": ("compare", "record-scores"),
    "comet": ("comet",),
    "simuleval": ("convert",),
    "speech_corpus": ("speech-data",),
    "speech": ("speech-train",),
    "speech_measure": ("speech-evaluate",),
}
"""The commands of each file; it is imported for them alone, since torch takes seconds."""


def commands(name: str = "") -> list[Command]:
    """Return the file that has a command, or all where none has."""
    known = [story for story, own in STORIES.items() if name in own] or list(STORIES)
    return [cast("Command", import_module(f"training.research.{story}")) for story in known]


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code is 0, 1 for a failure, 2 for wrong usage."""
    methods.add()
    given = sys.argv[1:] if argv is None else argv
    name = given[0] if given else ""
    own = [] if name in ("pretrain", "finetune", "evaluate") else commands(name)
    description = "Learn when to write, compare systems and measure talks, as the papers do."
    return run_command("training.research", description, [*own, train, evaluate], given)


if __name__ == "__mp_main__":  # in a process that this one has started
    methods.add()

if __name__ == "__main__":
    __spec__ = None  # by its path such a process runs this file, by a name like this it would not
    sys.exit(main())
