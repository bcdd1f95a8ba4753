"""Tell how far a fetch has come no oftener than a bar can move: a piece is not an event."""

from collections.abc import Callable

_STEPS = 500


def in_steps(tell: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Make a progress that passes on only what moves a bar.

    Args:
        tell: gets the bytes that are there and those of the whole.

    Returns:
        a function that may be called after every piece.
    """
    told = -1

    def progress(done: int, total: int) -> None:
        nonlocal told
        step = _STEPS * done // max(total, 1)
        if step != told:
            told = step
            tell(done, total)

    return progress
