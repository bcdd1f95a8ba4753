"""What is done with a stranger's template or tokenizer, in a process of its own with limits.

Both are programs: a template can loop without end inside its sandbox, a tokenizer can double a text
forty times or bring its library down. Nothing of ours is imported here, and a library only where it
is needed. ``engine.untrusted.limited_process`` starts this file and waits for it.
"""

import contextlib
import json
import math
import mmap
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, cast

_LONGEST = 1 << 20  # characters of all headers together
_MOST_IDS = 1000  # of one word
_MOST_GROWTH = 10_000
_SHOWN = 200

Conversation = list[dict[str, str]]
"""Messages, each with ``role`` and ``content``."""


class Asked(TypedDict, total=False):
    """What is to be done: a template with conversations and variables, or a tokenizer with words.

    ``cpu_s`` and ``memory_bytes`` bound what it may take, beside what the libraries took;
    ``version`` tells a file from another that was there before.
    """

    cpu_s: int
    memory_bytes: int
    template: str
    conversations: list[Conversation]
    variables: dict[str, object]
    tokenizer: str
    version: int
    words: list[str]


def rendered(
    template: str, conversations: Sequence[Conversation], variables: Mapping[str, object]
) -> dict[str, str]:
    """Render the first conversation that a template does not refuse.

    Returns:
        ``text``; or ``failure``, the kind of error, and its ``words``.
    """
    from jinja2 import TemplateError  # noqa: PLC0415  as the module says
    from transformers.utils.chat_template_utils import render_jinja_template  # noqa: PLC0415

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


def tried(path: str, words: Sequence[str]) -> dict[str, str]:
    """Load a tokenizer, read words by it, and write them again.

    Returns:
        nothing where all went well; else ``failure``, the kind of error, and its ``words``.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415  as the module says

    try:
        growth = _growth(Path(path))
        if growth > _MOST_GROWTH:
            return {"failure": "Length", "words": f"it makes a text {growth:.0f} times as long"}
        tokenizer = Tokenizer.from_file(path)
        for word in words:
            ids = tokenizer.encode(" " + word, add_special_tokens=False).ids
            if len(ids) > _MOST_IDS:
                return {"failure": "Length", "words": f"it makes {len(ids)} tokens of one word"}
            for id_ in ids:
                tokenizer.decode([id_])
    except BaseException as error:  # noqa: BLE001  panics of the library are no ``Exception``
        return _failure(error)
    return {}


def _growth(path: Path) -> float:
    """Tell how many times as long a text can become by what a tokenizer replaces in it.

    Of text that no word here has, too: a hostile one could wait for it.
    """
    content = json.loads(path.read_bytes())
    growth, waiting = 1.0, [content.get("normalizer"), content.get("decoder")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            new = str(value.get("content") or value.get("prepend") or "")
            old = value.get("pattern")
            n_old = len(str(old.get("String") or "")) if isinstance(old, dict) else 0
            growth *= max(1.0, (len(new) + (not n_old)) / max(1, n_old))
            waiting += value.values()
    return growth


def _failure(error: BaseException) -> dict[str, str]:
    first = str(error).strip().splitlines()[:1]
    return {"failure": type(error).__name__, "words": "".join(first)[:_SHOWN]}


def _limit(cpu_s: int, memory_bytes: int) -> None:
    """Bound what this process may take from now on; what was needed to get here is not counted."""
    try:
        import resource  # noqa: PLC0415  not on Windows: there the one who waits ends this process
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    for kind, soft in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, math.ceil(usage.ru_utime + usage.ru_stime) + cpu_s),
        (resource.RLIMIT_AS, _address_space(memory_bytes) + memory_bytes),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower limit is there, or none can be set
            resource.setrlimit(kind, (soft, soft + 1))


def _address_space(unknown: int) -> int:
    """Tell how much is reserved already: bytes, on Linux; nobody else keeps the limit anyway."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return unknown
    return pages * mmap.PAGESIZE


def main() -> None:
    """Read what is asked, write what became of it, both as JSON."""
    asked = cast("Asked", json.loads(sys.stdin.buffer.read()))
    if "template" in asked:
        import transformers.utils.chat_template_utils  # noqa: F401, PLC0415  before the limit
    _limit(asked["cpu_s"], asked["memory_bytes"])
    if "template" in asked:
        answer = rendered(asked["template"], asked["conversations"], asked["variables"])
    else:
        answer = tried(asked["tokenizer"], asked["words"])
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
