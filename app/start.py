"""Where the program begins: with next to nothing imported, so that Ctrl+C ends it at once."""

from app.config.process import leave_at_once, leaving_at_once


def main() -> int:
    """Import the program and run it."""
    with leaving_at_once():
        from app.__main__ import main as program  # noqa: PLC0415  as the module says
    exit_code = program()
    leave_at_once()  # Python's own end takes a while once torch is there
    return exit_code
