"""Make pictures of windows small: their 256 most frequent colours, the others by the nearest.

.venv/bin/python tests/app/small_picture.py FILE.png...
"""

import sys

import numpy as np
from PySide6.QtGui import QImage

N_COLOURS = 256


def small(picture):
    """Give a picture of 256 colours; of those it has, none that is frequent is changed."""
    picture = picture.convertToFormat(QImage.Format.Format_RGB32)
    height, width = picture.height(), picture.width()
    pixels = np.frombuffer(picture.constBits(), dtype=np.uint32).reshape(height, width)
    colours, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    kept = np.sort(colours[np.argsort(counts)[::-1][:N_COLOURS]])
    indices = nearest(colours, kept)[places].astype(np.uint8).reshape(height, width)
    stride = (width + 3) // 4 * 4
    rows = np.zeros((height, stride), dtype=np.uint8)
    rows[:, :width] = indices
    found = QImage(rows.tobytes(), width, height, stride, QImage.Format.Format_Indexed8)
    found.setColorTable([int(colour) for colour in kept])
    return found.copy()  # with bytes of its own


def nearest(colours, kept):
    """For each colour, the number of the kept one that is most like it."""
    red_green_blue = np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], -1).astype(int)
    own = np.stack([(kept >> shift) & 255 for shift in (16, 8, 0)], -1).astype(int)
    found = np.empty(len(colours), dtype=int)
    for start in range(0, len(colours), 1000):
        part = red_green_blue[start : start + 1000]
        found[start : start + 1000] = ((part[:, None] - own[None]) ** 2).sum(-1).argmin(1)
    return found


def main():
    for name in sys.argv[1:]:
        picture = QImage(name)
        if picture.isNull() or not small(picture).save(name, "PNG", 0):  # 0: as small as it gets
            sys.stderr.write(f"{name} is no picture that can be made smaller\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
