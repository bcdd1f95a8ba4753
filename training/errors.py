"""Errors that end a training command.

::

    TrainingError        a failure; exit code 1
    |-- UsageError       wrong arguments; exit code 2
    `-- CorpusError      a file of sentences is missing, empty, damaged or not aligned

A message is one sentence: what was expected, what came, what to do. Callers of a command catch
``TrainingError``.
"""


class TrainingError(Exception):
    """A training command cannot continue; the message is one sentence."""


class UsageError(TrainingError):
    """An argument of the command line cannot be used."""


class CorpusError(TrainingError):
    """A file of sentences cannot be read or written."""
