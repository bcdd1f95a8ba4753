"""What a file is known by: the sha256 of its bytes.

``training.comparison.comet_scorer`` has its own, since it runs where nothing of ours can be
imported.
"""

import hashlib
from pathlib import Path

from engine.untrusted.regular_file import open_plain


def file_sha256(path: Path) -> str:
    """Hash a file of any size; 64 hexadecimal digits.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
