"""The shape of a window: only there it is painted, and takes clicks."""

from PySide6.QtGui import QRegion
from PySide6.QtWidgets import QWidget


def set_shape(window: QWidget, shape: QRegion) -> None:
    """Set the shape of a window, in its own coordinates; one that it has already costs nothing."""
    if shape.isEmpty():
        shape = QRegion(0, 0, 1, 1)  # a corner without colour: an empty mask would hide nothing
    if shape == QRegion(window.rect()):
        if not window.mask().isEmpty():
            window.clearMask()
    elif shape != window.mask():
        window.setMask(shape)
