"""What a process that is fuzzed may do: write in named folders, for so long, in so much memory.

Everything is held by the process itself: an audit hook sees what Python opens, starts and connects
to, timers of the kernel end it, even within a library, and a limit of the kernel refuses memory.
"""

import contextlib
import faulthandler
import mmap
import os
import resource
import signal
import sys
import traceback
from pathlib import Path

from engine.runtime.causal_model import peak_memory_bytes
from engine.runtime.ctranslate2 import conversion_child
from engine.untrusted import limited_child

CPU_S, WALL_S = 5, 120
"""Of one case: of its own processor, and of everything, on a machine that is busy."""

MEMORY_BYTES = 1_500_000_000

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_HELPERS = [[sys.executable, "-P", one.__file__] for one in (limited_child, conversion_child)]
"""A process of the program's own, in which files of strangers are tried."""


class Guard:
    """See what the cases of one area do.

    Attributes:
        problems: what was done that must not be, since the last case began.
    """

    def __init__(self) -> None:
        self.problems = []
        self._allowed = ()
        self._folder = ""
        self._is_on = False
        self._checks = {
            "open": self._open,
            "os.mkdir": lambda path, _mode, at: self._name(path, at),
            "os.rmdir": self._name,
            "os.remove": self._name,
            "os.chmod": lambda path, _mode, _at: self._content(path),
            "os.truncate": lambda path, _length: self._content(path),
            "os.symlink": lambda _source, path, at: self._name(path, at),
            "os.link": lambda _source, path, _at, at: self._name(path, at),
            "os.rename": self._rename,
            "subprocess.Popen": self._process,
            "os.system": lambda command: f"ran {command!r}",
            "os.exec": lambda path, *_rest: f"ran {path!r}",
            "os.posix_spawn": lambda path, *_rest: f"ran {path!r}",
            "socket.connect": self._connect,
            "builtins.input": lambda *_prompt: "asked standard input",
            "pickle.find_class": lambda module, name: f"unpickled {module}.{name}",
            "exec": self._exec,
        }
        sys.addaudithook(self._hear)
        for number in (signal.SIGPROF, signal.SIGALRM):
            faulthandler.register(number, chain=True)  # tells where, then lets it end the process

    @contextlib.contextmanager
    def watching(self, folder):
        """Run one case, whose files lie in a folder.

        Yields:
            a function that begins to look, and takes the folders in which may be written from then.
        """
        self.problems.clear()
        self._folder = os.path.realpath(folder)

        def allow(*folders):
            self._allowed = tuple(os.path.realpath(path) for path in folders)
            self._is_on = True

        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        signal.setitimer(signal.ITIMER_REAL, WALL_S)
        try:
            yield allow
        finally:
            self._is_on = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _hear(self, event, arguments):
        if not self._is_on or event not in self._checks:
            return
        self._is_on = False  # what is done to find out is no part of the case
        try:
            problem = self._checks[event](*arguments)
        finally:
            self._is_on = True
        if problem:
            where = "".join(traceback.format_stack(limit=8)[:-2])
            self.problems.append(f"{event}: {problem}\n{where}")

    def _open(self, path, _mode, flags):
        return self._content(path) if isinstance(flags, int) and flags & _WRITES else None

    def _rename(self, source, target, source_at, target_at):
        return self._name(source, source_at) or self._name(target, target_at)

    def _name(self, path, at=-1):
        """Say which name in a folder is changed, unless it may be."""
        home = f"/proc/self/fd/{at}" if isinstance(at, int) and at >= 0 else "."
        name = Path(home, os.fsdecode(path))
        return self._place(Path(os.path.realpath(name.parent), name.name))

    def _content(self, path):
        """Say which file is changed, unless it may be: a link leads to another one."""
        if isinstance(path, int) or os.fspath(path) in ("/dev/null", b"/dev/null"):
            return None
        return self._name(path) or self._place(Path(os.path.realpath(os.fsdecode(path))))

    def _place(self, place):
        is_allowed = any(place.is_relative_to(one) for one in self._allowed)
        return None if is_allowed else f"changed {place}"

    def _process(self, _program, arguments, _folder, _environment):
        return None if arguments[:3] in _HELPERS else f"started {arguments!r}"

    def _connect(self, _socket, address):
        return None if address[0] == "127.0.0.1" else f"connected to {address!r}"

    def _exec(self, code):
        name = os.path.realpath(code.co_filename)
        return f"ran {name!r}" if name.startswith(self._folder + os.sep) else None


def limit_memory():
    """Refuse what would make the process larger than it is by more than all that it may have."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * mmap.PAGESIZE + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def peak_memory():
    """Most bytes that were in memory at once, of this process or of one that it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return max(children, peak_memory_bytes())
