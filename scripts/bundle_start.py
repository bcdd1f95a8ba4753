"""Where the program that scripts/bundle makes begins: it is its own Python.

Parts of Surtitle that may crash run in processes of their own, by ``sys.executable -P FILE`` or
``sys.executable -m MODULE``. In a bundle that names this program, which therefore does the same.
"""

import multiprocessing
import runpy
import sys

from app.start import main


def start() -> int:
    """Run a part of the program, or the program."""
    multiprocessing.freeze_support()
    match sys.argv[1:]:
        case ["-P", file, *_]:
            del sys.argv[:2]
            runpy.run_path(file, run_name="__main__")
        case ["-m", module, *_]:
            del sys.argv[:2]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case _:
            return main()
    return 0


if __name__ == "__main__":
    sys.exit(start())
