"""Render untrusted chat templates in a process with limits of time and memory.

Templates of bundled models are known by their hash, and rendered in this process by Jinja alone.
"""

import hashlib
from collections.abc import Mapping, Sequence

from engine.untrusted import limited_process
from engine.untrusted.limited_child import Asked, Conversation, rendered

_OURS = frozenset(
    {
        "3d445115a12b9d70227f4ec85c94ac0deb42a7cd639e89ee8df26d59653bae2a",  # of our own tokenizers
        "4e00998a48827eb83af774f221e68e6a20be5dc398b03eb3138058092cc9e838",  # of a cut Gemma
    }
)
"""sha256 of the templates of bundled models."""

_CPU_S, _MEMORY_BYTES = 1, 1 << 28


def is_ours(template: str) -> bool:
    """Return whether a template is that of a bundled model."""
    return hashlib.sha256(template.encode(errors="replace")).hexdigest() in _OURS


def render(
    template: str, conversations: Sequence[Conversation], variables: Mapping[str, object]
) -> str:
    """Render the first conversation that a Jinja template accepts.

    Args:
        template: in Jinja.
        conversations: in order of preference.
        variables: of the template beside the messages: the tokenizer's markers.

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
        return limited_process.text_of(answer, asked)
    return limited_process.ask(asked)
