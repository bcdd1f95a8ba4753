"""Name the errors a training command may end with.

::

    TrainingError        something one sentence can tell; exit code 1
    |-- UsageError       the command line asks for what cannot be; exit code 2
    |-- CorpusError      a file of sentences is missing, empty, damaged or not aligned
    |-- AlignerMissingError
    `-- AlignerFailedError

Messages are one sentence: what was expected, what came, what to do. A caller of one command catches
``TrainingError`` alone.
"""


class TrainingError(Exception):
    """Say in one sentence why a training command cannot go on."""


class UsageError(TrainingError):
    """Say which argument of the command line cannot be obeyed."""


class CorpusError(TrainingError):
    """Say which file of sentences cannot be read or written, and where."""


class AlignerMissingError(TrainingError):
    """Say that the word aligner is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "word alignment needs eflomal: install it with pip install 'surtitle[align]'"
        )


class AlignerFailedError(TrainingError):
    """Say that the word aligner has not aligned what it was given."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"eflomal was to align all pairs and failed ({reason}): see that there is memory and "
            "room for temporary files, or use --ratio"
        )
