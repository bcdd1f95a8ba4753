"""``steps.jsonl``: a line for every step of a run.

A resumed run drops the lines after its checkpoint and writes them again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from training.data.corpus import write_lines
from training.errors import TrainingError
from training.trainer.loop import Moved


def keep_lines(path: Path, last_step: int) -> list[dict[str, object]]:
    """Drop the lines after a step, and an incomplete last line; return the lines that are kept."""
    if not path.exists():
        return []
    kept = list[dict[str, object]]()
    texts = list[str]()
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            break  # the process was killed while it wrote this line
        if line["step"] > last_step:
            break
        kept.append(line)
        texts.append(text)
    write_lines(path, texts)
    return kept


_NOTHING: Mapping[str, float] = {}


class StepRecord:
    """Writer of the steps; its owner closes it."""

    def __init__(self, path: Path, last_step: int) -> None:
        """Open the record, in order to append to it.

        Args:
            path: of the file.
            last_step: lines of later steps are dropped.

        Raises:
            TrainingError: the file cannot be written.
        """
        self._path = path
        try:
            keep_lines(path, last_step)
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._refusal(error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def write(self, moved: Moved, more: Mapping[str, float] = _NOTHING) -> None:
        """Write a step, and more values by their names; raise TrainingError if the disk is full."""
        try:
            self._file.write(json.dumps({**asdict(moved), **more}) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> TrainingError:
        return TrainingError(
            f"{self._path} cannot be written ({error.strerror or error}): make room and run again, "
            "the checkpoint is kept"
        )
