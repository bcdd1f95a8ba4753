"""Chat templates of strangers: rendered in a process of their own, which time and memory bound.

A template that comes with the program is known by its hash and rendered here.
"""

import functools
import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import cast

from engine import template_child
from engine.strict_json import shown
from engine.template_child import CPU_S, MEMORY_BYTES, Conversation

_OURS = frozenset({"3d445115a12b9d70227f4ec85c94ac0deb42a7cd639e89ee8df26d59653bae2a"})
"""sha256 of the templates of bundled models."""

_OUT_OF_TIME = (0, signal.SIGKILL, signal.SIGXCPU) if sys.platform != "win32" else (0,)
_IN_OUR_WORDS = ("Time", "Crash", "TemplateError")
_WAIT_S = 30.0  # on a busy computer; the limits end it sooner


class UnusableTemplateError(ValueError):
    """Why a template cannot be used, as a clause about it."""


def render(
    template: str, conversations: Sequence[Conversation], variables: Mapping[str, object]
) -> str:
    """Render the first of several conversations that a template does not refuse.

    Args:
        template: in Jinja.
        conversations: the one that is preferred first.
        variables: what the template can ask for beside the messages, the tokenizer's markers.

    Raises:
        UnusableTemplateError: it refuses all, is none, or needs too much time or memory.
    """
    if hashlib.sha256(template.encode(errors="replace")).hexdigest() in _OURS:
        answer: Mapping[str, str] = template_child.rendered(template, conversations, variables)
    else:
        asked = {"template": template, "conversations": conversations, "variables": variables}
        answer = _answer(json.dumps(asked, default=str))
    if "text" in answer:
        return answer["text"]
    kind, words = answer["failure"], answer["words"]
    if kind == MemoryError.__name__:
        words = f"it needs more than {MEMORY_BYTES >> 20} MB"
    elif kind not in _IN_OUR_WORDS:
        words = f"{kind}: {words}" if words else kind
    raise UnusableTemplateError(shown(words).strip("'\""))


@functools.lru_cache(maxsize=64)  # a model asks for the same headers again and again
def _answer(asked: str) -> Mapping[str, str]:
    """Ask the other process; its end without an answer is a failure, too.

    Raises:
        UnusableTemplateError: it could not be asked.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", template_child.__file__],
            input=asked.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_WAIT_S,
            check=True,
        )
        return cast("Mapping[str, str]", json.loads(done.stdout))
    except (OSError, ValueError) as error:
        msg = f"no process for it could be started ({type(error).__name__})"
        raise UnusableTemplateError(msg) from error
    except subprocess.TimeoutExpired:
        n_signal = 0
    except subprocess.CalledProcessError as error:
        n_signal = -error.returncode
    if n_signal in _OUT_OF_TIME:
        return {"failure": "Time", "words": f"it computes for more than {CPU_S} s"}
    return {"failure": "Crash", "words": f"its rendering broke off with {n_signal}"}
