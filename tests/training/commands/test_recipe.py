from pathlib import Path

import pytest

from training.commands import train
from training.commands.recipe import make_settings, read_recipe, recipe_names
from training.errors import UsageError
from training.settings import LoraSettings, Optimisation, TrainSettings

PAPER = ("falcon-rw-1b", "gemma-2-2b-it", "llama-3.1-8b-instruct", "qwen2.5-7b-instruct")


def recipe(**changes):
    return {"out": "out", "data": {"de": "de.tsv"}} | changes


def test_there_are_the_recipes_of_the_paper_and_ours():
    assert {*PAPER, "surtitle", "bundled"} == set(recipe_names(train.ADAPTERS))


@pytest.mark.parametrize("name", [*PAPER, "surtitle"])
def test_every_recipe_can_be_read(name):
    settings = make_settings(read_recipe(name, train.ADAPTERS) | {"out": "out"}, TrainSettings)
    assert settings.method == "exposst"
    assert settings.mixture.fixed_reads + settings.mixture.waits < 1  # offline is kept in


@pytest.mark.parametrize("name", PAPER)
def test_the_recipes_of_the_paper_hold_its_numbers(name):
    settings = make_settings(read_recipe(name, train.ADAPTERS) | {"out": "out"}, TrainSettings)
    assert settings.lora == LoraSettings(rank=32, alpha=16)
    assert settings.optimisation == Optimisation(
        rate=2e-4, warm_up_steps=500, weight_decay=0.1, clip=1.0, batch_pairs=64, epochs=2
    )
    assert (settings.max_length, settings.precision) == (512, "bf16")
    assert settings.slot_lengths == (16,)
    assert {1, 3, 5, 7} == set(settings.mixture.k)
    assert {3, 5, 7, 9, 11, 13} == set(settings.mixture.n)


@pytest.mark.parametrize(
    ("name", "batch"),
    [
        ("bundled", 4096),
        ("bundled-anneal", 4096),
        ("bundled-20m", 8192),
        ("bundled-20m-anneal", 8192),
        ("new", 4096),
    ],
)
def test_a_recipe_of_a_new_base_says_how_it_is_made(name, batch):
    assert name in recipe_names(train.BASES)
    settings = make_settings(read_recipe(name, train.BASES) | {"out": "out"}, TrainSettings)
    assert settings.base == "new"
    assert settings.slot_lengths == (32 if "20m" in name else 16,)
    assert settings.optimisation.batch_tokens == batch
    assert settings.max_length == 246


def test_values_become_what_fields_hold():
    dev = {"sets": {"de": ["a.en", "a.de"]}, "max_laal": 3}
    settings = make_settings(
        recipe(slot_lengths=[8, 16], dev=dev, weights={"a.b": 2}), TrainSettings
    )
    assert settings.slot_lengths == (8, 16)
    assert settings.dev.sets == {"de": (Path("a.en"), Path("a.de"))}
    assert (settings.dev.max_laal, settings.weights) == (3.0, {"a.b": 2.0})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ranks": 3}, "ranks is no setting: the known ones there are data, base"),
        ({"lora": {"ranks": 3}}, "lora.ranks is no setting"),
        ({"lora": {"rank": "many"}}, "'lora.rank' should be a whole number, got 'many'"),
        ({"lora": {"rank": 2.5}}, "'lora.rank' should be a whole number"),
        ({"lora": {"rank": True}}, "'lora.rank' should be a whole number"),
        ({"lora": 3}, "'lora' should be a table"),
        ({"optimisation": {"rate": "fast"}}, "'optimisation.rate' should be a number"),
        ({"slot_lengths": 16}, "'slot_lengths' should be a list: a whole number"),
        ({"slot_lengths": ["a"]}, "'slot_lengths[0]' should be a whole number"),
        ({"slot_lengths": [0]}, "the slot length must be at least 1"),
        (
            {"base": "new", "optimisation": {"batch_tokens": 99}},
            "a new base needs a slot length: write slot_lengths",
        ),
        ({"data": ["de.tsv"]}, "'data' should be a table"),
        ({"data": {"de": 3}}, "'data.de' should be a path"),
        ({"dev": {"sets": {"de": ["a"]}}}, "'dev.sets.de' should be a list: a path"),
        ({"dev": {"policies": ["often"]}}, "a policy is written read:N"),
        ({"compiled": 1}, "'compiled' should be true or false"),
        ({"quantise": "int4"}, "int4 for a new base"),
        ({"mixture": {"waits": 2}}, "at most 1 together"),
        ({"max_length": 1}, "max_length must be at least 16"),
        ({"compiled": True}, "compiled is a setting of pretrain"),
        (
            {"base": "new", "optimisation": {"batch_tokens": 9}, "quantise": "nf4"},
            "nf4 is for adapters",
        ),
        ({"base": "new"}, "the tokens of a step must be at least 1"),
    ],
    ids=str,
)
def test_what_a_recipe_cannot_say_is_one_sentence(changes, words):
    with pytest.raises(UsageError, match=words.replace("[", r"\[")) as error:
        make_settings(recipe(**changes), TrainSettings)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "words"), [("a = = 3", "cannot be read as TOML"), (None, "there is no recipe")]
)
def test_a_file_that_is_no_recipe_is_one_sentence(tmp_path, content, words):
    path = tmp_path / "mine.toml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=words):
        read_recipe(str(path), train.ADAPTERS)
