import json
import random
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


def named(lora, path, layer):
    """Targets that name a layer in a block: what ``places`` says of all layers at once."""
    parts = path.split(".")
    ends = (".".join(parts[start:]) for start in range(len(parts)))
    chosen = lora.layers is None or layer in lora.layers
    return [end for end in ends if end in lora.targets and (chosen or end == path)]


def test_the_places_are_those_that_asking_layer_by_layer_finds():
    rng = random.Random(0)
    parts, modules = ["q", "k", "attn"], ["q", "attn.q", "attn.k", "attn.attn.q", "k.q"]
    for _ in range(1500):
        stem, n_layers = rng.choice(["h", "model.layers", "a.b.c"]), rng.randint(1, 4)
        known = rng.sample(modules, rng.randint(1, len(modules)))
        targets = set()
        for _ in range(rng.randint(1, 4)):
            begin = rng.choice([*(stem.split(".")[n:] for n in range(3)), [], ["x"], ["0"]])
            layer = rng.choice([[], ["0"], ["1"], ["3"], ["00"], ["7"], ["1", "1"]])
            end = rng.choices(parts, k=rng.randint(1, 3))
            targets.add(".".join([*begin, *layer, *end] if rng.random() < 0.6 else end))
        some = frozenset(rng.sample(range(6), 2)) if rng.random() < 0.4 else None
        lora = Lora(rank=1, alpha=1.0, targets=frozenset(targets), layers=some)
        found = {
            (layer, module): named(lora, f"{stem}.{layer}.{module}", layer)
            for layer in range(n_layers)
            for module in sorted(known)
        }
        places = lora.targeted_layers(stem, known, n_layers)
        assert list(places) == [place for place, names in found.items() if names]
        assert set(places.idle) == targets.difference(*found.values())


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
        ({"layers_to_transform": [-1]}, "whole numbers"),
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
