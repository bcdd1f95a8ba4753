"""Draw scores for a terminal."""

from collections.abc import Mapping, Sequence

Cell = str | int | float | None


def draw(columns: Sequence[str], rows: Sequence[Mapping[str, Cell]]) -> str:
    """Return a table, aligned to the right, with the names of columns above.

    Args:
        columns: names of the values shown; rows may have more.
        rows: a float is shown with two decimals, None as a dash.
    """
    cells = [list(columns), *([_shown(row[name]) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n"
        for line in cells
    )


def _shown(value: Cell) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
