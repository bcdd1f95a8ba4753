"""Large arrays whose memory is taken page by page, as it is written, and given back at once.

numpy asks for huge pages, of which one written number takes two megabytes, and the C library keeps
what is freed for itself.
"""

import math
import mmap

import numpy as np
from numpy.typing import NDArray


def zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return an array of zeros in float32 with memory of its own; MemoryError if there is none."""
    try:
        memory = mmap.mmap(-1, max(1, 4 * math.prod(shape)))
    except OSError as error:
        raise MemoryError(str(error)) from error
    if hasattr(mmap, "MADV_NOHUGEPAGE"):  # on Linux
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.float32, count=math.prod(shape)).reshape(shape)
