"""Files as strangers might send them: bytes and JSON changed at random, from a seed."""

import json

import pytest


def refused(kind, act, *arguments, **options):
    """The one short sentence, or its clause, with which a call is refused."""
    with pytest.raises(kind) as caught:
        act(*arguments, **options)
    said = str(caught.value)
    assert said.isprintable()
    assert 0 < len(said) < 500
    return said


def damaged(content, rng):
    """Bytes that were changed, cut, doubled or torn out here and there."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(changed) + 1)
        end = min(len(changed), start + rng.choice([1, 1, 1, 2, 8, 100]))
        match rng.randrange(5):
            case 0:
                changed[start:end] = rng.randbytes(end - start)
            case 1:
                changed[start:end] = rng.choice([b"", b"}", b'"', b"[", b"\xff", b"9" * 5000])
            case 2:
                changed[start:start] = changed[start:end]
            case 3:
                del changed[start:end]
            case 4:
                del changed[start:]
        if not changed:
            break
    return bytes(changed)


def _other_value(value, rng):
    """Another JSON value in the place of one."""
    strange = [None, True, -1, 0, 2**70, 1.5, "", "../x", "\x1b[2J", "\0", [], {}, [[]], {"a": {}},
               [None] * 50, "x" * 5000, value, [value], {"x": value}]  # fmt: skip
    return rng.choice(strange)


def mutated(value, rng):
    """A JSON value with one of its parts changed."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(sorted(value))
        if rng.random() < 0.15:
            return {name: part for name, part in value.items() if name != key}
        return value | {key: mutated(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        return [*value[:place], mutated(value[place], rng), *value[place + 1 :]]
    return _other_value(value, rng)


def mutated_file(content, rng):
    """The same for a file of JSON, or for the header of a safetensors file."""
    if content.startswith(b"{"):
        return json.dumps(mutated(json.loads(content), rng)).encode()
    n_header = int.from_bytes(content[:8], "little")
    header = json.dumps(mutated(json.loads(content[8 : 8 + n_header]), rng)).encode()
    return len(header).to_bytes(8, "little") + header + content[8 + n_header :]
