"""What a file is known by: the sha256 of its bytes.

``training.comet_scorer`` has its own, since it runs where nothing of ours can be imported.
"""

import hashlib
from pathlib import Path


def file_sha256(path: Path) -> str:
    """Hash a file of any size; 64 hexadecimal digits.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
