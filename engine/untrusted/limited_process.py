"""Run untrusted templates and tokenizers in a process with limits of time and memory."""

import functools
import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import cast

from engine.untrusted import limited_child
from engine.untrusted.limited_child import Asked
from engine.untrusted.strict_json import shown

_OUT_OF_TIME = (0, signal.SIGKILL, signal.SIGXCPU) if sys.platform != "win32" else (0,)
_OUR_WORDS = ("Time", "Crash", "Length", "TemplateError")
_LIBRARY_ERRORS = ("AttributeError", "IndexError", "KeyError", "TypeError")
_WAIT_S = 30.0  # wall clock, for a busy computer, and for systems without limits


class LimitedError(ValueError):
    """The reason why a template or tokenizer cannot be used, as a clause about it."""


def ask(asked: Asked) -> str:
    """Run a job and return the text it made; a repeated job is answered from a cache.

    Raises:
        LimitedError: it failed, or needs too much time or memory.
    """
    return text_of(_answer(json.dumps(asked, default=str)), asked)


def text_of(answer: Mapping[str, str], asked: Asked) -> str:
    """Return the text of an answer; raise LimitedError if it reports a failure."""
    if "failure" not in answer:
        return answer.get("text", "")
    kind, words = answer["failure"], answer["words"]
    if kind == "Time":
        words = f"it computes for more than {asked['cpu_s']} s"
    elif kind == MemoryError.__name__:
        words = f"it needs more than {asked['memory_bytes'] >> 20} MB"
    elif kind in _LIBRARY_ERRORS:
        words = f"the library that reads it fails with {kind}"
    elif kind not in _OUR_WORDS:
        words = f"{kind}: {words}" if words else kind
    raise LimitedError(shown(words).strip("'\""))


@functools.lru_cache(maxsize=64)
def _answer(asked: str) -> Mapping[str, str]:
    """Run the other process; its end without an answer is a failure, too.

    Raises:
        LimitedError: it could not be started.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", limited_child.__file__],
            input=asked.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_WAIT_S,
            check=True,
        )
        return cast("Mapping[str, str]", json.loads(done.stdout))
    except (OSError, ValueError) as error:
        msg = f"no process for it could be started ({type(error).__name__})"
        raise LimitedError(msg) from error
    except subprocess.TimeoutExpired:
        n_signal = 0
    except subprocess.CalledProcessError as error:
        n_signal = -error.returncode
    if n_signal in _OUT_OF_TIME:
        return {"failure": "Time", "words": ""}
    return {"failure": "Crash", "words": f"its process broke off with {n_signal}"}
