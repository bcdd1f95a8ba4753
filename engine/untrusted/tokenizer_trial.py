"""Try untrusted tokenizers in a process that they may crash."""

from pathlib import Path

from engine.untrusted.faults import Fault, refuse
from engine.untrusted.limited_child import Asked
from engine.untrusted.limited_process import LimitedError, ask
from engine.untrusted.regular_file import file_sha256, open_plain

_OURS = frozenset(
    {
        "c61a9095d0778dec0ffef91419f0901c2b3a549ccbef1e443b45fa4527e8eed6",  # surtitle-en-de
        "2a0b6aa1a3bd305a827c17f016432b2bf755426a982e88b9d75fc15d00280c81",  # surtitle-en-fr
        "ede1a76db2f11cb25b6004f01daeecdb32d929c08d1c42d1452d53ac7b07fc04",  # surtitle-en-es
    }
)
"""sha256 of the tokenizers of bundled models, which need no trial."""

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
