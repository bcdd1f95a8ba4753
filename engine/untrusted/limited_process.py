"""Run untrusted templates and tokenizers in a process with limits of time and memory."""

import functools
import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from engine.untrusted import limited_child
from engine.untrusted.faults import Fault, refuse
from engine.untrusted.limited_child import Asked, Conversation, rendered
from engine.untrusted.plain_files import file_sha256, open_plain
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
    """Run the other process; its end without an answer is a failure, too."""
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


# Templates of bundled models are known by their hash, and rendered in this process by Jinja alone.

_OURS = frozenset(
    {
        "3d445115a12b9d70227f4ec85c94ac0deb42a7cd639e89ee8df26d59653bae2a",  # of our own tokenizers
        "4e00998a48827eb83af774f221e68e6a20be5dc398b03eb3138058092cc9e838",  # of a cut Gemma
        "c61a9095d0778dec0ffef91419f0901c2b3a549ccbef1e443b45fa4527e8eed6",  # surtitle-en-de
        "2a0b6aa1a3bd305a827c17f016432b2bf755426a982e88b9d75fc15d00280c81",  # surtitle-en-fr
        "ede1a76db2f11cb25b6004f01daeecdb32d929c08d1c42d1452d53ac7b07fc04",  # surtitle-en-es
    }
)
"""sha256 of the templates and tokenizers of bundled models, which need no trial."""

_CPU_S, _MEMORY_BYTES = 1, 1 << 28


def is_ours(template: str) -> bool:
    """Return whether a template is that of a bundled model."""
    return hashlib.sha256(template.encode(errors="replace")).hexdigest() in _OURS


def render(
    template: str, conversations: Sequence[Conversation], variables: Mapping[str, object]
) -> str:
    """Render the first conversation that a Jinja template accepts.

    ``variables`` of the template are the tokenizer's markers.

    Raises:
        LimitedError: it accepts none, is no template, or needs too much time or memory.
    """
    asked = Asked(
        cpu_s=_CPU_S,
        memory_bytes=_MEMORY_BYTES,
        template=template,
        conversations=list(conversations),
        variables=dict(variables),
    )
    if is_ours(template):
        answer = rendered(template, conversations, variables, plain=True)
        return text_of(answer, asked)
    return ask(asked)


# Try untrusted tokenizers in a process that they may crash.


TRIED_WORDS = (
    *("Hello,", "it's", "3.5", "né", "漢字", "\u0645\u0631", "🙂", "<|x|>", "\ue000", "\x07"),
    "abcdefghijklmnopqrstuvwxyz" * 4,
    "ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜß'\"«»„“-–—…",
)
"""Words that every tokenizer must encode, known or not, into a bounded number of tokens."""

_MOST_BYTES_OF_PIECES = 1 << 25
_TRY_S, _TRY_BYTES = 2, 1 << 28
_TRY_S_PER_BYTE, _TRY_BYTES_PER_BYTE = 1 / 1_000_000, 40  # of tokenizer.json, several times over


def try_tokenizer(path: Path) -> None:
    """Encode and decode words by a tokenizer.

    Raises:
        OSError: it cannot be read.
        ValueError: it cannot be used; the text is a clause about the model.
    """
    if file_sha256(path) in _OURS:
        return
    try:
        ask(Asked(tokenizer=str(path), **_limits(path)))
    except LimitedError as error:
        refuse(f"its tokenizer.json cannot be used ({error})")


def try_pieces(path: Path) -> None:
    """Cut words by a sentencepiece file.

    Raises:
        OSError: it cannot be read, or is no plain file.
        ValueError: it cannot be used; the text is a clause about the model.
    """
    with open_plain(path) as file:
        n_bytes = len(file.read(_MOST_BYTES_OF_PIECES + 1))
    if n_bytes > _MOST_BYTES_OF_PIECES:
        detail = f"its {path.name} is longer than {_MOST_BYTES_OF_PIECES} bytes"
        refuse(Fault.OVERSIZED(detail=detail))
    try:
        ask(Asked(pieces=str(path), **_limits(path)))
    except LimitedError as error:
        refuse(f"its {path.name} cannot be used ({error})")


def _limits(path: Path) -> Asked:
    n_bytes = path.stat().st_size
    return Asked(
        cpu_s=_TRY_S + int(n_bytes * _TRY_S_PER_BYTE),
        memory_bytes=_TRY_BYTES + _TRY_BYTES_PER_BYTE * n_bytes,
        words=list(TRIED_WORDS),
        version=path.stat().st_mtime_ns,
    )
