"""Make pictures of windows small: of 256 colours, the frequent ones and those that stand apart.

.venv/bin/python tests/support/programs/small_picture.py FILE.png...
"""

import sys

import numpy as np
from PySide6.QtGui import QImage

N_COLOURS = 256
N_FREQUENT = 160


def small(picture):
    """Give a picture of 256 colours; those that are frequent do not change."""
    picture = picture.convertToFormat(QImage.Format.Format_RGB32)
    height, width = picture.height(), picture.width()
    pixels = np.frombuffer(picture.constBits(), dtype=np.uint32).reshape(height, width)
    colours, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    kept = np.sort(chosen(colours, counts))
    indices = nearest(colours, kept)[places].astype(np.uint8).reshape(height, width)
    stride = (width + 3) // 4 * 4
    rows = np.zeros((height, stride), dtype=np.uint8)
    rows[:, :width] = indices
    found = QImage(rows.tobytes(), width, height, stride, QImage.Format.Format_Indexed8)
    found.setColorTable([int(colour) for colour in kept])
    return found.copy()  # with bytes of its own


def chosen(colours, counts):
    """Choose the frequent colours, then one after the other what is least like those so far."""
    kept = list(colours[np.argsort(counts)[::-1][:N_FREQUENT]])
    places, own = parts(colours), parts(np.array(kept))
    apart = np.min([((places - one) ** 2).sum(-1) for one in own], axis=0)
    while len(kept) < N_COLOURS and apart.max() > 0:
        farthest = int(apart.argmax())
        kept.append(colours[farthest])
        apart = np.minimum(apart, ((places - places[farthest]) ** 2).sum(-1))
    return np.array(kept)


def parts(colours):
    """Take colours apart into red, green and blue."""
    return np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], -1).astype(int)


def nearest(colours, kept):
    """For each colour, the number of the kept one that is most like it."""
    red_green_blue, own = parts(colours), parts(kept)
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
