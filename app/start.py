"""Where the program begins: with next to nothing imported, so that Ctrl+C ends it at once."""

from app.surroundings import leaving_at_once


def main() -> int:
    """Import the program and run it.

    Returns:
        its exit code.
    """
    with leaving_at_once():
        from app.__main__ import main as program  # noqa: PLC0415  as the module says
    return program()
