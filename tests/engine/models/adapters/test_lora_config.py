import json
from functools import partial

import pytest

from engine.models.adapters.lora import Lora, parse_lora
from engine.untrusted.strict_json import JsonObject
from tests.support.adapter_folders import CONFIG
from tests.support.strangers import refused


def parsed(**changes):
    return parse_lora(JsonObject.parse(json.dumps(CONFIG | changes).encode()))


refusal = partial(refused, ValueError, parsed)


def test_rank_alpha_and_targets_are_read():
    assert parsed() == Lora(rank=2, alpha=4.0, targets=frozenset({"q_proj", "v_proj"}))
    assert parsed(r=65_536).rank == 65_536


def test_layers_are_a_number_or_a_list_or_all():
    assert parsed(layers_to_transform=[3, 1, 3]).layers == {1, 3}
    assert parsed(layers_to_transform=0).layers == {0}
    assert parsed(layers_to_transform=None).layers is None
    assert parsed(layers_to_transform=[]).layers is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"peft_type": "IA3"}, "describes 'IA3', and only LORA"),
        ({"peft_type": None}, "'peft_type' should be text"),
        ({"r": 0}, "'r' should be a whole number"),
        ({"r": 65_537}, "'r' should be a whole number"),
        ({"lora_alpha": 0}, "more than 0"),
        ({"target_modules": []}, "names no target"),
        ({"target_modules": "all-linear"}, "by a pattern"),
        ({"target_modules": ["q_proj\x1b[2J"]}, "no name of a layer"),
        ({"target_modules": ["q_proj", ""]}, "no name of a layer"),
        ({"layers_to_transform": [-1]}, "whole number from 0"),
        ({"layers_to_transform": True}, "whole number"),
        ({"bias": "all"}, "sets 'bias' to 'all'"),
        ({"fan_in_fan_out": True}, "sets 'fan_in_fan_out'"),
        ({"init_lora_weights": "pissa"}, "sets 'init_lora_weights' to 'pissa'"),
        ({"task_type": "SEQ_CLS"}, "sets 'task_type'"),
        ({"use_rslora": "yes"}, "'use_rslora' should be true or false"),
        ({"use_dora": True}, "sets 'use_dora', which is not supported"),
        ({"modules_to_save": ["lm_head"]}, "sets 'modules_to_save'"),
        ({"alpha_pattern": {"(a+)+$": 8}}, "sets 'alpha_pattern'"),
        ({"megatron_config": {"a": 1}, "megatron_core": "os"}, "sets 'megatron_config'"),
        ({"exclude_modules": "(a+)+$"}, "sets 'exclude_modules'"),
        ({"something_of_next_year": 1}, "sets 'something_of_next_year'"),
    ],
)
def test_what_is_garbled_or_would_change_the_meaning_is_refused(changes, sentence):
    assert sentence in refusal(**changes)


def test_a_setting_of_next_year_that_is_off_does_no_harm():
    for value in (None, False, "", [], {}, 0):
        assert parsed(something_of_next_year=value) == parsed()


@pytest.mark.parametrize("key", ["peft_type", "r", "lora_alpha", "target_modules"])
def test_what_is_needed_must_be_there(key):
    values = {name: value for name, value in CONFIG.items() if name != key}
    with pytest.raises(ValueError, match=f"lacks '{key}'"):
        parse_lora(JsonObject(values))
