"""``steps.jsonl``: a line for every step of a run, and TensorBoard's curves on request.

A resumed run drops the lines after its checkpoint and writes them again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from training.data.corpus import write_lines
from training.errors import TrainingError
from training.trainer.loop import Moved

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


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

    def __init__(self, path: Path, last_step: int, tensorboard: Path | None) -> None:
        """Open the record, in order to append to it.

        Args:
            path: of the file.
            last_step: lines of later steps are dropped.
            tensorboard: folder for TensorBoard, or None.

        Raises:
            TrainingError: TensorBoard is missing, or the file cannot be written.
        """
        self._path = path
        self._board: SummaryWriter | None = (
            None if tensorboard is None else _open_board(tensorboard, last_step)
        )
        try:
            keep_lines(path, last_step)
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._refusal(error) from error

    def close(self) -> None:
        """Close the file and the curves."""
        self._file.close()
        if self._board is not None:
            self._board.close()

    def write(self, moved: Moved, more: Mapping[str, float] = _NOTHING) -> None:
        """Write a step, and more values by their names; raise TrainingError if the disk is full."""
        try:
            self._file.write(json.dumps({**asdict(moved), **more}) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._refusal(error) from error
        for name in ("loss", "rate", "norm"):
            self.draw(name, getattr(moved, name), moved.step)
        for name, value in more.items():
            self.draw(name, value, moved.step)

    def draw(self, name: str, value: float, step: int) -> None:
        """Add a point to a curve of TensorBoard, if it is used."""
        if self._board is not None:
            self._board.add_scalar(name, value, step)

    def _refusal(self, error: OSError) -> TrainingError:
        return TrainingError(
            f"{self._path} cannot be written ({error.strerror or error}): make room and run again, "
            "the checkpoint is kept"
        )


def _open_board(folder: Path, last_step: int) -> "SummaryWriter":
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  only where it is asked
    except ImportError as error:
        msg = "--tensorboard needs tensorboard: pip install 'surtitle[tensorboard]'"
        raise TrainingError(msg) from error
    return SummaryWriter(str(folder), purge_step=last_step + 1)
