"""``steps.jsonl``: a line for every step of a run, and the same for TensorBoard where asked.

A run that goes on after it was killed drops the lines behind its checkpoint and writes them again.
"""

import json
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from training.data.corpus import write_lines
from training.errors import TrainingError
from training.trainer.loop import Moved

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


def keep_lines(path: Path, last_step: int) -> list[dict[str, object]]:
    """Drop the lines of a record that lie behind a step, and half a line at its end.

    Returns:
        the lines that stay.
    """
    if not path.exists():
        return []
    kept = list[dict[str, object]]()
    texts = list[str]()
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            break  # the process was killed while it wrote this one
        if line["step"] > last_step:
            break
        kept.append(line)
        texts.append(text)
    write_lines(path, texts)
    return kept


class StepRecord:
    """Write what each step was."""

    def __init__(self, path: Path, last_step: int, tensorboard: Path | None) -> None:
        """Open the record behind a step.

        Args:
            path: of the file.
            last_step: lines behind it are dropped.
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()

    def write(self, moved: Moved) -> None:
        """Write a step.

        Raises:
            TrainingError: there is no room.
        """
        try:
            self._file.write(json.dumps(asdict(moved)) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._refusal(error) from error
        for name in ("loss", "rate", "norm"):
            self.draw(name, getattr(moved, name), moved.step)

    def draw(self, name: str, value: float, step: int) -> None:
        """Add a point to a curve of TensorBoard, where there is one."""
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
