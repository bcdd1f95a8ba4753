"""Chat templates of strangers: rendered in a process of their own, which time and memory bound.

A template that comes with the program is known by its hash and rendered here.
"""

import hashlib
from collections.abc import Mapping, Sequence

from engine.untrusted import limited_process
from engine.untrusted.limited_child import Asked, Conversation, rendered

_OURS = frozenset({"3d445115a12b9d70227f4ec85c94ac0deb42a7cd639e89ee8df26d59653bae2a"})
"""sha256 of the templates of bundled models."""

_CPU_S, _MEMORY_BYTES = 1, 1 << 28


def render(
    template: str, conversations: Sequence[Conversation], variables: Mapping[str, object]
) -> str:
    """Render the first of several conversations that a template does not refuse.

    Args:
        template: in Jinja.
        conversations: the one that is preferred first.
        variables: what the template can ask for beside the messages, the tokenizer's markers.

    Raises:
        LimitedError: it refuses all, is none, or needs too much time or memory.
    """
    asked = Asked(
        cpu_s=_CPU_S,
        memory_bytes=_MEMORY_BYTES,
        template=template,
        conversations=list(conversations),
        variables=dict(variables),
    )
    if hashlib.sha256(template.encode(errors="replace")).hexdigest() in _OURS:
        return limited_process.text_of(rendered(template, conversations, variables), asked)
    return limited_process.ask(asked)
