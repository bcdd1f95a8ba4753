"""Where the overlay is put: inside its screen, and off what is clicked and typed in."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect


def moved_inside(window: QRect, area: QRect) -> QRect:
    """Move a window just as far as needed to be inside an area."""
    left = min(max(window.left(), area.left()), area.right() + 1 - window.width())
    top = min(max(window.top(), area.top()), area.bottom() + 1 - window.height())
    return QRect(QPoint(left, top), window.size())


def clear_place(home: QRect, needed: Sequence[QRect], area: QRect) -> QRect | None:
    """Return the nearest place, moved up or down only, that covers nothing needed; None if none.

    Args:
        home: where it is put if it covers nothing there.
        needed: parts of the screen that must be seen.
    """
    height = home.height()
    tops = [home.top(), area.bottom() + 1 - height, area.top()]
    tops += [one.top() - height for one in needed] + [one.bottom() + 1 for one in needed]
    places = [QRect(QPoint(home.left(), top), home.size()) for top in tops]
    clear = [
        place
        for place in places
        if area.contains(place) and not any(place.intersects(one) for one in needed)
    ]
    return min(clear, key=lambda place: abs(place.top() - home.top()), default=None)


def best_place(home: QRect, needed: Sequence[QRect], area: QRect) -> QRect | None:
    """Return a clear place; where there is none, one that covers only the last things needed.

    Args:
        home: where it is put if it covers nothing there.
        needed: parts of the screen that must be seen, the most important first.
    """
    place = clear_place(home, needed, area)
    if place is None and len(needed) > 1:
        return best_place(home, needed[:-1], area)
    return place
