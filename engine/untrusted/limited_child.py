"""Try an untrusted template, tokenizer or model of speech; a process of its own, with limits.

All are programs: a template can loop for ever inside its sandbox, a tokenizer can double a text
forty times or crash its library, and sherpa-onnx ends the process where a model does not suit it.
This file imports nothing of this package, and each library only where it is needed.
``engine.untrusted.limited_process`` starts it and waits for it.
"""

import base64
import contextlib
import functools
import json
import math
import mmap
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

if TYPE_CHECKING:
    from jinja2 import Template
    from sherpa_onnx import OnlineRecognizer

_LONGEST = 1 << 20  # characters of all headers together
_MOST_IDS = 1000  # of one word
_MOST_GROWTH = 100  # of a text; those in use reach 4
_MOST_REPLACED = 100  # bytes; the longest that Unicode puts for a character has 33
_RULES_OF_SIDES, _RULES = (3, 5), 2  # fields: normalizer_spec and denormalizer_spec; their rules
_SHOWN = 200
_SOUND_RATE_HZ = 16_000

_VARINT, _BYTES, _SIZES = 0, 2, {0: 0, 1: 8, 5: 4}  # kinds of fields in a protocol buffer
_NO_BUFFER = "it is no protocol buffer"

Conversation = list[dict[str, str]]
"""Messages, each with ``role`` and ``content``."""


class Asked(TypedDict, total=False):
    """A job: a template with conversations and variables, words with a tokenizer, or speech.

    ``pieces`` is the path of a sentencepiece file, ``tokenizer`` that of a tokenizer.json, and
    ``speech`` has those of ``streaming_recognizer``, of which ``n_tokens`` are known.

    ``cpu_s`` and ``memory_bytes`` are limits beyond the use of loading the libraries; ``version``
    distinguishes files of the same path.
    """

    cpu_s: int
    memory_bytes: int
    template: str
    conversations: list[Conversation]
    variables: dict[str, object]
    tokenizer: str
    pieces: str
    version: int
    words: list[str]
    speech: dict[str, str]
    n_tokens: int


def rendered(
    template: str,
    conversations: Sequence[Conversation],
    variables: Mapping[str, object],
    *,
    plain: bool = False,
) -> dict[str, str]:
    """Render the first conversation that a template (Jinja) accepts.

    ``plain``: render by Jinja alone, without what transformers adds to it.

    Returns:
        ``text``; or ``failure``, the kind of error, and its ``words``.
    """
    from jinja2 import TemplateError  # noqa: PLC0415  as the module says

    render = _by_jinja if plain else _by_transformers
    answer = {"failure": "TemplateError", "words": "it knows no conversation"}
    for conversation in conversations:
        try:
            text = render(template, conversation, variables)
        except TemplateError as error:
            answer = _failure(error)
            continue
        except Exception as error:  # noqa: BLE001  an untrusted program can raise anything
            return _failure(error)
        if len(text) > _LONGEST:
            return {"failure": "TemplateError", "words": f"it writes {len(text)} characters"}
        return {"text": text}
    return answer


def _by_transformers(
    template: str, conversation: Conversation, variables: Mapping[str, object]
) -> str:
    from transformers.utils.chat_template_utils import render_jinja_template  # noqa: PLC0415

    written = render_jinja_template(
        [conversation],
        chat_template=template,
        **variables,  # type: ignore[arg-type]
    )
    return cast("tuple[list[str], object]", written)[0][0]  # its own type is wrong


def _by_jinja(template: str, conversation: Conversation, variables: Mapping[str, object]) -> str:
    return _compiled(template).render(messages=conversation, **variables)


@functools.lru_cache(maxsize=4)
def _compiled(template: str) -> "Template":
    """Compile a template once: every prompt of a translator renders the same one again."""
    from jinja2 import TemplateError  # noqa: PLC0415  as the module says
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

    def refuse(words: str) -> None:
        raise TemplateError(words)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = refuse
    return environment.from_string(template)


def tried(path: str, words: Sequence[str]) -> dict[str, str]:
    """Load a tokenizer, then encode and decode words.

    Returns:
        an empty dict on success; else ``failure``, the kind of error, and its ``words``.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415  as the module says

    try:
        growth = _growth(json.loads(Path(path).read_bytes()))
        if growth > _MOST_GROWTH:
            return {"failure": "Length", "words": f"it makes a text {growth:.0f} times as long"}
        tokenizer = Tokenizer.from_file(path)
        for word in words:
            ids = tokenizer.encode(" " + word, add_special_tokens=False).ids
            if len(ids) > _MOST_IDS:
                return {"failure": "Length", "words": f"it makes {len(ids)} tokens of one word"}
            for id_ in ids:
                tokenizer.decode([id_])
    except BaseException as error:  # noqa: BLE001  a panic of the library is no ``Exception``
        return _failure(error)
    return {}


def cut(path: str, words: Sequence[str]) -> dict[str, str]:
    """Load a sentencepiece file and cut words; return as ``tried`` does."""
    from sentencepiece import SentencePieceProcessor  # noqa: PLC0415  as the module says

    try:
        longest = _longest_replacement(Path(path).read_bytes())
        if longest > _MOST_REPLACED:
            return {"failure": "Length", "words": f"it makes a text of {longest} bytes of another"}
        processor = SentencePieceProcessor(model_file=path)
        for word in words:
            pieces = processor.encode(word, out_type=str)
            if len(pieces) > _MOST_IDS:
                return {"failure": "Length", "words": f"it makes {len(pieces)} pieces of one word"}
            processor.decode(pieces)
    except Exception as error:  # noqa: BLE001  a library in C++ that reads an untrusted file
        return _failure(error)
    return {}


def streaming_recognizer(files: Mapping[str, str]) -> "OnlineRecognizer":
    """Load a model that hears speech as it comes, by sherpa-onnx, in one thread.

    ``files`` are ``tokens``, and ``ctc`` or ``encoder``, ``decoder`` and ``joiner``; with
    ``vocabulary``, the tokens with their scores, the latter can prefer words, for which they search
    several ways at once.
    """
    from sherpa_onnx import OnlineRecognizer  # noqa: PLC0415  as the module says

    if "ctc" in files:
        return OnlineRecognizer.from_zipformer2_ctc(
            tokens=files["tokens"], model=files["ctc"], num_threads=1
        )
    network = {name: path for name, path in files.items() if name != "vocabulary"}
    if "vocabulary" not in files:
        return OnlineRecognizer.from_transducer(**network, num_threads=1)
    return OnlineRecognizer.from_transducer(
        **network,
        num_threads=1,
        decoding_method="modified_beam_search",
        modeling_unit="bpe",
        bpe_vocab=files["vocabulary"],
    )


def heard(files: Mapping[str, str], n_tokens: int) -> dict[str, str]:
    """Load a model of speech and let it hear three seconds of noise; return as ``tried`` does."""
    import numpy as np  # noqa: PLC0415  as the module says
    from onnxruntime import InferenceSession  # noqa: PLC0415

    try:
        last = InferenceSession(files.get("ctc") or files["joiner"])
        size = last.get_outputs()[0].shape[-1]
        if not isinstance(size, int) or size > n_tokens:
            return {"failure": "Length", "words": f"it tells {size} tokens of {n_tokens}"}
        recognizer = streaming_recognizer(files)
        stream = recognizer.create_stream()
        noise = np.random.default_rng(0).standard_normal(_SOUND_RATE_HZ).astype(np.float32)
        for loudness in (0.0, 0.01, 0.3):
            stream.accept_waveform(_SOUND_RATE_HZ, loudness * noise)
            while recognizer.is_ready(stream):
                recognizer.decode_stream(stream)
        n_told = len(recognizer.tokens(stream))
        if n_told > _MOST_IDS:
            return {"failure": "Length", "words": f"it tells {n_told} tokens of three seconds"}
    except Exception as error:  # noqa: BLE001  a library in C++ that reads an untrusted file
        return _failure(error)
    return {}


def _longest_replacement(content: bytes) -> int:
    """Return the bytes of the longest text that the rules of a sentencepiece file put for another.

    Rules are a search tree, its size before it, then the texts, each ended by a zero byte; a
    tokenizer.json may hold them, too.

    Source: https://github.com/google/sentencepiece, ``sentencepiece_model.proto`` and
    ``Normalizer::DecodePrecompiledCharsMap``.
    """
    longest = 0
    for side, first, behind, _ in fields(content, 0, len(content)):
        if side in _RULES_OF_SIDES and first is not None:
            for number, start, end, _ in fields(content, first, behind):
                if number == _RULES and start is not None:
                    longest = max(longest, _longest_text(content[start:end]))
    return longest


def _longest_text(rules: bytes) -> int:
    texts = rules[4 + int.from_bytes(rules[:4], "little") :].split(b"\0")
    return max(map(len, texts))


def fields(
    content: bytes | mmap.mmap, place: int, end: int
) -> Iterator[tuple[int, int | None, int, int]]:
    """Yield the fields of a protocol buffer: number, start (None of a number) and end, the number.

    Raises:
        ValueError: it is none.
    """
    while place < end:
        key, place = _varint(content, place, end)
        kind, value = key & 7, 0
        size = _SIZES.get(kind, -1)
        if kind == _VARINT:
            value, place = _varint(content, place, end)
        elif kind == _BYTES:
            size, place = _varint(content, place, end)
        if not key >> 3 or not 0 <= size <= end - place:
            raise ValueError(_NO_BUFFER)
        place += size
        yield key >> 3, place - size if kind == _BYTES else None, place, value


def _varint(content: bytes | mmap.mmap, place: int, end: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and the place behind it."""
    value = 0
    for n, byte in enumerate(content[place : min(place + 10, end)]):
        value |= (byte & 0x7F) << 7 * n
        if byte < 0x80:
            return value, place + n + 1
    raise ValueError(_NO_BUFFER)


def _growth(content: dict[str, object]) -> float:
    """Return the factor by which the replacements of a tokenizer can lengthen a text.

    This covers text that none of the words here has, which a hostile tokenizer could wait for.
    """
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
            rules = base64.b64decode(str(value.get("precompiled_charsmap") or ""))
            longest = _longest_text(rules)
            growth *= longest if longest > _MOST_REPLACED else 1
            waiting += value.values()
    return growth


def _failure(error: BaseException) -> dict[str, str]:
    first = str(error).strip().splitlines()[:1]
    return {"failure": type(error).__name__, "words": "".join(first)[:_SHOWN]}


def _limit(cpu_s: int, memory_bytes: int) -> None:
    """Limit the further use of this process; earlier use is not counted."""
    try:
        import resource  # noqa: PLC0415  not on Windows: there the parent ends this process
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    for kind, soft in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, math.ceil(usage.ru_utime + usage.ru_stime) + cpu_s),
        (resource.RLIMIT_AS, _address_space(memory_bytes) + memory_bytes),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower limit exists, or none can be set
            resource.setrlimit(kind, (soft, soft + 1))


def _address_space(unknown: int) -> int:
    """Return the bytes reserved so far, on Linux; other systems ignore the limit anyway."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return unknown
    return pages * mmap.PAGESIZE


def main() -> None:
    asked = cast("Asked", json.loads(sys.stdin.buffer.read()))
    if "template" in asked:
        import transformers.utils.chat_template_utils  # noqa: F401, PLC0415  before the limit
    _limit(asked["cpu_s"], asked["memory_bytes"])
    if "template" in asked:
        answer = rendered(asked["template"], asked["conversations"], asked["variables"])
    elif "pieces" in asked:
        answer = cut(asked["pieces"], asked["words"])
    elif "speech" in asked:
        answer = heard(asked["speech"], asked["n_tokens"])
    else:
        answer = tried(asked["tokenizer"], asked["words"])
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
