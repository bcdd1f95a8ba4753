"""Templates of strangers: what they may cost, and that their text is what transformers would write.

Every other test renders its templates in its own process: see ``tests/conftest.py``.
"""

import hashlib
import os

import pytest

from engine.errors import ModelError
from engine.hub.catalogue import bundled_models
from engine.text.prompt import make_prompt
from engine.untrusted import limited_process
from engine.untrusted.limited_child import rendered
from engine.untrusted.limited_process import LimitedError, render
from tests.support.chat_templates import CHATML, WITHOUT_SYSTEM, card, tokenizer_with
from tests.support.strangers import refused
from training.trainer.tokenizer import CHAT_TEMPLATE

CHAT = [{"role": "user", "content": "Abc é 漢 \ue000"}, {"role": "assistant", "content": "Hag."}]

pytestmark = pytest.mark.strangers


def refusal(text):
    """The clause in which a template is refused, by a process of its own."""
    return refused(LimitedError, render, text, [CHAT], {})


def test_a_template_writes_there_what_transformers_writes_here():
    text = (
        "{{ bos_token }}  {% for m in messages %}\n  {% if loop.last %}{% break %}{% endif %}"
        "{% generation %}{{ m | tojson }}{% endgeneration %}{% endfor %}\n{{ tools is none }}"
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}"
        "{{ ns.n }} {{ documents }} {{ add_generation_prompt }}"
    )
    tokenizer = tokenizer_with(text)
    expected = tokenizer.apply_chat_template(CHAT, tokenize=False)
    assert "漢" in expected
    assert render(text, [CHAT], tokenizer.special_tokens_map) == expected


LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
DOUBLES = (
    "{% set x = namespace(t='a') %}{% for i in range(40) %}{% set x.t = x.t ~ x.t %}{% endfor %}"
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the limits are those of Unix")
@pytest.mark.parametrize(
    ("text", "reason"),
    [(LOOPS, "more than 1 s"), ("{{ 3 ** (10 ** 9) }}", "more than 1 s"), (DOUBLES, "256 MB"),
     ("{{ 'a' | center(2000000000) }}", "256 MB"), ("{{ 'a' * 9000000 }}", "writes 9000000 ")],
)  # fmt: skip
def test_a_template_that_wants_too_much_is_ended(text, reason):
    assert reason in refusal(text)


def test_brackets_without_end_are_a_clause():
    refusal("{{ " + "(" * 5000 + ")" * 5000 + " }}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{{ range(10**9) }}", "OverflowError"),
        ("{{ 'a' * 10**10 }}", "MemoryError"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"),
        ("{% break %}", "SyntaxError"),
        ("{{ 'a'.encode('nope') }}", "LookupError"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{% include '/etc/passwd' %}", "TypeError"),
        ("{{ raise_exception('no') }}", "TemplateError"),
    ],
)
def test_whatever_a_template_raises_is_told_in_short(text, kind, monkeypatch):
    if kind == "MemoryError":
        monkeypatch.setattr(
            "transformers.utils.chat_template_utils.render_jinja_template", _needing_memory
        )
    answer = rendered(text, [CHAT], {})
    assert answer["failure"] == kind
    assert len(answer["words"]) <= 200


def _needing_memory(*_, **__):
    raise MemoryError


def test_a_clause_is_short_and_cannot_steer_a_terminal(monkeypatch):
    for words in ("a" * 5000, "\x1b[2J\nx", ""):
        answer = {"failure": "ValueError", "words": words}
        monkeypatch.setattr(limited_process, "_answer", lambda _, answer=answer: answer)
        assert refusal("").isprintable()


def test_a_conversation_that_is_refused_gives_way_to_the_next():
    system = [{"role": "system", "content": "x"}]
    assert rendered(WITHOUT_SYSTEM, [system, CHAT], {})["text"].startswith("<|user|>Abc")
    assert rendered(WITHOUT_SYSTEM, [system], {})["words"] == "System role not supported"


def test_a_process_that_cannot_be_started_is_a_clause(monkeypatch):
    monkeypatch.setattr(limited_process.sys, "executable", "/nowhere/python")
    assert "no process" in refusal("{{ 1 }} of its own")


def test_the_headers_of_a_model_are_read_there(monkeypatch):
    asked = []
    answer = limited_process._answer
    monkeypatch.setattr(limited_process, "_answer", lambda text: asked.append(text) or answer(text))
    make_prompt(tokenizer_with(CHATML), card(), "de")
    assert len(asked) == 1
    monkeypatch.setattr(
        limited_process, "_answer", lambda _: {"failure": "Crash", "words": "too long"}
    )
    with pytest.raises(ModelError, match=r"template of tiny cannot be used \(too long\): choose"):
        make_prompt(tokenizer_with("{{ 1 }}"), card(), "de")


def test_the_templates_that_come_with_the_program_need_no_process(monkeypatch):
    monkeypatch.setattr(limited_process, "_answer", None)
    ours = [(folder / "chat_template.jinja").read_text() for folder in bundled_models()]
    for text in [CHAT_TEMPLATE, *ours]:
        assert hashlib.sha256(text.encode()).hexdigest() in limited_process._OURS
        assert "Hag." in render(text, [CHAT], {"bos_token": ""})
