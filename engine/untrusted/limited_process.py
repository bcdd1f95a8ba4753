"""Work on what strangers wrote, in a process of its own, which time and memory bound."""

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
_SLIPS = ("AttributeError", "IndexError", "KeyError", "TypeError")  # a library's
_WAIT_S = 30.0  # beside the limit: on a busy computer, and where there are no limits


class LimitedError(ValueError):
    """Why it cannot be used, as a clause about it."""


def ask(asked: Asked) -> str:
    """Have something done, and give the text that came of it.

    The same question is asked once: a model asks for its headers again and again.

    Raises:
        LimitedError: it failed, or needs too much time or memory.
    """
    answer = _answer(json.dumps(asked, default=str))
    return text_of(answer, asked)


def text_of(answer: Mapping[str, str], asked: Asked) -> str:
    """Take the text of an answer.

    Raises:
        LimitedError: it tells of a failure.
    """
    if "failure" not in answer:
        return answer.get("text", "")
    kind, words = answer["failure"], answer["words"]
    if kind == "Time":
        words = f"it computes for more than {asked['cpu_s']} s"
    elif kind == MemoryError.__name__:
        words = f"it needs more than {asked['memory_bytes'] >> 20} MB"
    elif kind in _SLIPS:
        words = f"the library that reads it fails with {kind}"
    elif kind not in _OUR_WORDS:
        words = f"{kind}: {words}" if words else kind
    raise LimitedError(shown(words).strip("'\""))


@functools.lru_cache(maxsize=64)
def _answer(asked: str) -> Mapping[str, str]:
    """Ask the other process; its end without an answer is a failure, too.

    Raises:
        LimitedError: it could not be asked.
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
