"""A text file that grows with the captions, for programs that show the content of a file."""

import os
import sys
from pathlib import Path

from app.config.system.messages import AppCode
from app.config.system.text_io import TextError, printable
from engine.errors import message_of
from engine.untrusted.regular_file import append_plain


class LiveTextFile:
    """Append a line for each caption; nothing is overwritten."""

    def __init__(self, path: Path, *, is_ours: bool = False) -> None:
        """Keep the path of the file.

        Args:
            path: created with the first caption, readable by its owner only.
            is_ours: not chosen by the user: an existing file loses other rights, too.
        """
        self.path = path
        self._is_ours = is_ours
        self._file: int | None = None

    def write(self, caption: str) -> None:
        """Append a caption.

        Raises:
            TextError: the file cannot be written, or is a pipe, a device or the like.
        """
        line = " ".join(printable(caption).split()) + "\n"
        try:
            if self._file is None:
                self._file = self._open()
            os.write(self._file, line.encode(errors="replace"))
        except (OSError, ValueError) as error:
            code = AppCode.LIVE_TEXT_UNWRITABLE
            raise TextError(code(path=str(self.path), reason=message_of(error))) from error

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = append_plain(self.path)
        if self._is_ours and sys.platform != "win32":
            os.fchmod(file, 0o600)
        return file
