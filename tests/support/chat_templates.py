"""Chat templates, and tokenizers and cards to try them with."""

import copy

from tests.support.fakes import tiny_tokenizer, tiny_weights

CHATML = (
    "{% for message in messages %}<|begin|>{{ message.role }}\n{{ message.content }}<|end|>\n"
    "{% endfor %}"
)

GEMMA_LIKE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "<|user|>{{ message.role }}\n{{ message.content }}<|end_of_write|>\n{% endfor %}"
)

WITHOUT_SYSTEM = (
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "<|{{ message.role }}|>{{ message.content }}{% endfor %}"
)


def tokenizer_with(template):
    tokenizer = copy.deepcopy(tiny_tokenizer())
    tokenizer.chat_template = template
    return tokenizer


def card(**changes):
    fields = {
        name: getattr(tiny_weights().card, name) for name in type(tiny_weights().card).__slots__
    }
    return type(tiny_weights().card)(**(fields | changes))
