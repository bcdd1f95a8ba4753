"""Plain values -> TOML text: the half that the standard library, which reads TOML, leaves out.

Deeper tables are written inline, comments of a file that was read are lost.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time


def toml_text(content: Mapping[str, object]) -> str:
    """Write a document: single values first, then a section for each table.

    Raises:
        ValueError: a value is of a kind that TOML does not know.
    """
    lines = [
        f"{_key(key)} = {_value(value)}"
        for key, value in content.items()
        if not isinstance(value, dict)
    ]
    for key, table in content.items():
        if isinstance(table, dict):
            lines += ["", f"[{_key(key)}]"]
            lines += [f"{_key(name)} = {_value(value)}" for name, value in table.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    is_bare = name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    return name if is_bare else _string(name)


def _string(text: str) -> str:
    # JSON escapes what TOML wants escaped, and delete besides.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case datetime() | date() | time():
            return value.isoformat()
        case dict():
            inner = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
            return f"{{{inner}}}"
        case Sequence():
            return f"[{', '.join(map(_value, value))}]"
    msg = f"TOML has no way to write {value!r}"
    raise ValueError(msg)
