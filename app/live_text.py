"""A text file that grows with the captions, for programs that show what a file holds."""

import os
from pathlib import Path

from app.text_lines import TextError, printable


class LiveText:
    """Append a line for each caption; nothing is ever written over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def write(self, caption: str) -> None:
        """Append a caption.

        Raises:
            TextError: the file cannot be written.
        """
        line = " ".join(printable(caption).split()) + "\n"
        try:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                self._file = os.open(self._path, flags, 0o644)
            os.write(self._file, line.encode(errors="replace"))
        except OSError as error:
            msg = (
                f"captions cannot be appended to {self._path}: {error.strerror}; choose another "
                "file in the settings"
            )
            raise TextError(msg) from error

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
