import json
import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.models.adapters.adapter import (
    FORMAT_VERSION,
    AdapterCard,
    AdapterScore,
    Corpus,
    parse_adapter_card,
    read_adapter_card,
)
from engine.models.fingerprint import Fingerprint
from engine.models.model_card import Calibration, Language
from engine.untrusted.faults import Fault
from engine.untrusted.strict_json import JsonObject
from tests.support.strangers import refused

CALIBRATION = Calibration(slope=2.5, offset=-1.0, threshold=0.5)
CARD = AdapterCard(
    name="tiny-en-de",
    base_name="tiny é 漢",
    base=Fingerprint(
        architecture="llama", layers=2, hidden_size=64, heads=4, kv_heads=2, head_size=16,
        feed_forward=64, vocabulary=384, tokenizer_sha256="0f" * 32,
    ),
    languages={
        "de": Language(name="German", system="<|de|>"),
        "pt-BR": Language(name="Portuguese", system="Translate to Portuguese."),
    },
    end_of_source="<|end_of_source|>",
    end_of_write="<|end_of_write|>",
    end_of_target="<|end|>",
    slot_length=16,
    slot_lengths=(8, 16, 32),
    policies=("read:3", "wait:5", "offline"),
    weights_sha256="ab" * 32,
    description="A small one.",
    licence="CC-BY-SA-4.0",
    created_with="surtitle 0.1.0",
    created_at="2026-11-21",
    data=(Corpus(name="Tatoeba", licence="CC BY 2.0 FR", pairs=158_237, url="https://tatoeba.org"),
          Corpus(name="ours", licence="CC0")),
    commands=("surtitle-train finetune --seed 1",),
    seeds=(1, 2),
    scores=(AdapterScore(test_set="dev", lines=1000, language="de", policy="read:3", bleu=23.4,
                         laal=2.59, signature="nrefs:1"),
            AdapterScore(test_set="dev", lines=1000, language="de", policy="wait:1", bleu=0.0,
                         laal=None)),
    calibration=CALIBRATION,
)  # fmt: skip
PAGE = Path(__file__).parents[4] / "docs" / "adapter-format.md"
REQUIRED = {
    "format_version", "kind", "name", "base", "languages", "end_of_source", "end_of_write",
    "end_of_target", "slot_length", "policies", "prompt_template", "source_language",
    "weights_sha256",
}  # fmt: skip


def content(card=CARD):
    return json.loads(card.text())


def parsed(values):
    return parse_adapter_card(JsonObject.parse(json.dumps(values).encode()))


refusal = partial(refused, ValueError, parsed)


def random_card(rng):
    """A card with some fields changed and some left at their defaults."""
    changes = {
        "name": "".join(rng.choice("abcXYZ019") for _ in range(rng.randint(1, 64))),
        "slot_length": rng.randint(1, 1024),
        "policies": tuple(f"{rng.choice(['read', 'wait'])}:{rng.randint(1, 99)}" for _ in "abc"),
        "description": "".join(chr(rng.randrange(1, 0xD800)) for _ in range(30)),
        "seeds": tuple(rng.randrange(2**63) for _ in range(rng.randrange(4))),
        "scores": CARD.scores[: rng.randrange(3)],
        "data": CARD.data[: rng.randrange(3)],
        "others": {"future": [1, {"a": None}]} if rng.random() < 0.5 else {},
        "licence": "",
        "calibration": rng.choice([None, CALIBRATION]),
    }
    chosen = {name: value for name, value in changes.items() if rng.random() < 0.5}
    return replace(CARD, **chosen)


def test_what_is_written_is_read_again(tmp_path):
    rng = random.Random(0)
    for card in [CARD] + [random_card(rng) for _ in range(100)]:
        (tmp_path / "surtitle.json").write_text(card.text(), encoding="utf-8")
        assert read_adapter_card(tmp_path) == card


def lengthened(values, key, n):
    """The same JSON with every text under this key so many characters long."""
    if isinstance(values, dict):
        return {
            name: "x" * n if name == key and isinstance(value, str) else lengthened(value, key, n)
            for name, value in values.items()
        }
    return [lengthened(value, key, n) for value in values] if isinstance(values, list) else values


@pytest.mark.parametrize(
    ("key", "most"),
    [("system", 10_000), ("description", 10_000), ("licence", 1000), ("end_of_write", 1000),
     ("url", 1000), ("test_set", 1000), ("signature", 1000), ("created_with", 1000)],
)  # fmt: skip
def test_texts_that_are_told_or_used_have_limits(key, most):
    parsed(lengthened(content(), key, most))
    assert f"text of at most {most} characters" in refusal(lengthened(content(), key, most + 1))


def test_what_provenance_a_card_leaves_out_is_empty():
    bare = parsed({key: value for key, value in content().items() if key in REQUIRED})
    assert bare == AdapterCard(
        name=CARD.name,
        base_name=CARD.base_name,
        base=CARD.base,
        languages=CARD.languages,
        end_of_source=CARD.end_of_source,
        end_of_write=CARD.end_of_write,
        end_of_target=CARD.end_of_target,
        slot_length=CARD.slot_length,
        slot_lengths=(CARD.slot_length,),
        policies=CARD.policies,
        weights_sha256=CARD.weights_sha256,
    )


@pytest.mark.parametrize("key", sorted(REQUIRED - {"kind"}))
def test_every_field_that_captions_need_must_be_there(key):
    values = content()
    del values[key]
    assert f"lacks '{key}'" in refusal(values)


def test_a_newer_format_is_refused_before_anything_else():
    told = refusal({"format_version": FORMAT_VERSION + 1, "kind": 3})
    assert told == str(
        Fault.NEWER_FORMAT(detail="is of format version 2, and this program reads 1")
    )


def test_the_card_of_a_model_is_no_card_of_an_adapter():
    values = content()
    del values["kind"]
    assert "describes no adapter" in refusal(values)


def test_keys_of_a_later_program_are_kept_in_writing():
    card = parsed(content() | {"watermark": {"a": [1, 2]}})
    assert content(card)["watermark"] == {"a": [1, 2]}
    assert replace(card, others={}) == CARD


@pytest.mark.parametrize("name", ["", "../x", "con", "x" * 65])  # more: test_safe_names.py
def test_a_name_that_is_a_path_is_refused(name):
    assert "has the name" in refusal(content() | {"name": name})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("base", {}),
        ("languages", {}),
        ("languages", {"../de": {"name": "German", "system": ""}}),
        ("source_language", "English"),
        ("end_of_source", ""),
        ("slot_length", 0),
        ("slot_length", 1025),
        ("slot_lengths", [0]),
        ("policies", []),
        ("policies", "read:3"),
        ("policies", ["read:0"]),
        ("policies", ["guess\x1b[2J"]),
        ("weights_sha256", "AB" * 32),
        ("data", [{"name": "x", "licence": "y", "pairs": -1}]),
        ("scores", [{"policy": "read:3", "bleu": 3}]),
        ("calibration", content()["calibration"] | {"slope": -1}),
        ("calibration", content()["calibration"] | {"threshold": 2}),
    ],
)
def test_a_garbled_field_is_refused(key, value):
    refusal(content() | {key: value})


def test_the_engine_learns_from_it_what_it_learns_from_a_models_card():
    model = CARD.model_card()
    assert model.name == "tiny é 漢 with tiny-en-de"
    for name in ("languages", "end_of_source", "end_of_write", "end_of_target", "slot_length",
                 "policies", "calibration"):  # fmt: skip
        assert getattr(model, name) == getattr(CARD, name)


def test_the_page_that_describes_the_format_names_every_field_and_shows_a_card():
    page = PAGE.read_text(encoding="utf-8")
    shown = JsonObject.parse(page.split("```json\n")[1].split("```")[0].encode())
    card = parse_adapter_card(shown)
    assert not card.others
    assert set(content(card)) == set(shown.values)
    for values in (content(), content()["base"], *content()["data"], *content()["scores"]):
        for key in values:
            assert f"`{key}`" in page
