"""Render a chat template; as a process of its own, with limits of time and memory.

A template is a program of a stranger. The sandbox around it keeps it from files and from Python's
insides, but not from loops without end or texts of gigabytes. Nothing of ours is imported here.
"""

import contextlib
import json
import math
import mmap
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from jinja2 import TemplateError
from transformers.utils.chat_template_utils import render_jinja_template

CPU_S, MEMORY_BYTES = 1, 1 << 28
_LONGEST = 1 << 20  # characters of all headers together
_SHOWN = 200

Conversation = list[dict[str, str]]
"""Messages, each with ``role`` and ``content``."""


def rendered(
    template: str, conversations: Sequence[Conversation], variables: Mapping[str, object]
) -> dict[str, str]:
    """Render the first conversation that a template does not refuse.

    Returns:
        ``text``; or ``failure``, the kind of error, and its ``words``.
    """
    answer = {"failure": "TemplateError", "words": "it knows no conversation"}
    for conversation in conversations:
        try:
            written = render_jinja_template(
                [conversation],
                chat_template=template,
                **variables,  # type: ignore[arg-type]
            )
        except TemplateError as error:
            answer = _failure(error)
            continue
        except Exception as error:  # noqa: BLE001  a stranger's program can raise anything
            return _failure(error)
        text = cast("tuple[list[str], object]", written)[0][0]  # its own type is wrong
        if len(text) > _LONGEST:
            return {"failure": "TemplateError", "words": f"it writes {len(text)} characters"}
        return {"text": text}
    return answer


def _failure(error: Exception) -> dict[str, str]:
    first = str(error).strip().splitlines()[:1]
    return {"failure": type(error).__name__, "words": "".join(first)[:_SHOWN]}


def _limit() -> None:
    """Bound what this process may take from now on; what was needed to get here is not counted."""
    try:
        import resource  # noqa: PLC0415  not on Windows: there the one who waits ends this process
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = math.ceil(usage.ru_utime + usage.ru_stime) + CPU_S
    for kind, soft in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, _address_space() + MEMORY_BYTES),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower limit is there, or none can be set
            resource.setrlimit(kind, (soft, soft + 1))


def _address_space() -> int:
    """Tell how much is reserved already: bytes, on Linux; nobody else keeps the limit anyway."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return MEMORY_BYTES
    return pages * mmap.PAGESIZE


def main() -> None:
    """Read template, conversations and variables; write what became of them, all as JSON."""
    asked = json.loads(sys.stdin.buffer.read())
    _limit()
    answer = rendered(asked["template"], asked["conversations"], asked["variables"])
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
